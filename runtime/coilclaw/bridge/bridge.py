"""The bridge: the host's side of one run, and the one path of every call.

A snippet, `coilclaw tool run`, and whatever else runs tools come through here; there is no second way. A call is
admitted (`admission.py`), which ends with its `started` receipt, and executed (`execution.py`), which ends with the
receipt of its outcome.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from coilclaw.bridge.admission import Admission
from coilclaw.bridge.answer_queue import AnswerQueue
from coilclaw.bridge.answers import Refusal, failure, success
from coilclaw.bridge.approval_gate import Pending
from coilclaw.bridge.call_receipts import CallReceipts
from coilclaw.bridge.calls import Admitted, Answered, UnknownOutcome
from coilclaw.bridge.calls_under_way import CallsUnderWay
from coilclaw.bridge.evidence_budget import EvidenceBudget
from coilclaw.bridge.execution import Execution
from coilclaw.bridge.identified_call import identify
from coilclaw.bridge.preflight import check_calls
from coilclaw.bridge.transcript import Transcript
from coilclaw.sandbox import POLL_SECONDS, RunEnded, Suspended
from coilclaw.sdk.legible import text_of
from coilclaw.sdk.quick_json import to_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from coilclaw.bridge.calls import Call
    from coilclaw.bridge.identified_call import Identity
    from coilclaw.bridge.journal import Journal
    from coilclaw.bridge.run_spec import RunSpec
    from coilclaw.bridge.services import Services
    from coilclaw.sandbox import Host, Outcome

__all__ = ["Bridge"]

_MOST_AT_ONCE: Final = 64
_LONGEST_TASKS: Final = 200


class Bridge:
    """The host's side of one run. Everything that reaches it came out of a sandbox and is checked here."""

    def __init__(self, services: Services, run: RunSpec, *, journal: Journal | None = None) -> None:
        self._services = services
        self.run = run
        self._deadline = run.deadline
        self._receipts = CallReceipts(services.log, run, journal)
        self.budget = EvidenceBudget(run.limits.kept_bytes, run.kept)
        self._under_way = CallsUnderWay(services, run, self._receipts, self.budget)
        self._admission = Admission(services, run, self._receipts, self.budget, self._under_way)
        self._execution = Execution(services, run, self.budget, self._under_way)
        self.answers = AnswerQueue()
        self._pending: dict[int, tuple[Pending, tuple[str, bytes, int]]] = {}
        """Begun calls that wait for a person, each with its tool, input and line."""
        self.unread: set[int] = set()
        """Begun calls whose answers the sandbox has not taken."""
        self._at_once = threading.Semaphore(_MOST_AT_ONCE)
        self.transcript = Transcript(run.limits.output_bytes, run.caller)
        self._untouched = True
        self.issued = 0
        self.lingering: str | None = None
        """The tasks that had not ended when the source had run."""
        self.unknown: Call | None = None
        """The call of unknown outcome that the run is suspended for."""

    @property
    def unmet(self) -> set[str]:
        """Codes of refusals a person could lift: `approval_required`, `missing_secret`."""
        return self._admission.unmet

    @property
    def stopped(self) -> str | None:
        """Why the run was cancelled, if calls were under way when the emergency stop was set."""
        return self._under_way.estop.reason

    # What the engine calls -------------------------------------------------------------------------------

    def preflight(self, calls: bytes) -> bytes:
        """Return the problems in the calls visible in the source. Works once, before anything has run."""
        first, self._untouched = self._untouched, False
        if not first or len(calls) > self.run.limits.source_bytes:
            return b"[]"  # A snippet that runs already could otherwise keep the host busy with this.
        return check_calls(calls, self.run.registry, self._services.policy, self.run.caller.channel)

    def call(self, tool: str, input: bytes, line: int) -> bytes:
        """Make a call, from its admission to its answer."""
        number = self._next()
        while True:
            admitted = self._admit(tool, input, line, number, stops=True)
            if isinstance(admitted, bytes):
                return admitted
            if isinstance(admitted, Admitted):
                break
            if not self.run.caller.waits():
                raise self._suspended()
            self._admission.gate.wait(admitted)
        answer = self._execution.perform(admitted)
        self._under_way.estop.end_if_over()
        return answer

    def begin(self, tool: str, input: bytes, line: int) -> int:
        """Admit a call now, in the order of issue, and let it run beside the snippet."""
        number = self._next()
        self.unread.add(number)
        self._begin(tool, input, line, number)
        return number

    def begin_again(self, number: int, tool: str, input: bytes, line: int, *, withdrawn: bool) -> None:
        """Admit a call that was begun in another process, and had no answer there; or withdraw it, as was done then."""
        self._untouched = False
        if withdrawn and self.run.prior[number].state == "requested":
            self.answers.put(number, failure(self._admission.withdraw(tool, input, line, number)))
        else:
            self._begin(tool, input, line, number)

    def wait(self, seconds: float | None) -> bytes:
        """Return every answer that has come for begun calls, after waiting for the first."""
        left, stood = seconds, False
        with ExitStack() as standing_still:
            while not self.answers and not self._deadline.over and (left is None or left > 0):
                if self._pending and (self.run.caller.waits() or (left is None and not self._under_way)):
                    self._continue_decided()
                step = POLL_SECONDS if left is None else min(POLL_SECONDS, left)
                # The run's time stands still while it waits for nothing but people.
                stands = left is None and bool(self._pending) and not self._under_way
                if stands and not stood:
                    standing_still.enter_context(self._deadline.paused())
                elif stood and not stands:
                    standing_still.close()
                stood = stands
                self.answers.wait(step)
                left = None if left is None else left - step
            taken = self.answers.take()
        self._under_way.estop.end_if_over()
        self._receipts.delivered([number for number, _ in taken], int((seconds or 0) * 1e9))
        self.unread.difference_update(abs(number) for number, _ in taken)
        return to_json([(abs(number), answer.decode()) for number, answer in taken])

    def withdraw(self, number: int) -> None:
        """Take back a begun call that the snippet has given up, unless its handler has started."""
        if number in self._pending:
            _, call = self._pending.pop(number)
            self._receipts.looked()
            self.answers.put(number, failure(self._admission.withdraw(*call, number)))
        else:
            self._under_way.withdraw(number)

    def linger(self, tasks: str) -> None:
        """Note the tasks that the run waits for once the source has run."""
        self.lingering = text_of(tasks, _LONGEST_TASKS)

    def write(self, stream: int, text: str) -> None:
        """Accept output of the snippet. Raises RunEnded beyond the output limit."""
        if text:
            self._untouched = False
            self.transcript.write(stream, text)

    def ended(self, host: Host, execute: Callable[[], Outcome]) -> Outcome:
        """Execute a snippet whose calls reach `host`, and end the calls that its sandbox leaves."""
        outcome = execute()
        if not self.unread:
            return outcome
        from coilclaw.bridge.left_calls import end_left_calls

        try:
            return end_left_calls(host, self.unread, outcome)
        except RunEnded as ended:
            return ended.outcome

    # Used by ReplayHost -------------------------------------------------------------

    def issue(self) -> int:
        """Count a call, and return its number."""
        self.issued += 1
        return self.issued

    def identify(self, tool: str, input: bytes, line: int, number: int, *, stops: bool) -> Identity:
        """Resolve a call's tool and arguments without making the call."""
        return identify(self._services, self.run, tool, input, line, number, stops=stops)

    def close(self) -> None:
        """End the run: calls still under way are given up, and their receipts say so."""
        self._under_way.close()

    # The path of a call --------------------------------------------------------------------------------------

    def _next(self) -> int:
        """The number of the call that the snippet makes now."""
        self._deadline.end_if_over()
        if self.run.caller.leaves():
            raise self._suspended()
        self._untouched = False
        self._receipts.looked()
        return self.issue()

    def _admit(self, tool: str, input: bytes, line: int, number: int, *, stops: bool) -> Admitted | Pending | bytes:
        """Admit a call: it may run now, its approval is pending, or it has its answer already."""
        match self._admission.admit(tool, input, line, number, stops=stops):
            case Admitted() | Pending() as admitted:
                return admitted
            case Refusal() as refusal:
                return failure(refusal)
            case Answered(value, plan):
                return success(value, plan)
            case UnknownOutcome(call):
                self.unknown = call
                raise self._suspended()

    def _begin(self, tool: str, input: bytes, line: int, number: int) -> None:
        match self._admit(tool, input, line, number, stops=False):
            case Admitted() as admitted:
                name = "coilclaw-call"
                threading.Thread(target=self._perform_beside, args=(admitted,), name=name, daemon=True).start()
            case Pending() as pending:
                self._pending[number] = (pending, (tool, input, line))
            case answer:
                self.answers.put(number, answer)

    def _perform_beside(self, admitted: Admitted) -> None:
        with self._at_once:
            answer = self._execution.perform_beside(admitted)
        self.answers.put(admitted.call.number, answer)

    def _suspended(self) -> RunEnded:
        """The end of a run that is to be resumed, once the calls under way have ended and are recorded."""
        self._under_way.finish()
        self._deadline.end_if_over()
        return RunEnded(Suspended())

    def _continue_decided(self) -> None:
        """Admit pending calls that have been decided since; suspend the run if the caller does not wait."""
        if not self.run.caller.waits():
            raise self._suspended()
        for number, (pending, call) in list(self._pending.items()):
            if self._admission.gate.is_decided(pending):
                del self._pending[number]
                self._begin(*call, number)
