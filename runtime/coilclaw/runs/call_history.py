"""What the receipts of a run say, put together while they are read.

Most of them tell of an ordinary call: requested, started, succeeded. All three name the call in the same bytes, so
that the second and the third are understood without being parsed, and nothing of them is kept but the hash of the
result: a run of thousands of calls is read faster than it is repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any, Final, NamedTuple

from coilclaw.bridge import PriorCall, call_number
from coilclaw.receipts import DamagedReceipt, Head, digest
from coilclaw.runs.kept_end import kept_hashes
from coilclaw.sdk.quick_json import from_json
from coilclaw.store import Database

__all__ = ["CallHistory", "Event", "RecordedCall", "read_call_history"]

_SINCE: Final = (
    "SELECT seq, CAST(coalesce(body, '') AS BLOB), receipt_hash FROM receipts "
    "WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
)
"""Cast, because an editor of the database may have left another type behind."""
_ROWS_AT_ONCE: Final = 256
"""Few enough to be in the processor's caches still when they are looked into."""

# Where things stand in a body: its fields are in alphabetical order, and a quote in a value is escaped.
_ARGS_HASH: Final = slice(len('{"args_hash":"'), len('{"args_hash":"') + 64)
_PAYLOAD: Final = b'"payload":'
_PREVIOUS: Final = b'"previous_hash":"'
_RESULT: Final = len(_PREVIOUS) + 64 + len('","result_hash":"')
_TOOL: Final = b'"tool":'
_TYPE: Final = b',"type":"'
_REQUESTED: Final = b',"type":"tool.call.requested"}'
_STARTED: Final = b',"type":"tool.call.started"}'
_SUCCEEDED: Final = b',"type":"tool.call.succeeded"}'
_RUN_ENDS: Final = frozenset({"run.finished", "run.suspended", "run.diverged"})
_TELLING: Final = frozenset(
    b',"type":"%b"}' % kind.encode()
    for kind in (
        "run.started",
        "run.resumed",
        *_RUN_ENDS,
        "tool.call.started",
        "tool.call.succeeded",
        "tool.call.failed",
        "tool.call.denied",
    )
)


class Event(NamedTuple):
    """The parts of a receipt that matter here."""

    type: str
    status: str
    tool_call_id: str | None
    tool: str | None
    tool_version: str | None
    result_hash: str | None
    payload: Mapping[str, Any]


_PARTS: Final = itemgetter(*Event._fields)


class RecordedCall(PriorCall):
    """What all receipts of one call say about it."""

    __slots__ = ("asked", "named", "refusals", "results")

    def __init__(self, number: int) -> None:
        self.number = number
        self.asked = False
        """By a process that had the run at the time: only then the following is known."""
        self.tool = ""
        self.tool_version: str | None = None
        self.args_hash = ""
        self.state = "requested"
        self.denial: str | None = None
        self.named = b""
        """What the receipts of an ordinary call have in common."""
        self.results: tuple[str | None, ...] = ()
        """The hashes of what it gave."""
        self.refusals: tuple[Event, ...] = ()
        """How it failed or was denied."""


class CallHistory:
    """The receipts of one run, as far as they were read."""

    def __init__(self) -> None:
        self.header_hashes: list[object] = []
        self.calls: dict[int, RecordedCall] = {}
        self.marks: dict[str, int | None] = {}
        """Marks of the journal, by the number of the call before which it had that mark; None: when it was left."""
        self.left: str | None = None
        """The mark when a process left the run for the last time."""
        self.resumed_since = 0
        self.end: Event | None = None
        """How the run ended, if it did: one that was resumed since has no end yet."""
        self.kept: list[str] = []
        """Hashes of the contents that ends stand for."""
        self._fence = 1
        self._ordinary: dict[bytes, RecordedCall] = {}

    def hear(self, body: bytes, tail: int) -> None:
        """One more receipt; `tail` is where the fields behind its payload begin."""
        ends = body.rfind(_TYPE)
        kind, named = body[ends:], body[body.rfind(_TOOL) : ends]
        if kind == _REQUESTED:
            self._hear_request(body, tail, named)
            return
        call = self._ordinary.get(named)
        if call is not None and kind == _STARTED:
            call.state = "started"
        elif call is not None and kind == _SUCCEEDED:
            call.state = "ended"
            call.results += (body[tail + _RESULT : tail + _RESULT + 64].decode(),)
        elif kind in _TELLING:
            self._hear_event(Event._make(_PARTS(from_json(body))))

    def _hear_request(self, body: bytes, tail: int, named: bytes) -> None:
        payload = body[body.find(_PAYLOAD) + len(_PAYLOAD) : tail - 1]
        facts, name = from_json(b"[%b,{%b}]" % (payload, named))
        number = facts["number"]
        call = self.calls.get(number)
        if call is None:
            call = self.calls[number] = RecordedCall(number)
        if facts.get("fence", 1) != self._fence:
            return  # Its process had lost the run, and tells of what it alone was told.
        self.marks.setdefault(facts["heard"], number)
        if not call.asked:  # Otherwise it stays what became of it.
            call.asked = True
            call.tool, call.tool_version, call.args_hash = name["tool"], name["tool_version"], body[_ARGS_HASH].decode()
            call.named = named
            self._ordinary[named] = call

    def _hear_event(self, event: Event) -> None:
        if event.tool_call_id is not None:
            call = self.calls.get(call_number(event.tool_call_id))
            if call is not None:
                self._hear_of_call(call, event)
        elif event.type == "run.started":
            self.header_hashes.append(event.payload.get("header_hash"))
        elif event.type == "run.resumed":
            self._fence += 1
            self.resumed_since += 1
            self.end = None
        else:
            self.end = event
            self.kept += kept_hashes(event.payload)
            self._hear_mark(event.payload)

    def _hear_of_call(self, call: RecordedCall, event: Event) -> None:
        if event.type == "tool.call.succeeded":
            call.results += (event.result_hash,)
        elif event.type != "tool.call.started":
            call.refusals += (event,)
            if event.payload.get("decision") == "deny":
                call.denial = event.payload["message"]
        if not call.asked:
            return
        call.state = "started" if event.type == "tool.call.started" else "ended"
        if (event.tool, event.tool_version) != (call.tool, call.tool_version):
            # What ran is what counts: it may have been asked for again after its source had changed.
            call.tool, call.tool_version = str(event.tool), event.tool_version
            self._ordinary.pop(call.named, None)

    def _hear_mark(self, facts: Mapping[str, Any]) -> None:
        mark = facts.get("heard")
        if mark is not None:
            self.left, self.resumed_since = mark, 0
            if facts.get("fence", 1) == self._fence:
                self.marks.setdefault(mark, None)


def read_call_history(database: Database, run_id: str, first_seq: int, head: Head) -> CallHistory:
    """What the receipts of a run say. Raises DamagedReceipt if one is no longer what was written.

    Everything since the run began is checked, other runs included: a receipt that is missing, or was
    replaced together with its hash, shows in those that follow, up to the head, which is sealed.
    """
    testimony = CallHistory()
    mine = b'"run_id":"%b"' % run_id.encode()
    seq, previous = first_seq - 1, b""
    while rows := database.read(_SINCE, (seq, head.seq, _ROWS_AT_ONCE)):
        # All of them in a row, which takes less time than each in its turn.
        digests = [digest(body) for _, body, _ in rows]
        for (seq, body, receipt_hash), found in zip(rows, digests, strict=True):
            tail = body.rfind(_PREVIOUS)
            if found != receipt_hash or not body.startswith(previous, tail + len(_PREVIOUS)):
                raise _damaged(f"receipt {seq} was changed")
            previous = found.encode()
            if body.find(mine, tail) > 0:
                try:
                    # Perhaps not what was written: should the log not end as its seal says, all this is dropped.
                    testimony.hear(body, tail)
                except (ValueError, TypeError, LookupError, AttributeError):
                    raise _damaged(f"receipt {seq} was changed: it is none") from None
    if seq != head.seq or previous != head.receipt_hash.encode():
        raise _damaged("the log does not end as its seal says")
    return testimony


def _damaged(message: str) -> DamagedReceipt:
    return DamagedReceipt(message, hint="`coilclaw receipt verify` says more")
