"""`coilclaw approval`: deciding about calls that wait for a person."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any, Final

import click

from coilclaw.cli.approval import this_person
from coilclaw.cli.composition import Evidence, open_evidence, settings_for
from coilclaw.cli.disclosure import (
    approval_facts,
    arguments_of,
    in_order,
    pending_of,
    short_arguments,
    shown_risk,
)
from coilclaw.cli.paging import confirmed
from coilclaw.cli.resume import resume_run
from coilclaw.cli.run_report import workspace_option
from coilclaw.cli.showing_approval import approval_rows, full_facts, show_approval, workspace_of
from coilclaw.cli.terminal import counted, json_value, say, say_json, styled
from coilclaw.policy import Approval, Grant
from coilclaw.runs import standing
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name, one_line

__all__ = ["approval"]

_STATUSES: Final = ("pending", "granted", "denied", "expired", "consumed")
_LONGEST_WINDOW: Final = 15 * 60
_DEFAULT_USES: Final = 10
_MOST_USES: Final = 10_000
_UNITS: Final = {"s": 1, "m": 60}


@click.group()
def approval() -> None:
    """Decide about calls that wait for a person.

    \b
    Example:
      coilclaw approval list
      coilclaw approval show approval-1f0c9a77d2
      coilclaw approval approve approval-1f0c9a77d2 --resume
    """


@approval.command("list", epilog="Example: coilclaw approval list --json")
@click.option("--all", "everything", is_flag=True, help="Also what was decided, used or ran out of time.")
@click.option("--run", "run_id", metavar="RUN", help="Only the questions of this run.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_approvals(everything: bool, run_id: str | None, as_json: bool) -> None:
    """What waits for a decision, oldest first."""
    with open_evidence(settings_for()) as evidence:
        found = in_order(evidence.book.list(*_STATUSES, run_id=run_id)) if everything else pending_of(evidence, run_id)
        facts = [approval_facts(each, evidence.log) for each in found]
    if as_json:
        say_json(facts)
        return
    for each in facts:
        status = styled(f"{each['status']:<8}", fg="cyan" if each["status"] == "pending" else None)
        run = as_name(each["run_id"])
        say(as_name(each["id"]), "  ", status, f"  {as_name(each['tool'])}  {shown_risk(each['risk'])}  {run}")
        say(f"  {short_arguments(each['arguments'])}")
    if facts:
        say("To see one of them whole: coilclaw approval show ID", err=True, dim=True)
    if not facts:
        say("Nothing was ever asked." if everything else "Nothing waits for a decision.", err=True)


@approval.command("show", epilog="Example: coilclaw approval show approval-1f0c9a77d2")
@click.argument("approval_id", metavar="ID")
@click.option("--full", is_flag=True, help="The whole snippet, however long.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def show(approval_id: str, full: bool, as_json: bool) -> None:
    """Exactly what would run: tool, version, arguments in full, the snippet, and what the run has done so far.

    Characters that cannot be seen are written out as JSON writes them.
    """
    with open_evidence(settings_for()) as evidence:
        found = evidence.book.get(approval_id)
        facts, workspace = full_facts(evidence, found), workspace_of(evidence, found)
    if as_json:
        say_json(facts)
    else:
        show_approval(facts, full=full, workspace=workspace)


@approval.command(
    epilog="Example: coilclaw approval approve approval-1f0c9a77d2 --window 10m --uses 50 --where repo=a/b"
)
@click.argument("approval_id", metavar="ID")
@click.option("--resume", "resumes", is_flag=True, help="Go on with the run at once, here.")
@click.option("--window", metavar="TIME", help="Let calls of the same tool through for a while: 90s, 10m; at most 15m.")
@click.option("--uses", type=click.IntRange(1, _MOST_USES), metavar="N", help="How many calls the window lets through.")
@click.option("--where", multiple=True, metavar="NAME=VALUE", help="Only calls with this argument pass the window.")
@click.option("--workspace", metavar="DIR", help="The workspace, if the run began with another one than the usual.")
@click.option("--yes", is_flag=True, help="Do not ask again on a terminal. Holds for this call, not for later ones.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object: the approval, or with --resume the run.")
def approve(
    approval_id: str,
    resumes: bool,
    window: str | None,
    uses: int | None,
    where: tuple[str, ...],
    workspace: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Allow the call ID was asked about: once, with exactly these arguments.

    On a terminal the call is shown and asked about once more. With --window, other calls of the same tool need no
    approval either, for a short time and a number of uses; --where narrows them.
    """
    seconds = _window(window, uses, where)
    settings = settings_for(workspace)
    with open_evidence(settings) as evidence:
        asked = _open_question(evidence, approval_id)
        arguments = arguments_of(asked, evidence.log)
        narrowed = _constraints(where, arguments)
        if not yes and sys.stdin.isatty() and sys.stderr.isatty() and not _confirmed(evidence, asked, as_json):
            say(f"{asked.id} is still pending.", err=True)
            sys.exit(1)
        decided = evidence.book.decide(asked.id, granted=True, decided_by=this_person())
        grant = None
        if seconds is not None:
            count = uses or _DEFAULT_USES
            grant = evidence.book.grant(asked.tool, narrowed, uses=count, seconds=seconds, granted_by=this_person())
            _tell_window(grant, seconds)
        _tell(decided, "Approved")
        goes_on = resumes and _may_go_on(evidence, decided, grant)
        facts = approval_facts(decided, evidence.log)
    if goes_on:
        resume_run(settings, decided.run_id, workspace=workspace, as_json=as_json)
    _end(facts, resumes, as_json, workspace)


@approval.command(epilog="Example: coilclaw approval deny approval-1f0c9a77d2 --resume")
@click.argument("approval_id", metavar="ID")
@click.option("--resume", "resumes", is_flag=True, help="Go on with the run at once, here; the call is refused.")
@click.option("--workspace", metavar="DIR", help="The workspace, if the run began with another one than the usual.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object: the approval, or with --resume the run.")
def deny(approval_id: str, resumes: bool, workspace: str | None, as_json: bool) -> None:
    """Refuse the call ID was asked about. The snippet is told, and may go on without it."""
    settings = settings_for(workspace)
    with open_evidence(settings) as evidence:
        asked = _open_question(evidence, approval_id)
        decided = evidence.book.decide(asked.id, granted=False, decided_by=this_person())
        _tell(decided, "Denied")
        goes_on = resumes and _may_go_on(evidence, decided, None)
        facts = approval_facts(decided, evidence.log)
    if goes_on:
        resume_run(settings, decided.run_id, workspace=workspace, as_json=as_json)
    _end(facts, resumes, as_json, workspace)


def _open_question(evidence: Evidence, approval_id: str) -> Approval:
    """The question, if an answer to it could still matter."""
    asked = evidence.book.get(approval_id)
    status = standing(evidence.database, asked.run_id).status
    if asked.status == "pending" and status not in ("running", "suspended"):
        raise OperatorError(
            f"{asked.run_id}, which asked for {asked.id}, is over ({status})",
            hint="`coilclaw approval list` shows what waits for a decision",
        )
    return asked  # Whether it is still pending is told by the attempt to decide it, which only one wins.


def _confirmed(evidence: Evidence, asked: Approval, as_json: bool) -> bool:
    if asked.status != "pending":
        return True  # There is nothing to confirm: the decision itself will say why.
    rows = approval_rows(full_facts(evidence, asked), workspace_of(evidence, asked), full=False)
    return confirmed("Approve?", rows, err=as_json)


def _tell(decided: Approval, word: str) -> None:
    who = as_name(str(decided.decided_by))
    say(f"{word} {decided.id} as {who}: {as_name(decided.tool)}, {as_name(decided.run_id)}", err=True)


def _tell_window(grant: Grant, seconds: int) -> None:
    narrowed = f" with {one_line(json.dumps(dict(grant.arguments), ensure_ascii=False))}" if grant.arguments else ""
    calls = counted(grant.uses_left, "call")
    say(f"Window {grant.id}: up to {calls} of {as_name(grant.tool)}{narrowed} for {seconds} s", err=True)


def _may_go_on(evidence: Evidence, decided: Approval, grant: Grant | None) -> bool:
    """Whether the run can be resumed here and now; says why not."""
    known = standing(evidence.database, decided.run_id)
    if not known.is_waiting:
        say(f"{decided.run_id} goes on in the process that waits for it.", err=True)
        return False
    left = grant.uses_left if grant is not None else 0
    open_ones = []
    for each in pending_of(evidence, decided.run_id):
        arguments = arguments_of(each, evidence.log)
        if grant is not None and left > 0 and isinstance(arguments, dict) and grant.covers(each.tool, arguments):
            left -= 1
            continue
        open_ones.append(each)
    for each in open_ones:
        say(f"Still pending: {each.id}  {as_name(each.tool)}", err=True)
    return not open_ones


def _end(facts: Mapping[str, Any], resumes: bool, as_json: bool, workspace: str | None) -> None:
    if as_json:
        say_json(facts)
    if not resumes:
        say(f"To go on: coilclaw resume {facts['run_id']}{workspace_option(workspace)}", err=True)
        return
    with open_evidence(settings_for(workspace)) as evidence:
        waits = pending_of(evidence, facts["run_id"])
    sys.exit(3 if waits else 0)


def _window(window: str | None, uses: int | None, where: tuple[str, ...]) -> int | None:
    if window is None:
        if uses is not None or where:
            raise click.UsageError("--uses and --where belong to --window; without it an approval is for one call")
        return None
    number, unit = window[:-1], window[-1:]
    if unit not in _UNITS or not (number.isascii() and number.isdigit()) or len(number) > 4:
        raise click.BadParameter(f"{window[:50]!r} is not a time, e.g. 90s or 10m", param_hint="--window")
    seconds = int(number) * _UNITS[unit]
    if not 0 < seconds <= _LONGEST_WINDOW:
        raise click.BadParameter("a window is open for 15m at most, and at least 1s", param_hint="--window")
    return seconds


def _constraints(where: tuple[str, ...], arguments: Any) -> dict[str, Any]:
    """What the window asks of arguments. The call at hand must fit: a slip of the pen would let nothing through."""
    if where and not isinstance(arguments, dict):
        raise OperatorError("the arguments of this call are no longer kept, so --where cannot be checked")
    narrowed: dict[str, Any] = {}
    for each in where:
        name, equals, text = each.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{one_line(each[:200])!r} is not NAME=VALUE", param_hint="--where")
        if name in narrowed:
            raise click.BadParameter(f"{as_name(name)} is given twice", param_hint="--where")
        if name not in arguments:
            has = ", ".join(sorted(arguments)) or "none"
            raise click.BadParameter(
                f"the call has no argument {as_name(name)}; it has: {one_line(has)}", param_hint="--where"
            )
        actual = arguments[name]
        value = text if isinstance(actual, str) else _json(name, text)
        if type(value) is not type(actual) or value != actual:
            shown = short_arguments(actual)
            raise click.BadParameter(
                f"the call itself does not fit: its {as_name(name)} is {shown}", param_hint="--where"
            )
        narrowed[name] = value
    return narrowed


def _json(name: str, text: str) -> Any:
    try:
        return json_value(text)
    except ValueError as error:
        raise click.BadParameter(f"the value of {as_name(name)} is not JSON: {error}", param_hint="--where") from None
