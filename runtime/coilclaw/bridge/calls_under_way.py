"""The calls of one run that are under way: between their `started` receipt and the receipt of their outcome."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.call_receipts import refused
from coilclaw.bridge.calls import Admitted, UnknownOutcome
from coilclaw.bridge.estop_watch import EstopWatch
from coilclaw.bridge.evidence_budget import prefix_facts
from coilclaw.receipts import Conflict, LogUnwritable
from coilclaw.sandbox import POLL_SECONDS, Cancelled, Crashed, RunEnded
from coilclaw.sdk import OperatorError

if TYPE_CHECKING:
    from coilclaw.bridge.call_receipts import CallReceipts
    from coilclaw.bridge.evidence_budget import EvidenceBudget
    from coilclaw.bridge.journal import Known
    from coilclaw.bridge.run_spec import RunSpec
    from coilclaw.bridge.services import Services
    from coilclaw.receipts import Draft, Row
    from coilclaw.trust import GuardedCall

__all__ = ["ABANDONED", "TAKEN_OVER", "TOO_LATE", "WITHDRAWN", "CallsUnderWay"]

_LONGEST_WRITE_SECONDS: Final = 5.0
TOO_LATE: Final = Refusal(code="abandoned", message="the run had ended; the tool was not called")
WITHDRAWN: Final = Refusal(code="withdrawn", message="the snippet gave this call up; the tool was not called")
ABANDONED: Final = Refusal(code="abandoned", message="the run ended first; what the tool did is unknown")
TAKEN_OVER: Final = Crashed(reason="another process has taken this run over", hint="`coilclaw receipt list` shows it")


class CallsUnderWay:
    """Starts and ends calls, so that each one that was started has exactly one outcome in the receipts."""

    def __init__(self, services: Services, run: RunSpec, receipts: CallReceipts, budget: EvidenceBudget) -> None:
        self._services = services
        self._deadline = run.deadline
        self._receipts = receipts
        self._budget = budget
        self._calls: dict[int, Admitted] = {}
        self._unhandled: set[int] = set()
        """Calls under way whose handlers have not started."""
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._writing = 0
        self._is_over = False
        self._is_suspending = False
        self.estop = EstopWatch(services.stop, run.caller.progress, run.deadline, self.tools)

    def __bool__(self) -> bool:
        return bool(self._calls)

    def get(self, number: int) -> Admitted | None:
        return self._calls.get(number)

    def tools(self) -> list[str]:
        return [admitted.tool.id for admitted in list(self._calls.values())]

    @property
    def is_over(self) -> bool:
        """Whether the run was closed, or its time is up."""
        return self._is_over or self._deadline.over

    def is_cancelled(self) -> bool:
        """Whether handlers should end what they are doing, because nobody waits for it any more."""
        return self.estop.reason is not None or self.is_over

    # Starting ----------------------------------------------------------------------------------------

    def start(self, admitted: Admitted) -> Admitted | Refusal | UnknownOutcome:
        """Reserve room for the result, then write `started`. Without room, no approval or window is used up.

        Raises Conflict if that was used elsewhere meanwhile, or if another process has taken the run over.
        """
        if admitted.before or admitted.rows:  # It waited for a person, perhaps for long.
            stopped = self.estop.refusal()
            if stopped is not None:
                return self._refuse(admitted, stopped)
        # A snippet does not wait for calls beside it: one that is begun waits for room when its turn comes.
        begun = not admitted.call.stops
        has_room = self._budget.hold(self._services.response_bytes, lambda: begun or self._deadline.over)
        if not has_room:
            if self._deadline.over:
                raise self._too_late(admitted)
            if not (begun and self._budget.is_contended):
                if admitted.repeats:
                    return UnknownOutcome(admitted.call)  # It may have run: "not called" would be a lie.
                return self._refuse(admitted, self._budget.refusal())
            admitted = admitted._replace(has_room=False)
        started: Admitted | Refusal | None = None
        try:
            started = self._enter(admitted)
            return started
        finally:
            if has_room and not isinstance(started, Admitted):
                self._budget.release(self._services.response_bytes)

    def _enter(self, admitted: Admitted) -> Admitted | Refusal:
        number, rows, contents = admitted.call.number, [*admitted.rows], admitted.contents
        if admitted.durable:
            rows += self._receipts.claim()
            guarded = self._guarded(admitted)
            if isinstance(guarded, Refusal):
                return self._refuse(admitted, guarded)
            if guarded is not None:
                admitted = admitted._replace(guarded=guarded)
                rows, contents = rows + guarded.rows, {**(contents or {}), **guarded.contents}
        self.estop.begin()
        with self._lock:
            late = self.is_over
            if not late:
                self._calls[number] = admitted
                self._unhandled.add(number)
                self._writing += 1
        if late:
            raise self._too_late(admitted)
        try:
            self._append(admitted, *admitted.before, admitted.draft, contents=contents, rows=rows)
        except BaseException:
            with self._lock:
                self._calls.pop(number, None)
                self._changed.notify_all()
            raise
        return admitted

    def _refuse(self, admitted: Admitted, refusal: Refusal) -> Refusal:
        return self._receipts.refuse(admitted.call, admitted.draft, refusal, admitted.unkept)

    def _too_late(self, admitted: Admitted) -> RunEnded:
        """Record that the run ended before this call started, and return the end of the run."""
        late_end = refused(admitted.draft, TOO_LATE, prefix_facts(admitted.unkept))
        self._services.log.append_relaxed(late_end, rows=self._receipts.claim())
        return RunEnded(self._deadline.outcome or Cancelled())

    def _guarded(self, admitted: Admitted) -> GuardedCall | Refusal | None:
        """Look at the tool files before a call that may change them; without that look it is not made."""
        if self._services.guard is None:
            return None
        try:
            guarded = self._services.guard.begin(admitted.call.id, admitted.draft)
        except OperatorError as error:
            return Refusal(code=error.code, message=f"not called: {error.message}", hint=error.hint)
        for content_hash, body in guarded.contents.items():
            self._budget.count(content_hash, len(body))
        return guarded

    def withdraw(self, number: int) -> None:
        """Give a call up; one whose handler has started ends as any other."""
        self._unhandled.discard(number)

    def handle(self, number: int) -> bool:
        """Note that the handler of a call starts now; False if the call was withdrawn before."""
        try:
            self._unhandled.remove(number)  # In one step, so that a call is either withdrawn or handled.
        except KeyError:
            return False
        return True

    # Ending ------------------------------------------------------------------------------------------

    def end(self, admitted: Admitted, outcome: Draft, known: Known, contents: Mapping[str, bytes] | None) -> None:
        """Write the outcome of a call, unless the run was closed first, which wrote one."""
        written, rows = admitted.guarded.settle() if admitted.guarded is not None else ((), ())
        if self._leave(admitted):
            journaled = self._receipts.answer_rows(admitted.call, known)
            try:
                self._append(admitted, outcome, *written, contents=contents, rows=[*journaled, *rows])
            except Conflict:
                raise RunEnded(TAKEN_OVER) from None
        elif rows:
            self._services.log.append(*written, rows=rows)

    def end_without_result(self, admitted: Admitted, refusal: Refusal) -> None:
        """Record a refusal for a call whose real outcome could not be written; ignore a log that cannot be written."""
        if self._leave(admitted):
            rows = self._receipts.refusal_rows(admitted.call, refusal)
            # If the log refuses now, the next call of the run meets the same and ends it.
            with suppress(LogUnwritable, Conflict):
                self._append(admitted, refused(admitted.draft, refusal), rows=rows)

    def _leave(self, admitted: Admitted) -> bool:
        """Take a call out, to write its end; False if `close` has done so."""
        with self._lock:
            was_there = self._calls.pop(admitted.call.number, None) is not None
            if was_there:
                self._writing += 1
            return was_there

    def _append(
        self, admitted: Admitted, *drafts: Draft, contents: Mapping[str, bytes] | None = None, rows: Sequence[Row] = ()
    ) -> None:
        """Write receipts of a call that counts as being written; `close` and `finish` wait for those."""
        try:
            append = self._services.log.append if admitted.durable else self._services.log.append_relaxed
            append(*drafts, contents=contents, rows=rows)
        finally:
            with self._lock:
                self._writing -= 1
                if self._is_over or self._is_suspending:
                    self._changed.notify_all()

    # The end of the run --------------------------------------------------------------------------------

    def finish(self) -> None:
        """Wait until the calls under way have ended and are recorded, or the run is over."""
        with self._lock:
            self._is_suspending = True
            while (self._calls or self._writing) and not self._deadline.over:
                self._changed.wait(POLL_SECONDS)  # Nobody says when the time is up.

    def close(self) -> None:
        """Give up the calls that are still under way, and record that."""
        with self._lock:
            self._is_over = True
            abandoned, self._calls = list(self._calls.values()), {}
            # What is being written just now comes before the end of the run.
            self._changed.wait_for(lambda: self._writing == 0, timeout=_LONGEST_WRITE_SECONDS)
        self.estop.end()
        self._receipts.looked()
        if abandoned:
            ends = [refused(admitted.draft, self.estop.given_up() or ABANDONED) for admitted in abandoned]
            with suppress(Conflict):  # Another process has the run by now, and decides what became of its calls.
                self._services.log.append(*ends, rows=self._receipts.claim())
