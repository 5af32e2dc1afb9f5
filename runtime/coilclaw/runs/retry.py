"""Retry a run: what it and the runs before it have written, read from proven receipts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from coilclaw.bridge import EarlierWrite, find_run
from coilclaw.receipts import DamagedReceipt, digest
from coilclaw.runs.errors import NotRetryable
from coilclaw.sdk import Risk
from coilclaw.sdk.errors import RESERVED_CODES

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
"""What is said of calls that the runtime itself ended after they had been started."""
_NOT_CALLED: Final = frozenset(("evidence_budget", "loop_blocked", "withdrawn"))
"""Codes of the runtime for calls that were started and whose tools were not called after all."""
_DOUBTFUL_WORDS: Final = frozenset(
    (
        "aborted", "answer", "broken", "canceled", "cancelled", "closed", "crashed", "disconnected", "encoding",
        "error", "failed", "interrupted", "large", "late", "lost", "much", "processes", "protocol", "reset", "stopped",
        "timeout", "unavailable", "unknown", "unreachable",
    )
)  # fmt: skip
"""Words in the code of a tool's failure that leave open what the tool did before it: only other codes name a reason
why it did nothing."""
_NO_OUTCOME: Final = "was under way when its process ended; what it did is unknown"


def refuse_retry(services: Services, run_id: str, conversation: str | None) -> None:
    """Raise NotRetryable unless the run is over, and belongs to this workspace and conversation. Raises NoSuchRun."""
    known = find_run(services.database, run_id)
    if known.state in ("queued", "running", "suspended", "orphaned"):
        state = {"orphaned": "has not ended although its process did"}.get(known.state, f"is {known.state}")
        proceeds = known.state in ("queued", "running")
        raise NotRetryable(
            f"{run_id} {state}, and may still make calls of its own",
            hint="wait for its end" if proceeds else f"resume it, or end it: coilclaw cancel {run_id}",
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
        if began != [digest(known.header.text().encode())]:
            problem = "its header is not the one it began with"
        elif not _is_over(receipts):
            problem = "it has not ended, whatever the table of runs says"
        else:
            return receipts
    raise NotRetryable(
        f"the receipts of {known.run_id} do not prove what it did: {problem}",
        hint="`coilclaw receipt verify` checks the log; start this as a new run",
    )


def _is_over(receipts: Sequence[Receipt]) -> bool:
    last = next((each.type for each in reversed(receipts) if each.type.startswith("run.")), None)
    return last in ("run.finished", "run.diverged")


def _writes(receipts: Sequence[Receipt]) -> Iterator[EarlierWrite]:
    """The calls of one run that were started with more than a read in mind, each with its last receipt."""
    starts: Counter[str] = Counter()
    last: dict[str, Receipt] = {}
    runs: dict[str, str] = {}
    for each in receipts:
        call = each.tool_call_id
        if call is None or each.type == "tool.call.progress":
            continue
        if each.type == "tool.call.started":
            starts[call] += 1
        last[call] = each
        if runs_hash := each.payload.get("runs_hash"):
            runs[call] = runs_hash
    for call, end in last.items():
        if call in starts and end.risk is not Risk.READ:
            succeeded = end.type == "tool.call.succeeded"
            uncertain = _reported(end) if succeeded else _uncertain(end, starts[call])
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


def _reported(end: Receipt) -> str | None:
    """Why the result of a call that succeeded does not answer another; None if it does."""
    reported = end.payload.get("reported_failure")
    return None if reported is None else f"gave a result that reports a failure ({reported})"


def _uncertain(end: Receipt, starts: int) -> str | None:
    """Why nobody knows what a call did that was started and did not succeed; None if it failed and that is all."""
    code = end.payload.get("code")
    if end.type not in ("tool.call.failed", "tool.call.denied") or code is None:
        return _NO_OUTCOME
    if starts > 1:
        return "was started more than once; what it did at first is unknown"
    if code in _UNCERTAIN:
        return _UNCERTAIN[code]
    certain = code in _NOT_CALLED if code in RESERVED_CODES else _DOUBTFUL_WORDS.isdisjoint(code.lower().split("_"))
    return None if certain else f"failed with {code}; what it did is unknown"
