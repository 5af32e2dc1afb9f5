"""The one path every call takes, from the moment it is issued to its receipts and its answer.

issued → resolve → stop → policy by tool → validate → record `requested` → secrets → rules about arguments → room
→ classify → policy → [approval] → record `started` → handler → bound, redact → record → answer

A snippet, `coilclaw tool run`, and whatever else runs tools come through here; there is no second way. What comes
before the handler is in `admission.py`.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Final

from pydantic_core import to_json

from coilclaw.bridge.admission import Admission, OutcomeUnknown, Rehearsed, RunFacts
from coilclaw.bridge.answers import TOO_MANY_ANSWERS, Refusal, failure, success
from coilclaw.bridge.approval_gate import Waiting
from coilclaw.bridge.call_receipts import bounded, following, refused
from coilclaw.bridge.calls import Admitted, Call
from coilclaw.bridge.estop_watch import EstopWatch
from coilclaw.bridge.evidence_budget import prefix_facts
from coilclaw.bridge.execution import crashed, execute
from coilclaw.bridge.journal import Journal, Known
from coilclaw.bridge.preflight import check_calls
from coilclaw.bridge.redaction import Redaction
from coilclaw.bridge.registry import Registry
from coilclaw.bridge.services import Services
from coilclaw.net import GuardedNetwork
from coilclaw.receipts import Conflict, Draft, LogUnwritable, Row, digest, now
from coilclaw.sandbox import POLL_SECONDS, Cancelled, Crashed, OutputExceeded, RunEnded, Suspended
from coilclaw.sdk import OperatorError, Tool, ToolContext
from coilclaw.sdk.errors import crash_of
from coilclaw.sdk.legible import text_of
from coilclaw.trust import GuardedCall

__all__ = ["Bridge"]

_logger = logging.getLogger(__name__)

_MOST_AT_ONCE: Final = 64
_MOST_PROGRESS: Final = 20
_MOST_ATTEMPTS: Final = 3
_MOST_UNDELIVERED_BYTES: Final = 16 * 1024 * 1024
_MOST_DELIVERED_BYTES: Final = 8 * 1024 * 1024
_LONGEST_WRITE_SECONDS: Final = 5.0
_TOO_LATE: Final = Refusal(code="abandoned", message="the run had ended; the tool was not called")
_ABANDONED: Final = Refusal(code="abandoned", message="the run ended first; what the tool did is unknown")
_TAKEN_OVER: Final = Crashed(reason="another process has taken this run over", hint="`coilclaw receipt list` shows it")


class Bridge:
    """The host's side of one run. Everything that reaches it came out of a sandbox and is checked here."""

    def __init__(
        self,
        services: Services,
        registry: Registry,
        run: RunFacts,
        *,
        journal: Journal | None = None,
    ) -> None:
        self._around = services
        self._registry = registry
        self._run = run
        self._deadline = run.deadline
        self._journal = journal
        self.issued = 0
        self.admission = Admission(
            services, registry, run, self._context, self._refusal_rows, journal.pins if journal else dict
        )
        self._written = 0
        self._output: list[str] = []
        self._answered = threading.Condition()
        self._answers: deque[tuple[int, bytes]] = deque()  # With a negative number: not what the call returned.
        self._under_way: dict[int, Admitted] = {}
        self._without_room: set[int] = set()
        self._waiting: dict[int, tuple[Waiting, Callable[[], None]]] = {}
        self._at_once = threading.Semaphore(_MOST_AT_ONCE)
        self._over = False
        self._suspending = False
        self._writing = 0
        self._undelivered = 0
        self._untouched = True
        self._stop = EstopWatch(services.stop, run.caller.progress, run.deadline, self._tools_under_way)
        self.unknown: Call | None = None
        """The call whose outcome nobody knows, if the run waits for a person to decide about it."""

    @property
    def unmet(self) -> set[str]:
        """Codes of refusals a person could lift: `approval_required`, `missing_secret`."""
        return self.admission.unmet

    @property
    def stopped(self) -> str | None:
        """Why the run was cancelled, if calls of it were under way when the operator stopped everything."""
        return self._stop.reason

    def _tools_under_way(self) -> list[str]:
        return [admitted.tool.id for admitted in list(self._under_way.values())]

    def issue(self) -> int:
        """The number of the next call."""
        self.issued += 1
        return self.issued

    # What the engine calls -------------------------------------------------------------------------

    def preflight(self, calls: bytes) -> bytes:
        """What is wrong with the calls visible in the source. Answered once, before anything has run."""
        first, self._untouched = self._untouched, False
        if not first or len(calls) > self._run.limits.source_bytes:
            return b"[]"  # A snippet that runs already could otherwise keep the host busy with this.
        return check_calls(calls, self._registry, self._around.policy, self._run.caller.channel)

    def call(self, tool: str, input: bytes, line: int) -> bytes:
        """One call from beginning to end."""
        self._deadline.end_if_over()
        self._untouched = False
        number = self.issue()
        self._journal_looks()
        while True:
            try:
                admitted = self._admit(tool, input, line, number, stops=True)
                break
            except Refusal as refusal:
                return failure(refusal)
            except Rehearsed as rehearsed:
                return success(rehearsed.value)
            except Waiting as waiting:
                if not self._run.caller.waits():
                    self._suspend()
                self.admission.asking.stay(waiting)
        answer = self._perform(admitted)
        self._stop.end_if_over()
        return answer

    def begin(self, tool: str, input: bytes, line: int) -> int:
        """Admit a call now, in the order of issue, and let it run beside the snippet."""
        self._deadline.end_if_over()
        self._untouched = False
        number = self.issue()
        self._journal_looks()
        self._begin(tool, input, line, number)
        return number

    def begin_again(self, number: int, tool: str, input: bytes, line: int) -> None:
        """Admit a call that was begun in another process, and had no answer there."""
        self._untouched = False
        self._begin(tool, input, line, number)

    def _begin(self, tool: str, input: bytes, line: int, number: int) -> None:
        try:
            admitted = self._admit(tool, input, line, number, stops=False)
        except Refusal as refusal:
            self.answer(number, failure(refusal))
            return
        except Rehearsed as rehearsed:
            self.answer(number, success(rehearsed.value))
            return
        except Waiting as waiting:
            self._waiting[number] = (waiting, lambda: self._begin(tool, input, line, number))
            return
        threading.Thread(target=self._perform_beside, args=(admitted,), name="coilclaw-call", daemon=True).start()

    def wait(self, seconds: float | None) -> bytes:
        """Every answer that has come for begun calls, after waiting for the first."""
        with self._answered, ExitStack() as standing_still:
            left, stood = seconds, False
            while not self._answers and not self._deadline.over and (left is None or left > 0):
                if self._waiting and (self._run.caller.waits() or (left is None and not self._under_way)):
                    self._look_for_decisions()
                    if self._answers:
                        break
                step = POLL_SECONDS if left is None else min(POLL_SECONDS, left)
                # The run's time stands still while it waits for nothing but people.
                stands = left is None and bool(self._waiting) and not self._under_way
                if stands and not stood:
                    standing_still.enter_context(self._deadline.paused())
                elif stood and not stands:
                    standing_still.close()
                stood = stands
                self._answered.wait(step)
                left = None if left is None else left - step
            answers: list[tuple[int, str]] = []
            numbers: list[int] = []
            size = 0
            while self._answers and size < _MOST_DELIVERED_BYTES:
                number, answer = self._answers.popleft()
                size += len(answer)
                numbers.append(number)
                answers.append((abs(number), answer.decode()))
            self._undelivered -= size
        self._stop.end_if_over()
        if self._journal is not None:
            if numbers:
                self._around.log.append_relaxed(rows=self._journal.wait_returns(numbers))
            else:
                self._journal.nothing_came(int((seconds or 0) * 1e9))
        return to_json(answers)

    def write(self, stream: int, text: str) -> None:
        """Output of the snippet, counted before it is kept."""
        if not text:
            return
        self._untouched = False
        self._written += len(text.encode())
        if self._written > self._run.limits.output_bytes:
            raise RunEnded(OutputExceeded(output_bytes=self._run.limits.output_bytes))
        if stream == 1:
            self._output.append(text)
        self._run.caller.show(stream, text)

    @property
    def stdout(self) -> str:
        return "".join(self._output)

    def close(self) -> None:
        """The run is over: calls still under way are given up, and their receipts say so."""
        with self._answered:
            self._over = True
            abandoned, self._under_way = list(self._under_way.values()), {}
            # What is being written just now comes before the end of the run.
            self._answered.wait_for(lambda: self._writing == 0, timeout=_LONGEST_WRITE_SECONDS)
        self._stop.end()
        self._journal_looks()
        if abandoned:
            ends = [refused(admitted.draft, self._stop.given_up() or _ABANDONED) for admitted in abandoned]
            with suppress(Conflict):  # Another process has the run by now, and decides what became of its calls.
                self._around.log.append(*ends, rows=self._hold())

    # Waiting for people ------------------------------------------------------------------------------

    def _suspend(self) -> None:
        """End the run to be resumed, once the calls beside it have ended and are written down."""
        with self._answered:
            self._suspending = True
            self._answered.wait_for(lambda: not (self._under_way or self._writing) or self._deadline.over)
        self._deadline.end_if_over()
        raise RunEnded(Suspended())

    def _look_for_decisions(self) -> None:
        """Go on with what was decided meanwhile, or end the run if it waits for nothing else. Called with the lock."""
        self._answered.release()
        try:
            if not self._run.caller.waits():
                self._suspend()
            for number, (waiting, again) in list(self._waiting.items()):
                if self.admission.asking.is_decided(waiting):
                    del self._waiting[number]
                    again()
        finally:
            self._answered.acquire()

    # Starting ----------------------------------------------------------------------------------------

    def _admit(self, tool: str, input: bytes, line: int, number: int, *, stops: bool) -> Admitted:
        """Leave to run the handler, with the `started` receipt written."""
        for _ in range(_MOST_ATTEMPTS):
            try:
                return self._start(self.admission.admit(tool, input, line, number, stops=stops))
            except OutcomeUnknown as unknown:
                self.unknown = unknown.call
                self._suspend()
            except Conflict:
                continue  # What allowed the call ran out, or was used elsewhere: it is decided again.
        # An approval is used up by one process, and a run belongs to one: this is not the one.
        raise RunEnded(_TAKEN_OVER)

    def _start(self, admitted: Admitted) -> Admitted:
        """Set room for its result aside and write its `started`: without room, nothing that allows it is used up."""
        if admitted.before or admitted.rows:  # It waited for a person, perhaps for long.
            stopped = self.admission.stopped()
            if stopped is not None:
                raise self.admission.refuse(admitted.call, admitted.draft, stopped, unkept=admitted.unkept)
        kept, most = self.admission.kept, self._around.response_bytes
        # A snippet does not wait for calls beside it: one that is begun waits for room when its turn comes.
        begun = not admitted.call.stops
        if not kept.hold(most, lambda: begun or self._deadline.over):
            if self._deadline.over:
                raise self._too_late(admitted)
            if begun and kept.is_contended:
                self._without_room.add(admitted.call.number)
                return self._enter(admitted)
            if self.admission.was_begun(admitted.call.number):
                raise OutcomeUnknown(admitted.call)  # It may have run: "not called" would be a lie. The run waits on.
            raise self.admission.refuse(admitted.call, admitted.draft, kept.refusal(), unkept=admitted.unkept)
        try:
            return self._enter(admitted)
        except BaseException:
            kept.release(most)
            raise

    def _enter(self, admitted: Admitted) -> Admitted:
        """Enter the call among those under way and write its `started`; too late once the run is over."""
        number = admitted.call.number
        guarded = self._guarded(admitted)
        self._stop.begin()
        with self._answered:
            late = self._over or self._deadline.over
            if not late:
                self._under_way[number] = admitted
                self._writing += 1
        if late:
            raise self._too_late(admitted)
        try:
            drafts = (*admitted.before, admitted.draft)
            rows, contents = list(admitted.rows), admitted.contents
            if admitted.durable:
                rows += self._hold()
            if guarded is not None:
                admitted = self._under_way[number] = admitted._replace(guarded=guarded)
                rows, contents = rows + guarded.rows, {**(contents or {}), **guarded.contents}
            self._append(admitted, *drafts, contents=contents, rows=rows)
        except BaseException:
            with self._answered:
                self._under_way.pop(number, None)
                self._answered.notify_all()
            raise
        return admitted

    def _too_late(self, admitted: Admitted) -> RunEnded:
        """The end of the run that came before the start of this call, which is written down as not made."""
        late_end = refused(admitted.draft, _TOO_LATE, prefix_facts(admitted.unkept))
        self._around.log.append_relaxed(late_end, rows=self._hold())
        return RunEnded(self._deadline.outcome or Cancelled())

    def _guarded(self, admitted: Admitted) -> GuardedCall | None:
        """Look at the tool files before a call that may change them; without that look it is not made."""
        guard = self._around.guard
        if guard is None or not admitted.durable:
            return None
        try:
            guarded = guard.begin(admitted.call.id, admitted.draft)
        except OperatorError as error:
            refusal = Refusal(code=error.code, message=f"not called: {error.message}", hint=error.hint)
            raise self.admission.refuse(admitted.call, admitted.draft, refusal, unkept=admitted.unkept) from None
        for content_hash, body in guarded.contents.items():
            self.admission.kept.count(content_hash, len(body))
        return guarded

    def _append(
        self, admitted: Admitted, *drafts: Draft, contents: Mapping[str, bytes] | None = None, rows: Sequence[Row] = ()
    ) -> None:
        """Write receipts of a call that counts as being written; `close` waits for those."""
        try:
            if admitted.durable:
                self._around.log.append(*drafts, contents=contents, rows=rows)
            else:
                self._around.log.append_relaxed(*drafts, contents=contents, rows=rows)
        finally:
            with self._answered:
                self._writing -= 1
                if self._over or self._suspending:
                    self._answered.notify_all()

    def _context(self, call: Call, tool: Tool, secrets: dict[str, str]) -> ToolContext:
        return ToolContext(
            workspace=self._around.workspace,
            tool_id=tool.id,
            run_id=self._run.run_id,
            call_id=call.id,
            session_id=self._run.conversation_id,
            idempotency_key=call.id,
            secrets=secrets,
            hosts=tool.hosts,
            bounds=self._around.bounds,
            settings=self._around.settings(tool.integration),
            time_left=lambda: self._deadline.remaining,
            is_cancelled=lambda: self._over or self._stop.reason is not None or self._deadline.over,
            report_progress=lambda message: self._progress(call, tool, message, Redaction(secrets)),
            note_written=lambda data: self._note_written(call, data),
            network=GuardedNetwork,
        )

    def _note_written(self, call: Call, data: bytes) -> None:
        if self._around.guard is not None:
            self._around.guard.note_written(call.id, data)

    def _progress(self, call: Call, tool: Tool, message: str, redaction: Redaction) -> None:
        """Shown to the person at once; the first few of a call also go into the receipts."""
        shown = bounded(redaction.text(text_of(message)))
        self._run.caller.progress(tool.id, shown)
        admitted = self._under_way.get(call.number)
        if admitted is not None and next(admitted.progress) < _MOST_PROGRESS:
            payload = {"message": shown}
            self._around.log.append_relaxed(following(admitted.draft, "tool.call.progress", "allowed", now(), payload))

    # Execution -----------------------------------------------------------------------------------------

    def _perform_beside(self, admitted: Admitted) -> None:
        try:
            with self._at_once:
                answer = self._perform(admitted)
        except BaseException as error:
            refusal = Refusal(code="evidence_unavailable", message=bounded(admitted.redaction.text(crash_of(error))))
            answer = failure(refusal)
            self._end_without_result(admitted, refusal)
        self.answer(admitted.call.number, answer)

    def _end_without_result(self, admitted: Admitted, refusal: Refusal) -> None:
        """Write the end of a call that could not be written as it was, unless the log is what refused it."""
        with self._answered:
            unwritten = self._under_way.pop(admitted.call.number, None) is not None
            if unwritten:
                self._writing += 1
            self._answered.notify_all()  # A run that is being suspended waits for it.
        if unwritten:
            rows = self._refusal_rows(admitted.call, refusal)
            # If the log refuses now, the next call of the run meets the same and ends it.
            with suppress(LogUnwritable, Conflict):
                self._append(admitted, refused(admitted.draft, refusal), rows=rows)

    def _perform(self, admitted: Admitted) -> bytes:
        """Execute a call that has started, and give back the room that was set aside for its result."""
        kept, most = self.admission.kept, self._around.response_bytes
        waits = admitted.call.number in self._without_room
        held = not waits or kept.hold(most, lambda: self._over or self._deadline.over)
        try:
            return self._execute(admitted, None if held else kept.refusal())
        finally:
            if held:
                kept.release(most)

    def _execute(self, admitted: Admitted, no_room: Refusal | None) -> bytes:
        """Run the handler, judge what it returned, and write down how it ended."""
        if admitted.call.number not in self._under_way:
            return failure(_ABANDONED)  # Its turn came after the run had ended.
        contents: dict[str, bytes] | None = None
        number = admitted.call.number
        try:
            if no_room is not None:
                raise no_room
            value = self._handle(admitted)
            result_hash = digest(value)
            self.admission.kept.count(result_hash, len(value))
            contents = {result_hash: value}
            ended = following(admitted.draft, "tool.call.succeeded", "allowed", now(), {}, result_hash)
            answer = success(value)
            known = Known(number, result_hash, None)
        except BaseException as error:
            refusal = error if isinstance(error, Refusal) else crashed(admitted, error)
            ended = refused(admitted.draft, refusal)
            answer = failure(refusal)
            known = Known(number, None, answer.decode())
        written, rows = admitted.guarded.settle() if admitted.guarded else ((), ())
        with self._answered:
            late = self._under_way.pop(number, None) is None
            if not late:
                self._writing += 1
        if not late:
            journaled = self._answer_rows(admitted.call, known)
            try:
                self._append(admitted, ended, *written, contents=contents, rows=[*journaled, *rows])
            except Conflict:
                raise RunEnded(_TAKEN_OVER) from None
        elif rows:  # `close` has written the end of this call already.
            self._around.log.append(*written, rows=rows)
        return answer

    def _answer_rows(self, call: Call, known: Known) -> list[Row]:
        if self._journal is None:
            return []
        return [self._journal.call_returns(known) if call.stops else self._journal.answer(known)]

    def _refusal_rows(self, call: Call, refusal: Refusal) -> list[Row]:
        return self._answer_rows(call, Known(call.number, None, failure(refusal).decode()))

    def _hold(self) -> list[Row]:
        return [] if self._journal is None else [self._journal.hold()]

    def _journal_looks(self) -> None:
        if self._journal is not None and (rows := self._journal.looked()):
            self._around.log.append_relaxed(rows=rows)

    def _handle(self, admitted: Admitted) -> bytes:
        # Calls beside the snippet wait for their turn, and all others for the disk: much may have happened since.
        stopped = self.admission.stopped()
        if stopped is not None:
            raise stopped
        if self._deadline.cancelled:
            raise replace(_TOO_LATE)
        return execute(admitted, self._around, self._deadline, self._stop.given_up)

    def answer(self, number: int, answer: bytes) -> None:
        """The answer of a begun call is there to be delivered."""
        with self._answered:
            if self._undelivered + len(answer) > _MOST_UNDELIVERED_BYTES:
                number, answer = -number, TOO_MANY_ANSWERS
            self._undelivered += len(answer)
            self._answers.append((number, answer))
            self._answered.notify_all()
