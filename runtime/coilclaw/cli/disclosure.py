"""Pending approvals: their facts for a program, and the notice of a run that waits for them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any, Final

from coilclaw.cli.composition import Evidence
from coilclaw.cli.terminal import say
from coilclaw.policy import Approval
from coilclaw.receipts import ReceiptLog
from coilclaw.runs import NoSuchRun, find_run
from coilclaw.sdk import Risk
from coilclaw.sdk.legible import as_name, one_line

__all__ = [
    "approval_facts",
    "arguments_of",
    "asked_about",
    "pending_of",
    "short_arguments",
    "shown_risk",
    "tell_pending",
]

_LONGEST_SHORT: Final = 300
"""Characters of a reason or of arguments in a notice. `approval show` has them whole."""


def shown_risk(risk: str) -> str:
    try:
        return f"{risk} ({Risk(risk).level})"
    except ValueError:
        return one_line(risk)


def arguments_of(approval: Approval, log: ReceiptLog) -> Any:
    """The arguments the question is about, or None when they are missing."""
    body = log.contents(approval.args_hash)
    return None if body is None else json.loads(body)


def runs_of(approval: Approval, log: ReceiptLog) -> str | None:
    """What will run, if the tool says more about that than the arguments do."""
    body = None if approval.runs_hash is None else log.contents(approval.runs_hash)
    if body is None and approval.runs_hash is not None:
        return "no longer kept; the call itself is still bound to its hash"
    return None if body is None else body.decode()


def asked_about(approval: Approval, log: ReceiptLog) -> dict[str, Any]:
    """One question, for a program."""
    return {
        "id": approval.id,
        "run_id": approval.run_id,
        "tool": approval.tool,
        "arguments": arguments_of(approval, log),
        "status": approval.status,
    }


def approval_facts(approval: Approval, log: ReceiptLog) -> dict[str, Any]:
    """Everything that is known of a question without looking at its run."""
    return {
        **asked_about(approval, log),
        "tool_version": approval.tool_version,
        "risk": approval.risk,
        "reason": approval.reason,
        "runs": runs_of(approval, log),
        "number": approval.number,
        "line": approval.line,
        "created": _moment(approval.created_at),
        "expires": _moment(approval.expires_at),
        "decided_by": approval.decided_by,
        "decided": _moment(approval.decided_at) if approval.decided_at is not None else None,
    }


def pending_of(evidence: Evidence, run_id: str | None = None) -> list[Approval]:
    """What a decision could still move: open questions of runs that are not over."""
    over: dict[str, bool] = {}
    found = []
    for each in in_order(evidence.book.list("pending", run_id=run_id)):
        if each.run_id not in over:
            over[each.run_id] = _is_over(evidence, each.run_id)
        if not over[each.run_id]:
            found.append(each)
    return found


def in_order(approvals: Iterable[Approval]) -> list[Approval]:
    """Oldest first; those of one second by run, and then as the calls were issued."""
    return sorted(approvals, key=lambda each: (each.created_at, each.run_id, each.number))


def tell_pending(pending: Iterable[dict[str, Any]], run_id: str, options: str) -> None:
    """Say on stderr what a run waits for, and which commands go on with it."""
    for each in pending:
        name = as_name(each["id"])
        say(err=True)
        say(f"Waiting for approval: {name}", err=True, bold=True)
        say(f"  Tool:    {as_name(each['tool'])}", err=True)
        say(f"  Risk:    {shown_risk(each['risk'])}", err=True)
        say(f"  Reason:  {one_line(each['reason'], _LONGEST_SHORT)}", err=True)
        say(f"  Args:    {short_arguments(each['arguments'])}", err=True)
        if each["runs"] is not None:
            say(f"  Runs:    {one_line(each['runs'], _LONGEST_SHORT)}", err=True)
        say(f"  Look:    coilclaw approval show {name}", err=True)
        say(f"  Approve: coilclaw approval approve {name} --resume{options}", err=True)
    say(f"Once everything is decided: coilclaw resume {as_name(run_id)}{options}", err=True)


def short_arguments(arguments: Any) -> str:
    """Return arguments as JSON on one line; what does not fit is counted."""
    return one_line(json.dumps(arguments, ensure_ascii=False), _LONGEST_SHORT)


def _is_over(evidence: Evidence, run_id: str) -> bool:
    try:
        return find_run(evidence.database, run_id).status not in ("running", "suspended")
    except NoSuchRun:
        return True


def _moment(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
