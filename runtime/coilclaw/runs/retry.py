"""Retry a run: what it and the runs before it have written, read from proven receipts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from coilclaw.bridge import EarlierWrite, find_run
from coilclaw.receipts import DamagedReceipt, digest
from coilclaw.runs.errors import NotRetryable
from coilclaw.sdk import Risk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coilclaw.bridge import RunRecord, Services
    from coilclaw.sdk import Receipt

__all__ = ["earlier_writes", "refuse_retry"]

_UNCERTAIN: Final = {
    "timeout": "did not end in time; what it did is unknown",
    "abandoned": "was given up; what it did is unknown",
    "stopped": "was stopped; what it did is unknown",
    "unknown_outcome": "has an unknown outcome",
    "evidence_unavailable": "ended without a record of what it did",
    "invalid_output": "ran, and its result could not be used",
    "output_too_large": "ran, and its result was too large",
}
"""Codes of failures behind which the tool may have done what it was to do."""
_NO_OUTCOME: Final = "was under way when its process ended; what it did is unknown"


def refuse_retry(services: Services, run_id: str, conversation: str | None) -> None:
    """Raise NotRetryable unless the run is over, and belongs to this workspace and conversation. Raises NoSuchRun."""
    known = find_run(services.database, run_id)
    if known.state in ("running", "suspended", "orphaned"):
        state = {"orphaned": "has not ended although its process did"}.get(known.state, f"is {known.state}")
        raise NotRetryable(
            f"{run_id} {state}, and may still make calls of its own",
            hint="wait for its end" if known.state == "running" else f"resume it, or end it: coilclaw cancel {run_id}",
        )
    if known.header.workspace != str(services.workspace):
        raise NotRetryable(f"{run_id} began in the workspace {known.header.workspace}", hint="retry it there")
    if conversation is not None and known.header.conversation_id != conversation:
        raise NotRetryable(f"{run_id} belongs to another conversation", hint="start this as a new run")


def earlier_writes(services: Services, run_id: str) -> Sequence[EarlierWrite]:
    """The writes of a run and of those that it was a retry of itself, the oldest first. Raises NotRetryable."""
    found: list[EarlierWrite] = []
    seen: set[str] = set()
    following: str | None = run_id
    while following is not None and following not in seen:
        seen.add(following)
        known = find_run(services.database, following)
        found = [*_writes(_proven(services, known)), *found]
        following = known.header.retry_of
    return found


def _proven(services: Services, known: RunRecord) -> Sequence[Receipt]:
    try:
        receipts = services.log.proven_of_run(known.run_id, known.first_seq)
    except DamagedReceipt as error:
        problem = error.message
    else:
        began = [each.payload.get("header_hash") for each in receipts if each.type == "run.started"]
        if began == [digest(known.header.text().encode())]:
            return receipts
        problem = "its header is not the one it began with"
    raise NotRetryable(
        f"the receipts of {known.run_id} do not prove what it did: {problem}",
        hint="`coilclaw receipt verify` checks the log; start this as a new run",
    )


def _writes(receipts: Sequence[Receipt]) -> Iterator[EarlierWrite]:
    """The calls of one run that were started with more than a read in mind, each with its last receipt."""
    started: set[str] = set()
    last: dict[str, Receipt] = {}
    runs: dict[str, str] = {}
    for each in receipts:
        call = each.tool_call_id
        if call is None or each.type == "tool.call.progress":
            continue
        if each.type == "tool.call.started":
            started.add(call)
        last[call] = each
        if runs_hash := each.payload.get("runs_hash"):
            runs[call] = runs_hash
    for call, end in last.items():
        if call in started and end.risk is not Risk.READ:
            succeeded = end.type == "tool.call.succeeded"
            uncertain = None if succeeded else _uncertain(end)
            if succeeded or uncertain is not None:
                yield EarlierWrite(
                    run_id=str(end.run_id),
                    receipt=end.id,
                    tool=str(end.tool),
                    tool_version=end.tool_version,
                    args_hash=str(end.args_hash),
                    result_hash=end.result_hash,
                    runs_hash=runs.get(call),
                    uncertain=uncertain,
                )


def _uncertain(end: Receipt) -> str | None:
    """Why nobody knows what a call did that was started and did not succeed; None if it failed and that is all."""
    return _NO_OUTCOME if end.type == "tool.call.started" else _UNCERTAIN.get(str(end.payload.get("code")))
