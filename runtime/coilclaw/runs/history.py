"""What the receipts of a run say about its calls, held against its journal.

Receipts are chained and sealed, the journal is not: it is believed as far as receipts bear it out. The answer of
every call has one, every request names a mark of all that was delivered before it, and so does the end of every stretch
of a run. What was delivered after the last of them, by a process that died, is all that stands by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple

from pydantic_core import from_json

from coilclaw.bridge import Known, PriorCall, Recorded, read_journal
from coilclaw.receipts import DamagedReceipt, Head, digest
from coilclaw.runs.header import Standing
from coilclaw.store import Database

__all__ = ["Event", "History", "first_doubt", "prior_calls", "read_events", "read_history"]

_RUN_ENDS: Final = frozenset({"run.finished", "run.suspended", "run.diverged"})
_ENDS: Final = {"tool.call.succeeded", "tool.call.failed", "tool.call.denied"}
_UNANSWERED: Final = {"abandoned", "stopped"}
"""Codes of ends that are written when a run is over and no snippet is left to be told."""
_STATES: Final[Mapping[str, Literal["requested", "started"]]] = {
    "tool.call.requested": "requested",
    "tool.call.started": "started",
}
_ROWS_AT_ONCE: Final = 4096


class Event(NamedTuple):
    """The parts of a receipt that matter here. Not the model: a run may have thousands."""

    type: str
    status: str
    tool_call_id: str | None
    tool: str | None
    tool_version: str | None
    args_hash: str | None
    result_hash: str | None
    payload: Mapping[str, Any]


_PARTS: Final = itemgetter(*Event._fields)
_STARTED: Final = b'"type":"tool.call.started"}'
_STARTED_OR_ENDED: Final = (_STARTED, *(b'"type":"%b"}' % kind.encode() for kind in sorted(_ENDS)))
"""How the bodies of such receipts end: the type is their last field, and a quote in a value is escaped."""


@dataclass(frozen=True, kw_only=True)
class History:
    """What is known of a run before it is repeated."""

    recorded: Recorded
    calls: Mapping[int, PriorCall]
    end: Event | None
    """How the run ended, if it did: one that was resumed since has no end yet."""
    doubt: str | None
    last_seq: int
    """The last receipt of the log when this was read, whoever's it was."""


def read_history(database: Database, known: Standing, head: Head, *, resumed: bool) -> History:
    """Receipts and journal of a run; `resumed` if the last receipt says that it is being resumed right now.

    `head` is the sealed end of the log: without it, whoever rewrites everything could not be told from the log.
    Raises DamagedReceipt or ValueError if one of the two is no longer what was written.
    """
    events = read_events(database, known.run_id, known.first_seq, head)
    recorded = read_journal(database, known.run_id)
    calls = prior_calls(events)
    doubt = first_doubt(events, recorded, calls, known.header.text(), resumed=resumed)
    lifecycle = [event for event in events if event.type in _RUN_ENDS or event.type == "run.resumed"]
    end = lifecycle[-1] if lifecycle and lifecycle[-1].type in _RUN_ENDS else None
    return History(recorded=recorded, calls=calls, end=end, doubt=doubt, last_seq=head.seq)


def read_events(database: Database, run_id: str, first_seq: int, head: Head) -> list[Event]:
    """The receipts of a run.

    Everything since the run began is checked, other runs included: a receipt that is missing, or was
    replaced together with its hash, shows in those that follow, up to the head, which is sealed.
    """
    own: list[bytes] = []
    mine = b'"run_id":"%b"' % run_id.encode()
    seq, previous = first_seq - 1, b'"previous_hash":"'
    while rows := database.read(
        "SELECT seq, body, receipt_hash FROM receipts WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
        (seq, head.seq, _ROWS_AT_ONCE),
    ):
        for seq, body, receipt_hash in rows:
            if type(body) is not bytes:
                body = str(body).encode()  # An editor of the database may have left another type behind.
            at = body.rfind(b'"previous_hash":"')  # Behind it every quote is structure.
            if digest(body) != receipt_hash or not body.startswith(previous, at):
                raise DamagedReceipt(f"receipt {seq} was changed", hint="`coilclaw receipt verify` says more")
            previous = b'"previous_hash":"%b"' % receipt_hash.encode()
            if body.find(mine, at) > 0:
                own.append(body)
    if seq != head.seq or previous != b'"previous_hash":"%b"' % head.receipt_hash.encode():
        raise DamagedReceipt("the log does not end as its seal says", hint="`coilclaw receipt verify` says more")
    # Looked into only now that they are known to be what was written.
    return [Event._make(_PARTS(from_json(body, cache_strings="keys"))) for body in _telling(own)]


def _telling(own: Sequence[bytes]) -> list[bytes]:
    """Without the starts of calls that have ended since, which are a third of all and tell nothing more."""
    telling: list[bytes] = []
    ended: set[bytes] = set()
    for body in reversed(own):
        if body.endswith(_STARTED_OR_ENDED):
            at = body.rfind(b'"tool_call_id":')
            call = body[at : body.find(b",", at)]
            if not body.endswith(_STARTED):
                ended.add(call)
            elif call in ended:
                continue
        telling.append(body)
    telling.reverse()
    return telling


def prior_calls(events: Sequence[Event]) -> dict[int, PriorCall]:
    """Every call the run has asked for so far, by its number."""
    asked: dict[str, Event] = {}
    latest: dict[str, Event] = {}
    fence = 1
    for event in events:
        kind, call_id = event.type, event.tool_call_id
        if kind == "run.resumed":
            fence += 1
        elif call_id is None:
            continue
        elif kind == "tool.call.requested":
            # Not of a process that had lost the run, and not again: what was started stays started.
            if call_id not in asked and event.payload.get("fence", 1) == fence:
                asked[call_id] = event
        elif call_id in asked and (kind == "tool.call.started" or kind in _ENDS):
            latest[call_id] = event
    calls = {}
    for call_id, request in asked.items():
        last, number = latest.get(call_id, request), int(request.payload["number"])
        # What ran is what counts: it may have been asked for again after its source had changed.
        calls[number] = PriorCall(
            number, str(last.tool), last.tool_version, str(request.args_hash), _STATES.get(last.type, "ended")
        )
    return calls


def first_doubt(
    events: Sequence[Event], recorded: Recorded, calls: Mapping[int, PriorCall], header: str, *, resumed: bool
) -> str | None:
    """The first thing in a header or a journal that the receipts do not bear out, or None."""
    began = [event.payload.get("header_hash") for event in events if event.type == "run.started"]
    if began != [digest(header.encode())]:
        return "the run's header is not the one it began with"
    return _other_deliveries(events, recorded, resumed=resumed) or _other_answers(events, recorded, calls)


def _other_deliveries(events: Sequence[Event], recorded: Recorded, *, resumed: bool) -> str | None:
    marks, fence = set(recorded.marks), 1
    left, went_on = None, 0
    for kind, *_, payload in events:
        if kind == "run.resumed":
            fence, went_on = fence + 1, went_on + 1
        mark = payload.get("heard")
        if mark is None:
            continue
        # A process that has lost the run tells of what it alone was told.
        if mark not in marks and payload.get("fence", 1) == fence:
            at = "when it was suspended" if kind.startswith("run.") else f"before call {payload['number']}"
            return f"the journal is not the one that the run had {at}"
        if kind.startswith("run."):
            left, went_on = mark, int(kind == "run.resumed")
    if left is not None and went_on - resumed <= 0 and left != recorded.marks[-1]:
        return "the journal goes on after the run was suspended"
    return None


def _other_answers(events: Sequence[Event], recorded: Recorded, calls: Mapping[int, PriorCall]) -> str | None:
    numbers = {event.tool_call_id: int(event.payload["number"]) for event in events if "number" in event.payload}
    ends: dict[int, list[Event]] = {}
    for event in events:
        if event.type in _ENDS and event.tool_call_id in numbers:
            ends.setdefault(numbers[event.tool_call_id], []).append(event)
    for number, known in sorted(recorded.answers.items()):
        if not ends.get(number) or number not in calls:
            return f"the journal has an answer for call {number}, of which no receipt tells"
        if not any(_bears_out(end, known) for end in ends[number]):
            return f"the journal has another answer for call {number} than its receipt"
    for number, told in sorted(ends.items()):
        # A no that a person gave elsewhere has a receipt before the run hears of it.
        if number not in recorded.answers and any(_was_answered(end) for end in told):
            return f"the journal has lost the answer of call {number}"
    seen: set[int] = set()
    for delivery in recorded.deliveries:
        for number in map(abs, delivery.numbers):
            if number not in recorded.answers or number in seen:
                return f"the journal delivers an answer of call {number} that is not there"
            seen.add(number)
    return None


def _bears_out(end: Event, known: Known) -> bool:
    if known.failure is None:
        return end.type == "tool.call.succeeded" and end.result_hash == known.result_hash
    if end.type == "tool.call.succeeded" or known.result_hash is not None:
        return False
    try:
        told = from_json(known.failure)
        return bool(
            told["ok"] is False
            and told["code"] == end.payload["code"]
            and _shown(told["message"]) == _shown(end.payload["message"])
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return False


def _shown(message: str) -> str:
    # Receipts keep the beginning of a long message.
    return message.encode("utf-8", "replace").decode()[:2000]


def _was_answered(end: Event) -> bool:
    if end.type == "tool.call.succeeded":
        return True
    return end.type == "tool.call.failed" and end.payload.get("code") not in _UNANSWERED
