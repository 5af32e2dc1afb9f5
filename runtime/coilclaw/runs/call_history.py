"""Collect the history of a run's calls while its receipts are read.

Most of them tell of an ordinary call: requested, started, succeeded. All three name the call in the same bytes, so
that the second and the third are understood without being parsed, and nothing of them is kept but the hash of the
result: a run of thousands of calls is read faster than it is repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any, Final, NamedTuple

from coilclaw.bridge import PriorCall, call_number
from coilclaw.receipts import (
    DamagedReceipt,
    Tail,
    args_hash_of,
    ends_of,
    request_facts,
    result_hash_of,
    type_field,
)
from coilclaw.runs.kept_end import kept_hashes
from coilclaw.sdk.quick_json import from_json

__all__ = ["CallHistory", "ReceiptParts", "RecordedCall", "read_call_history"]

_REQUESTED: Final = type_field("tool.call.requested")
_STARTED: Final = type_field("tool.call.started")
_SUCCEEDED: Final = type_field("tool.call.succeeded")
_RUN_ENDS: Final = frozenset({"run.finished", "run.suspended", "run.diverged"})
_OTHERS: Final = frozenset(
    type_field(kind)
    for kind in (
        "run.started",
        "run.resumed",
        *_RUN_ENDS,
        "tool.call.started",
        "tool.call.succeeded",
        "tool.call.reused",
        "tool.call.failed",
        "tool.call.denied",
    )
)


class ReceiptParts(NamedTuple):
    """The parts of a receipt that matter here."""

    type: str
    status: str
    tool_call_id: str | None
    tool: str | None
    tool_version: str | None
    result_hash: str | None
    payload: Mapping[str, Any]


_PARTS: Final = itemgetter(*ReceiptParts._fields)


class RecordedCall(PriorCall):
    """What all receipts of one call say about it."""

    __slots__ = ("is_requested", "named", "refusals", "results")

    def __init__(self, number: int) -> None:
        self.number = number
        self.is_requested = False
        """Whether the request came from the process that owned the run; the fields below count only then."""
        self.tool = ""
        self.tool_version: str | None = None
        self.args_hash = ""
        self.state = "requested"
        self.denial: str | None = None
        self.named = b""
        """What the receipts of an ordinary call have in common."""
        self.results: tuple[str | None, ...] = ()
        """The hashes of what it gave."""
        self.reused: str | None = None
        self.refusals: tuple[ReceiptParts, ...] = ()
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
        self.end: ReceiptParts | None = None
        """How the run ended, if it did: one that was resumed since has no end yet."""
        self.kept: list[str] = []
        """Hashes of the contents that ends stand for."""
        self.fence = 1
        """How often a process took the run, the first one included."""
        self._ordinary: dict[bytes, RecordedCall] = {}

    def add(self, body: bytes, tail: int) -> None:
        """Take in one more receipt; `tail` is the offset of the fields behind its payload."""
        kind, named = ends_of(body)
        if kind == _REQUESTED:
            self._add_request(body, tail, named)
            return
        call = self._ordinary.get(named)
        if call is not None and kind == _STARTED:
            call.state = "started"
        elif call is not None and kind == _SUCCEEDED:
            call.state = "ended"
            call.results += (result_hash_of(body, tail),)
        elif kind in _OTHERS:
            self._add_event(ReceiptParts._make(_PARTS(from_json(body))))

    def _add_request(self, body: bytes, tail: int, named: bytes) -> None:
        facts, name = request_facts(body, tail, named)
        number = facts["number"]
        call = self.calls.get(number)
        if call is None:
            call = self.calls[number] = RecordedCall(number)
        if not self._is_owned(facts):
            return  # Its process had lost the run by then.
        self.marks.setdefault(facts["heard"], number)
        if not call.is_requested:  # Otherwise it stays what became of it.
            call.is_requested = True
            call.tool, call.tool_version, call.args_hash = name["tool"], name["tool_version"], args_hash_of(body) or ""
            call.named = named
            self._ordinary[named] = call

    def _add_event(self, event: ReceiptParts) -> None:
        if event.tool_call_id is not None:
            call = self.calls.get(call_number(event.tool_call_id))
            if call is not None:
                self._add_to_call(call, event)
        elif event.type == "run.started":
            self.header_hashes.append(event.payload.get("header_hash"))
        elif event.type == "run.resumed":
            self.fence += 1
            self.resumed_since += 1
            self.end = None
        else:
            self.end = event
            self.kept += kept_hashes(event.payload)
            self._add_mark(event.payload)

    def _add_to_call(self, call: RecordedCall, event: ReceiptParts) -> None:
        if event.type in ("tool.call.succeeded", "tool.call.reused"):
            call.results += (event.result_hash,)
            call.reused = event.payload.get("source_receipt", call.reused)
        elif event.type != "tool.call.started":
            call.refusals += (event,)
            if event.payload.get("decision") == "deny":
                call.denial = event.payload["message"]
        if not call.is_requested:
            return
        call.state = "started" if event.type == "tool.call.started" else "ended"
        if (event.tool, event.tool_version) != (call.tool, call.tool_version):
            # What ran is what counts: it may have been asked for again after its source had changed.
            call.tool, call.tool_version = str(event.tool), event.tool_version
            self._ordinary.pop(call.named, None)

    def _add_mark(self, facts: Mapping[str, Any]) -> None:
        mark = facts.get("heard")
        if mark is not None:
            self.left, self.resumed_since = mark, 0
            if self._is_owned(facts):
                self.marks.setdefault(mark, None)

    def _is_owned(self, facts: Mapping[str, Any]) -> bool:
        """Whether a receipt was written by the process that had the run by then."""
        fence = facts.get("fence", 1)
        if fence > self.fence:
            raise DamagedReceipt("a receipt of the run comes from a process that never took the run over")
        return bool(fence == self.fence)


def read_call_history(tail: Tail) -> CallHistory:
    """What the receipts of a run say, proven by the head. Raises DamagedReceipt if one is not what was written."""
    history = CallHistory()
    for body, at in tail.read():
        try:
            # Perhaps not what was written: should the log not lead to its seal, all this is dropped.
            history.add(body, at)
        except (ValueError, TypeError, LookupError, AttributeError):
            raise DamagedReceipt("a receipt of the run was changed: it is none") from None
    return history
