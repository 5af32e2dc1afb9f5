"""`coilclaw approval`: listing, showing, approving and denying pending calls."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from coilclaw.cli.approver import somebody_is_here
from coilclaw.cli.opening import open_app, settings_for, this_person
from coilclaw.cli.paging import Row, confirmed, say_rows
from coilclaw.cli.pending_calls import approval_rows, sent_rows, short_arguments, shown_risk, shown_status
from coilclaw.cli.remote.connecting import open_place, refuse_with_server, server_option
from coilclaw.cli.terminal import say, say_json, styled
from coilclaw.cli.windows import DEFAULT_USES, MOST_USES, revoke, tell_window, window_arguments, window_seconds, windows
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name

if TYPE_CHECKING:
    from coilclaw.app import ApprovalRequest, CoilClaw, Window
    from coilclaw.cli.remote.remote_app import RemoteApp
    from coilclaw.config import Settings
    from coilclaw.runs import RunRecord

__all__ = ["approval"]

_SHOWN: Final = 100
_LONGEST_REASON: Final = 500


@click.group()
def approval() -> None:
    """List, show, approve and deny pending calls.

    \b
    Example:
      coilclaw approval list
      coilclaw approval show approval-1f0c9a77d2
      coilclaw approval approve approval-1f0c9a77d2 --resume
      coilclaw approval windows
    """


approval.add_command(windows)
approval.add_command(revoke)


@approval.command("list", epilog="Example: coilclaw approval list --json")
@click.option("--all", "everything", is_flag=True, help="Also what was decided, used or ran out of time.")
@click.option("--run", "run_id", metavar="RUN", help="Only the questions of this run.")
@click.option(
    "--limit", type=click.IntRange(1, 1_000_000), help=f"How many to show; {_SHOWN} unless told, or all as JSON."
)
@server_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_approvals(everything: bool, run_id: str | None, limit: int | None, server: str | None, as_json: bool) -> None:
    """List pending calls, oldest first."""
    with open_place(server, "read") as claw:
        found = claw.approvals.list(run_id=run_id) if everything else claw.approvals.pending(run_id)
    shown = found[: limit or (len(found) if as_json else _SHOWN)]
    if as_json:
        say_json([each.facts() for each in shown])
    for each in () if as_json else shown:
        status = styled(shown_status(each.status), fg="cyan" if each.status == "pending" else None)
        say(as_name(each.id), "  ", status, f"  {as_name(each.tool)}  {shown_risk(each.risk)}")
        say(f"  {as_name(each.run_id)}  {short_arguments(each.arguments)}")
    if len(found) > len(shown):
        rest = len(found) - len(shown)
        say(f"{rest} more, {len(found)} in all; --limit {len(found)} shows them, --run RUN those of a run.", err=True)
    elif shown and not as_json:
        say("To see one of them whole: coilclaw approval show ID", err=True, dim=True)
    elif not as_json:
        say("Nothing was ever asked." if everything else "Nothing waits for a decision.", err=True)


@approval.command("show", epilog="Example: coilclaw approval show approval-1f0c9a77d2")
@click.argument("approval_id", metavar="ID")
@click.option("--full", is_flag=True, help="The whole snippet, however long.")
@server_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def show(approval_id: str, full: bool, server: str | None, as_json: bool) -> None:
    """Show a pending call in full, and the snippet that made it.

    That is its tool and version, all arguments, and what the run has done so far. Characters that cannot be seen are
    written out as JSON writes them.
    """
    with open_place(server, "read") as claw:
        facts = claw.approvals.explain(approval_id)
        sent = _sent(claw, facts)
    if as_json:
        say_json(facts)
    else:
        say_rows(approval_rows(facts, sent, full=full))


@approval.command(
    epilog="Example: coilclaw approval approve approval-1f0c9a77d2 --window 10m --uses 50 --where repo=a/b"
)
@click.argument("approval_id", metavar="ID")
@click.option("--resume", "resumes", is_flag=True, help="Resume the run at once, here.")
@click.option("--window", metavar="TIME", help="Let calls of the same tool through for a while: 90s, 10m; at most 15m.")
@click.option("--uses", type=click.IntRange(1, MOST_USES), metavar="N", help="How many calls the window lets through.")
@click.option("--where", multiple=True, metavar="NAME=VALUE", help="Only calls with this argument pass the window.")
@click.option("--workspace", metavar="DIR", help="The workspace the run began in; need not be given.")
@server_option
@click.option("--yes", is_flag=True, help="Do not ask again on a terminal. Holds for this call, not for later ones.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object: the approval, or with --resume the run.")
def approve(
    approval_id: str,
    resumes: bool,
    window: str | None,
    uses: int | None,
    where: tuple[str, ...],
    workspace: str | None,
    server: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Approve the pending call ID: once, with exactly these arguments.

    On a terminal the call is shown and asked about once more. With --window, other calls of the same tool need no
    approval either, for a short time and a number of uses; --where narrows them. The window closes early when the tool
    is edited or the policy changes.
    """
    seconds = window_seconds(window, uses, where)
    refuse_with_server(server, workspace=workspace, window=window)
    if server is not None:
        _decide_there(server, [approval_id], None, resumes, as_json, approved=True, yes=yes)
    settings = settings_for(workspace)
    with open_app(settings) as claw:
        asked = claw.approvals.open_request(approval_id)
        narrowed = window_arguments(where, asked.arguments)
        if not yes and somebody_is_here() and not _confirmed(claw, asked, as_json):
            say(f"{asked.id} is still pending.", err=True)
            sys.exit(1)
        (decided,) = claw.approvals.decide(asked.id, approved=True, by=this_person())
        opened = None
        if seconds is not None:
            opened = claw.approvals.windows.open(
                asked.id, by=this_person(), seconds=seconds, uses=uses or DEFAULT_USES, where=narrowed
            )
            tell_window(opened, seconds)
        _tell(decided, "Approved")
        resumable = resumes and _is_resumable(claw, decided, opened)
    _end(settings, decided.facts(), decided.run_id, workspace, resumes, resumable, as_json)


@approval.command(epilog="Example: coilclaw approval deny approval-1f0c9a77d2 --reason 'not on a Friday' --resume")
@click.argument("approval_id", metavar="[ID]", required=False)
@click.option("--run", "run_id", metavar="RUN", help="Deny everything that this run waits for.")
@click.option("--reason", metavar="TEXT", help="What the snippet is told with the denial.")
@click.option("--resume", "resumes", is_flag=True, help="Resume the run at once, here; the call is refused.")
@server_option
@click.option("--workspace", metavar="DIR", help="The workspace the run began in; need not be given.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object: the approval, or with --resume the run.")
def deny(
    approval_id: str | None,
    run_id: str | None,
    reason: str | None,
    resumes: bool,
    workspace: str | None,
    server: str | None,
    as_json: bool,
) -> None:
    """Deny a pending call, or all of a run. The snippet receives an Err and continues.

    A denial is final: whatever changes later, this call of this run is not made. With --run, --json prints a list.
    """
    if (approval_id is None) == (run_id is None):
        raise click.UsageError("give either the ID of one approval, or --run RUN for all that a run waits for")
    if reason is not None and len(reason) > _LONGEST_REASON:
        raise click.BadParameter(f"at most {_LONGEST_REASON} characters", param_hint="--reason")
    refuse_with_server(server, workspace=workspace, run=run_id)
    if server is not None:
        _decide_there(server, [str(approval_id)], reason, resumes, as_json, approved=False)
    settings = settings_for(workspace)
    with open_app(settings) as claw:
        asked = [claw.approvals.open_request(approval_id)] if approval_id else _pending(claw, str(run_id))
        ids = [each.id for each in asked]
        decided = claw.approvals.decide(*ids, approved=False, by=this_person(), reason=reason or None)
        for each in decided:
            _tell(each, "Denied")
        resumable = resumes and _is_resumable(claw, decided[0], None)
    facts = [each.facts() for each in decided]
    _end(settings, facts if run_id else facts[0], decided[0].run_id, workspace, resumes, resumable, as_json)


def _decide_there(
    server: str,
    approval_ids: list[str],
    reason: str | None,
    resumes: bool,
    as_json: bool,
    *,
    approved: bool,
    yes: bool = True,
) -> NoReturn:
    """Decide a call at a server, which resumes its run by itself."""
    from coilclaw.cli.remote.connecting import connected

    with connected(server, "operator") as remote:
        asked = remote.approvals.open_request(approval_ids[0])
        if not yes and somebody_is_here() and not _confirmed(remote, asked, as_json):
            say(f"{asked.id} is still pending.", err=True)
            sys.exit(1)
        (decided,) = remote.approvals.decide(asked.id, approved=approved, by=this_person(), reason=reason or None)
        _tell(decided, "Approved" if approved else "Denied")
        left = remote.approvals.pending(decided.run_id)
    for each in left:
        say(f"Still pending: {as_name(each.id)}  {as_name(each.tool)}", err=True)
    if resumes and not left:
        from coilclaw.cli.resume import resume_run

        resume_run(settings_for(), decided.run_id, server=server, as_json=as_json)
    if as_json:
        say_json(decided.facts())
    if not left:
        say(f"{as_name(decided.run_id)} continues at the server.", err=True)
    sys.exit(3 if resumes and left else 0)


def _pending(claw: CoilClaw, run_id: str) -> tuple[ApprovalRequest, ...]:
    known = claw.runs.find(run_id)
    found = claw.approvals.pending(run_id)
    if not found:
        raise OperatorError(
            f"{known.run_id} ({known.status}) waits for no decision",
            hint="`coilclaw approval list` shows what waits for one",
        )
    return found


def _confirmed(claw: CoilClaw | RemoteApp, asked: ApprovalRequest, as_json: bool) -> bool:
    if asked.status != "pending":
        return True  # There is nothing to confirm: the decision itself will say why.
    facts = claw.approvals.explain(asked.id)
    return confirmed("Approve?", approval_rows(facts, _sent(claw, facts), full=False), err=as_json)


def _sent(claw: CoilClaw | RemoteApp, facts: Mapping[str, Any]) -> Iterable[Row]:
    """Everything that a call sends, beside the files that are there where it would be made."""
    from coilclaw.app import CoilClaw

    if isinstance(claw, CoilClaw):
        return sent_rows(facts, claw.runs.find(facts["run_id"]).header.workspace)
    return claw.approvals.rows(facts["id"])


def _tell(decided: ApprovalRequest, word: str) -> None:
    who = as_name(str(decided.decided_by))
    say(f"{word} {decided.id} as {who}: {as_name(decided.tool)}, {as_name(decided.run_id)}", err=True)


def _is_resumable(claw: CoilClaw, decided: ApprovalRequest, window: Window | None) -> bool:
    """Whether the run can be resumed here and now; says why not."""
    if not claw.runs.find(decided.run_id).is_waiting:
        say(f"{decided.run_id} continues in the process that waits for it.", err=True)
        return False
    undecided = claw.approvals.undecided(decided.run_id, window)
    for each in undecided:
        say(f"Still pending: {each.id}  {as_name(each.tool)}", err=True)
    return not undecided


def _end(
    settings: Settings, facts: object, run_id: str, workspace: str | None, resumes: bool, resumable: bool, as_json: bool
) -> None:
    """Resume the run if that was asked for and is possible; otherwise print the decision and what comes next."""
    if resumable:
        from coilclaw.cli.resume import resume_run

        resume_run(settings, run_id, workspace=workspace, as_json=as_json)
    if as_json:
        say_json(facts)
    if not resumes:
        from coilclaw.cli.run_report import workspace_option

        with open_app(settings) as claw:
            known = claw.runs.find(run_id)
        if not known.is_waiting:
            say(f"{as_name(run_id)} continues in the process that waits for it.", err=True)
            return
        say(f"To continue: coilclaw {_continuing(known)}{workspace_option(workspace)}", err=True)
        return
    with open_app(settings) as claw:
        waits = claw.approvals.pending(run_id)
    sys.exit(3 if waits else 0)


def _continuing(known: RunRecord) -> str:
    """The command that continues a run: alone, or with the SOP or the exchange of a conversation that waits for it."""
    of = known.header.conversation_id or ""
    if of.startswith("sop-"):
        return f"sop resume {as_name(of)}"
    return f"resume {as_name(known.run_id)}" if known.header.request is None else f"agent --resume {as_name(of)}"
