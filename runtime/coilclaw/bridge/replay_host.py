"""Replay a run from its journal, and continue it where the journal ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from coilclaw.bridge.answers import TOO_MANY_ANSWERS, success
from coilclaw.bridge.bridge import Bridge
from coilclaw.bridge.identified_call import Divergence, call_difference
from coilclaw.bridge.journal import Delivery, Recorded
from coilclaw.bridge.prior_calls import PriorCall
from coilclaw.receipts import DamagedReceipt, digest
from coilclaw.sandbox import (
    Completed,
    Diverged,
    Failed,
    Outcome,
    OutOfMemory,
    OutputExceeded,
    Rejected,
    RunClock,
    RunEnded,
    Suspended,
)
from coilclaw.sdk.quick_json import to_json

__all__ = ["JournalEnded", "ReplayHost"]

_MOST_AHEAD: Final = 1024
_BYTES_AHEAD: Final = 256 * 1024
_BY_ITSELF: Final = (Completed, Failed, OutOfMemory, OutputExceeded, Rejected)
"""Outcomes of a snippet that ran to its end: nobody suspended it, cancelled it or cut it off."""


class JournalEnded(RunEnded):
    """A replay has reached the end of its journal."""

    def __init__(self) -> None:
        super().__init__(Suspended())


class _Answers:
    """The recorded answers of a run, read ahead as far as they are small.

    Reading many in a row takes a fraction of the time: a sandbox that ran in between has emptied the caches.
    """

    def __init__(self, recorded: Recorded, plan_of: Callable[[int], str]) -> None:
        self._recorded = recorded
        self._plan_of = plan_of
        self._numbers = [number for each in recorded.deliveries for number in each.numbers if number > 0]
        self._at = 0
        self._ready: dict[int, bytes] = {}

    def of(self, number: int) -> bytes:
        """Raises Divergence if it is no longer known."""
        if number < 0:
            return TOO_MANY_ANSWERS
        answer = self._ready.pop(number, None)
        if answer is None:
            self._make_ready(number)
            answer = self._ready.pop(number, None)
        if answer is None:
            raise Divergence(number, "answered", "pruned: its result is no longer kept")
        return answer

    def _make_ready(self, number: int) -> None:
        """Read this answer and, if it is the next to be delivered, also those that follow."""
        if number not in self._recorded.answers:
            raise Divergence(number, "answered", "not in the journal")
        ahead = self._numbers[self._at : self._at + _MOST_AHEAD]
        if ahead[:1] == [number]:
            try:
                self._at += self._read(ahead)
                return
            except DamagedReceipt:
                self._at += 1  # It may be one that is needed later, or never.
        try:
            self._read([number])
        except DamagedReceipt:
            raise Divergence(number, "answered", "not to be known: its result was changed in the store") from None

    def _read(self, numbers: Sequence[int]) -> int:
        """Read at least one answer, and more while they stay small; return how many were read."""
        known = [self._recorded.answers[number] for number in numbers]
        hashes = [each.result_hash for each in known if each.failure is None]
        results = iter(self._recorded.results(hashes, _BYTES_AHEAD))
        for count, (number, _, failure) in enumerate(known):
            if failure is not None:
                self._ready[number] = failure.encode()
                continue
            try:
                value = next(results)
            except StopIteration:
                return count  # Never the first: one result is read, however large it is.
            if value is not None:
                self._ready[number] = success(value, self._plan_of(number))
        return len(known)


class ReplayHost:
    """Stands between an engine and the bridge of a run that has begun before.

    It compares every call with what was asked then and gives the answers that were given then, at the same
    moments; nothing is executed. Only when everything the receipts and the journal know of has been repeated,
    the calls that had no answer yet are begun again, and the bridge takes over.
    """

    def __init__(
        self,
        bridge: Bridge,
        recorded: Recorded,
        prior: Mapping[int, PriorCall],
        clock: RunClock,
        *,
        goes_on: bool = True,
    ) -> None:
        self._bridge = bridge
        self._answers = recorded.answers
        self._deliveries = recorded.deliveries
        self._prior = prior
        self._last = max(prior, default=0)
        self._told = _Answers(recorded, self._plan_of)
        self._clock = clock
        self._goes_on = goes_on
        self._at = 0
        self._looks = 0
        self._over = False
        self._delivered = {abs(number) for each in recorded.deliveries for number in each.numbers}
        self._unanswered: list[tuple[int, str, bytes, int]] = []
        self._withdrawn: set[int] = set()
        clock.repeating = True
        self._untouched = not prior and not recorded.deliveries
        self._go_on_at_the_end()

    def preflight(self, calls: bytes) -> bytes:
        # Answered when the run began, unless it came to nothing at all then.
        return self._bridge.preflight(calls) if self._untouched and self._goes_on else b"[]"

    def call(self, tool: str, input: bytes, line: int) -> bytes:
        if self._over:
            return self._live().call(tool, input, line)
        number = self._bridge.issued + 1
        if self._at == len(self._deliveries):
            return self._call_without_answer(number, tool, input, line)
        self._compare(number, tool, input, line, stops=True, answered=True)
        delivery = self._deliveries[self._at]
        if delivery.looks:
            raise Divergence(number, "made after a look for answers", "made before it")
        if not delivery.of_call or delivery.numbers != (number,):
            raise Divergence(number, "answered later", "waited for")
        self._at += 1
        self._clock.repeat(delivery.clock)
        self._bridge.issue()
        answer = self._told.of(number)
        self._go_on_at_the_end()
        return answer

    def begin(self, tool: str, input: bytes, line: int) -> int:
        if self._over:
            return self._live().begin(tool, input, line)
        number = self._bridge.issued + 1
        answered = number in self._answers
        self._compare(number, tool, input, line, stops=False, answered=answered)
        self._bridge.unread.add(self._bridge.issue())
        if not answered:
            self._unanswered.append((number, tool, input, line))
        elif number not in self._delivered:
            self._bridge.answers.put(number, self._told.of(number))
        self._go_on_at_the_end()
        return number

    def wait(self, seconds: float | None) -> bytes:
        if self._over:
            return self._live().wait(seconds)
        if self._at == len(self._deliveries):
            raise Divergence(self._bridge.issued + 1, "made", "not made")
        delivery = self._deliveries[self._at]
        if delivery.looks:
            return self._look(delivery, seconds)
        self._at += 1
        self._clock.repeat(delivery.clock)
        if delivery.of_call:
            raise Divergence(delivery.numbers[0], "waited for", "not waited for")
        if any(abs(number) > self._bridge.issued for number in delivery.numbers):
            raise Divergence(self._bridge.issued + 1, "made", "not made")
        told = [(abs(number), self._told.of(number).decode()) for number in delivery.numbers]
        self._bridge.unread.difference_update(number for number, _ in told)
        self._go_on_at_the_end()
        return to_json(told)

    def withdraw(self, number: int) -> None:
        if self._over and self._goes_on:
            self._bridge.withdraw(number)
        else:
            self._withdrawn.add(number)

    def linger(self, tasks: str) -> None:
        self._bridge.linger(tasks)

    def write(self, stream: int, text: str) -> None:
        self._bridge.write(stream, text)

    def judged(self, outcome: Outcome) -> Outcome:
        """Return the outcome, or `Diverged` if the snippet ended before it repeated everything recorded."""
        if self._over or not isinstance(outcome, _BY_ITSELF):
            return outcome
        ended = Divergence(self._bridge.issued + 1, "made, or an answer read,", "not reached").outcome
        assert isinstance(ended, Diverged)
        return ended

    def _call_without_answer(self, number: int, tool: str, input: bytes, line: int) -> bytes:
        """The journal is used up: continue live if this is the call that the run was suspended at."""
        self._compare(number, tool, input, line, stops=True, answered=False)
        if number < self._last:
            raise Divergence(number, "not waited for", "waited for")
        self._live()
        self._go_on()
        return self._bridge.call(tool, input, line)

    def _look(self, delivery: Delivery, seconds: float | None) -> bytes:
        if seconds is None:
            raise Divergence(self._bridge.issued, "looked for", "waited for")
        self._looks += 1
        self._clock.pass_by(int(seconds * 1e9))
        if self._looks == delivery.looks:
            self._looks = 0
            self._at += 1
            self._go_on_at_the_end()
        return b"[]"

    def _plan_of(self, number: int) -> str:
        """The plan of a call's answer, which goes with its tool: another version of that diverges."""
        prior = self._prior.get(number)
        tool = None if prior is None else self._bridge.run.registry.tools.get(prior.tool)
        return "" if tool is None else tool.output_plan

    def _live(self) -> Bridge:
        if not self._goes_on:
            raise JournalEnded
        return self._bridge

    def _go_on_at_the_end(self) -> None:
        if self._at == len(self._deliveries) and self._bridge.issued >= self._last:
            self._go_on()

    def _go_on(self) -> None:
        """Switch from replay to the live bridge, and begin unanswered calls again."""
        self._over = True
        if not self._goes_on:
            return
        self._clock.repeating = False
        unanswered, self._unanswered = self._unanswered, []
        for number, tool, input, line in unanswered:
            self._bridge.begin_again(number, tool, input, line, withdrawn=number in self._withdrawn)

    def _compare(self, number: int, tool: str, input: bytes, line: int, *, stops: bool, answered: bool) -> None:
        prior, named = self._prior.get(number), self._bridge.run.registry.resolve(tool)
        # Mostly it is as it was, and sure to be if its arguments are, which are canonical if they were then.
        if (
            prior is not None
            and named is not None
            and (prior.tool, prior.tool_version) == (named.id, named.version)
            and digest(input) == prior.args_hash
        ):
            return
        found = self._bridge.identify(tool, input, line, number, stops=stops)
        # Without an answer it is admitted again, which knows what another version means then.
        if other := call_difference(prior, found, version=answered):
            raise Divergence(number, other.then, other.now)
