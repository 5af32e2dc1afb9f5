"""The history of a run: its receipts and journal, checked against each other.

Receipts are chained and sealed, the journal is not: it is believed only as far as receipts confirm it. The answer of
every call has one, every request names a mark of all that was delivered before it, and so does the end of every stretch
of a run. What was delivered after the last of them, by a process that died, is all that stands by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from coilclaw.bridge import Known, PriorCall, Recorded, RunRecord, count_rows, read_journal
from coilclaw.policy import shown_hashes
from coilclaw.receipts import DamagedReceipt, Head, ReceiptLog, content_sizes, digest
from coilclaw.runs.call_history import CallHistory, ReceiptParts, RecordedCall, read_call_history
from coilclaw.sdk.errors import LONGEST_MESSAGE
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.quick_json import from_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coilclaw.store import Database

__all__ = ["History", "has_proven_header", "is_confirmed", "kept_so_far", "read_history"]

_UNANSWERED: Final = {"abandoned", "stopped"}
"""Codes of ends that are written when a run is over and no snippet is left to receive them."""


class History(Frozen):
    """What is known of a run before it is repeated."""

    recorded: Recorded
    calls: Mapping[int, PriorCall]
    """Every call the run has asked for so far, by its number."""
    end: ReceiptParts | None
    """How the run ended, if it did: one that was resumed since has no end yet."""
    doubt: str | None
    """The first part of its header or journal that the receipts do not confirm."""
    fence: int
    """How often a process took the run, by its receipts."""
    ends: Sequence[str]
    """Hashes of what was kept each time a process left the run."""
    head: Head
    """The end of the log when this was read."""

    def is_all(self, database: Database, run_id: str, resumed: str) -> bool:
        """Whether nothing was added between this look at a run and the receipt of its taking over."""
        return self.head.is_followed_by(resumed) and count_rows(database, run_id) == self.recorded.rows


def read_history(database: Database, log: ReceiptLog, record: RunRecord, *, resumed: bool) -> History:
    """Receipts and journal of a run; `resumed` if the last receipt says that it is being resumed right now.

    Raises DamagedReceipt or ValueError if one of the two is no longer what was written.
    """
    tail = log.tail(record.first_seq, record.run_id)
    receipts = read_call_history(tail)
    assert tail.head is not None
    recorded = read_journal(database, record.run_id)
    return History(
        recorded=recorded,
        calls={number: call for number, call in receipts.calls.items() if call.is_requested},
        end=receipts.end,
        fence=receipts.fence,
        ends=receipts.kept,
        doubt=_first_doubt(receipts, recorded, record.header.text(), resumed=resumed),
        head=tail.head,
    )


def has_proven_header(log: ReceiptLog, record: RunRecord) -> bool:
    """Whether the receipts of a run, proven by the sealed head, name the header that the table has."""
    try:
        began = read_call_history(log.tail(record.first_seq - 1, record.run_id)).header_hashes
    except DamagedReceipt:
        return False
    return began == [digest(record.header.text().encode())]


def is_confirmed(log: ReceiptLog, record: RunRecord) -> bool:
    """Whether the receipts name the header and, of a run that does not go on, the status that the table has."""
    try:
        told = read_call_history(log.tail(record.first_seq - 1, record.run_id))
    except DamagedReceipt:
        return False
    stands = "running" if told.end is None else told.end.status
    return told.header_hashes == [digest(record.header.text().encode())] and stands == record.status


def kept_so_far(database: Database, record: RunRecord, past: History | None) -> list[tuple[str, int]]:
    """Hashes and sizes of what a run has left in the store: once for each time that it left it."""
    kept = [record.header.code_hash, record.header.inputs_hash, *(past.ends if past is not None else ())]
    for call in past.calls.values() if past is not None else ():
        kept.append(call.args_hash)
        kept += [each for each in getattr(call, "results", ()) if each is not None]
    kept += shown_hashes(database, record.run_id)
    sizes = content_sizes(database, sorted(set(kept)))
    return [(each, int(sizes[each])) for each in kept if each in sizes]


def _first_doubt(receipts: CallHistory, recorded: Recorded, header: str, *, resumed: bool) -> str | None:
    if receipts.header_hashes != [digest(header.encode())]:
        return "the run's header is not the one it began with"
    return (
        _other_deliveries(receipts, recorded, resumed=resumed)
        or _other_answers(receipts.calls, recorded)
        or _impossible_deliveries(recorded)
    )


def _other_deliveries(receipts: CallHistory, recorded: Recorded, *, resumed: bool) -> str | None:
    marks = set(recorded.marks)
    if not receipts.marks.keys() <= marks:
        number = next(number for mark, number in receipts.marks.items() if mark not in marks)
        at = "when it was suspended" if number is None else f"before call {number}"
        return f"the journal is not the one that the run had {at}"
    went_on = receipts.resumed_since - resumed > 0
    if receipts.left is not None and not went_on and receipts.left != recorded.marks[-1]:
        return "the journal goes on after the run was suspended"
    return None


def _other_answers(calls: Mapping[int, RecordedCall], recorded: Recorded) -> str | None:
    for number, known in sorted(recorded.answers.items()):
        call = calls.get(number)
        if call is None or not call.is_requested or not (call.results or call.refusals):
            return f"the journal has an answer for call {number}, of which there is no receipt"
        if not _confirms(call, known):
            return f"the journal has another answer for call {number} than its receipt"
    for number, call in sorted(calls.items()):
        # A no that a person gave elsewhere has a receipt before the run receives it.
        if number not in recorded.answers and _was_answered(call):
            return f"the journal has lost the answer of call {number}"
    return None


def _impossible_deliveries(recorded: Recorded) -> str | None:
    seen: set[int] = set()
    for delivery in recorded.deliveries:
        for number in map(abs, delivery.numbers):
            if number not in recorded.answers or number in seen:
                return f"the journal delivers an answer of call {number} that is not there"
            seen.add(number)
    return None


def _confirms(call: RecordedCall, known: Known) -> bool:
    if known.failure is None:
        return known.result_hash in call.results
    return known.result_hash is None and any(_is_same_refusal(known.failure, refusal) for refusal in call.refusals)


def _is_same_refusal(failure: str, refusal: ReceiptParts) -> bool:
    try:
        given = from_json(failure)
        return bool(
            set(given) == {"ok", "code", "message", "hint"}
            and given["ok"] is False
            and given["code"] == refusal.payload["code"]
            and _shown(given["message"]) == _shown(refusal.payload["message"])
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return False


def _shown(message: str) -> str:
    # Receipts keep the beginning of a long message.
    return message.encode("utf-8", "replace").decode()[:LONGEST_MESSAGE]


def _was_answered(call: RecordedCall) -> bool:
    return bool(call.results) or any(
        refusal.type == "tool.call.failed" and refusal.payload.get("code") not in _UNANSWERED and not _given_up(refusal)
        for refusal in call.refusals
    )


def _given_up(refusal: ReceiptParts) -> bool:
    """Whether a call got this end as its run was cancelled. (One that a person counts as failed has a decision.)"""
    return refusal.payload.get("code") == "unknown_outcome" and "decision" not in refusal.payload
