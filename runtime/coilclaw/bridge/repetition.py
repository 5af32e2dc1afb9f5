"""Running a snippet again from its journal, and going on where it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from pydantic_core import to_json

from coilclaw.bridge.admission import Divergence
from coilclaw.bridge.answers import success
from coilclaw.bridge.bridge import Bridge
from coilclaw.bridge.calls import PriorCall
from coilclaw.bridge.journal import Delivery, Known, Recorded
from coilclaw.receipts import ReceiptLog
from coilclaw.sandbox import RunClock, RunEnded, Suspended

__all__ = ["JournalEnded", "Repetition"]


class JournalEnded(RunEnded):
    """The run asks for more than its journal has, and is only to be looked at."""

    def __init__(self) -> None:
        super().__init__(Suspended())


class Repetition:
    """Stands between an engine and the bridge of a run that has begun before.

    While the journal lasts, it compares every call with what was asked then and gives the answers that
    were given then, at the same moments; nothing is executed. After that the bridge takes over.
    """

    def __init__(
        self,
        bridge: Bridge,
        recorded: Recorded,
        prior: Mapping[int, PriorCall],
        log: ReceiptLog,
        clock: RunClock,
        *,
        goes_on: bool = True,
    ) -> None:
        self._bridge = bridge
        self._recorded = recorded
        self._prior = prior
        self._log = log
        self._clock = clock
        self._goes_on = goes_on
        self._at = 0
        self._delivered = {number for each in recorded.deliveries for number in each.numbers}
        clock.repeating = bool(recorded.deliveries) or not goes_on

    def preflight(self, calls: bytes) -> bytes:
        return b"[]"  # It was answered when the run began.

    def call(self, tool: str, input: bytes, line: int) -> bytes:
        if self._ended():
            return self._bridge.call(tool, input, line)
        number = self._bridge.issue()
        self._compare(number, tool, input, line, stops=True)
        delivery = self._next()
        if not delivery.of_call or delivery.numbers != (number,):
            raise Divergence(number, "answered later", "waited for")
        return self._answer(number)

    def begin(self, tool: str, input: bytes, line: int) -> int:
        # A call may have been begun after the last delivery: whether it is known decides, not the journal's end.
        prior = self._peek()
        if prior is None:
            self._end()
            return self._bridge.begin(tool, input, line)
        known = self._recorded.answers.get(prior.number)
        if known is None:
            return self._bridge.begin(tool, input, line)  # Not answered then: asked again, or waited for.
        number = self._bridge.issue()
        self._compare(number, tool, input, line, stops=False)
        if number not in self._delivered:
            self._bridge.answer(number, self._answer(number))
        return number

    def wait(self, seconds: float | None) -> bytes:
        if self._ended():
            return self._bridge.wait(seconds)
        delivery = self._next()
        if delivery.of_call:
            raise Divergence(delivery.numbers[0], "waited for", "not waited for")
        return to_json([(number, self._answer(number).decode()) for number in delivery.numbers])

    def write(self, stream: int, text: str) -> None:
        self._bridge.write(stream, text)

    def _peek(self) -> PriorCall | None:
        return self._prior.get(self._bridge.issued + 1)

    def _ended(self) -> bool:
        if self._at < len(self._recorded.deliveries):
            return False
        self._end()
        return True

    def _end(self) -> None:
        if not self._goes_on:
            raise JournalEnded
        self._clock.repeating = False

    def _next(self) -> Delivery:
        delivery = self._recorded.deliveries[self._at]
        self._at += 1
        self._clock.repeat(delivery.clock)
        self._clock.repeating = self._at < len(self._recorded.deliveries) or not self._goes_on
        return delivery

    def _compare(self, number: int, tool: str, input: bytes, line: int, *, stops: bool) -> None:
        found = self._bridge.admission.identify(tool, input, line, number, stops=stops)
        prior = self._prior.get(number)
        if prior is None:
            raise Divergence(number, "not made", f"of {found.call.name}")
        version = found.call.tool.version if found.call.tool else None
        if prior.tool != found.call.name:
            raise Divergence(number, f"of {prior.tool}", f"of {found.call.name}")
        if prior.args_hash != found.args_hash:
            raise Divergence(number, f"with arguments {prior.args_hash[:12]}", f"with {found.args_hash[:12]}")
        if prior.tool_version != version:
            raise Divergence(number, f"of version {prior.tool_version}", f"of version {version}")

    def _answer(self, number: int) -> bytes:
        known = self._recorded.answers.get(number)
        if known is None:
            raise Divergence(number, "answered", "not in the journal")
        return self._told(known)

    def _told(self, known: Known) -> bytes:
        if known.failure is not None:
            return known.failure.encode()
        value = self._log.contents(str(known.result_hash))
        if value is None:
            self._lost(known.number)
        return success(value)

    def _lost(self, number: int) -> NoReturn:
        raise Divergence(number, "answered", "pruned: its result is no longer kept")
