"""The one path every call takes, from the moment it is issued to its receipts and its answer.

issued → resolve → validate → classify → decide → [ask] → record → handler → bound, redact → record → answer

A snippet, `coilclaw tool run`, and whatever else runs tools come through here; there is no second way.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from pydantic_core import to_json

from coilclaw.bridge.answers import Refusal, failure, success
from coilclaw.bridge.arguments import bind, validate
from coilclaw.bridge.calls import Admitted, Call
from coilclaw.bridge.invocation import BadOutput, invoke, invoke_async, serialised
from coilclaw.bridge.preflight import check_calls
from coilclaw.bridge.redaction import NOTHING_SECRET, Redaction
from coilclaw.bridge.registry import Registry
from coilclaw.bridge.surroundings import Surroundings
from coilclaw.bridge.trail import bounded, following, refused
from coilclaw.policy import Answer, Question, classify
from coilclaw.receipts import Draft, Row, digest, now
from coilclaw.sandbox import (
    POLL_SECONDS,
    Abandoned,
    Cancelled,
    Deadline,
    Failed,
    Limits,
    OutputExceeded,
    RunEnded,
    SnippetError,
)
from coilclaw.sdk import Decision, Forbid, OperatorError, Risk, Tool, ToolContext, ToolFailure

__all__ = ["Bridge"]

_logger = logging.getLogger(__name__)

_LONGEST_NAME: Final = 200
_MOST_AT_ONCE: Final = 64
_MOST_PROGRESS: Final = 20
_MOST_UNDELIVERED_BYTES: Final = 16 * 1024 * 1024
_MOST_DELIVERED_BYTES: Final = 8 * 1024 * 1024
_LONGEST_WRITE_SECONDS: Final = 5.0
_TOO_LATE: Final = Refusal(code="abandoned", message="the run had ended; the tool was not called")
_TOO_MANY_ANSWERS: Final = Refusal(
    code="output_too_large",
    message="too many answers wait to be read; the call itself was made",
    hint="read the results of calls before starting more",
)
_ABANDONED: Final = Refusal(code="abandoned", message="the run ended first; what the tool did is unknown")


class Bridge:
    """The host's side of one run. Everything that reaches it came out of a sandbox and is checked here."""

    def __init__(
        self,
        surroundings: Surroundings,
        registry: Registry,
        *,
        run_id: str,
        conversation_id: str | None,
        limits: Limits,
        deadline: Deadline,
        show: Callable[[int, str], None] = lambda stream, text: None,
    ) -> None:
        self._around = surroundings
        self._registry = registry
        self._run_id = run_id
        self._conversation_id = conversation_id
        self._limits = limits
        self._deadline = deadline
        self._show = show
        self._numbers = itertools.count(1)
        self._written = 0
        self._output: list[str] = []
        self._answered = threading.Condition()
        self._answers: deque[tuple[int, bytes]] = deque()
        self._under_way: dict[int, Admitted] = {}
        self._at_once = threading.Semaphore(_MOST_AT_ONCE)
        self._over = False
        self._writing = 0
        self._undelivered = 0
        self._untouched = True
        self.unmet: set[str] = set()
        """Codes of refusals a person could lift: `approval_required`, `missing_secret`."""

    # What the engine calls -------------------------------------------------------------------------

    def preflight(self, calls: bytes) -> bytes:
        """What is wrong with the calls visible in the source. Answered once, before anything has run."""
        first, self._untouched = self._untouched, False
        if not first or len(calls) > self._limits.source_bytes:
            return b"[]"  # A snippet that runs already could otherwise keep the host busy with this.
        return check_calls(calls, self._registry, self._around.policy)

    def call(self, tool: str, input: bytes, line: int) -> bytes:
        """One call from beginning to end."""
        try:
            admitted = self._admit(tool, input, line, next(self._numbers))
        except Refusal as refusal:
            return failure(refusal)
        answer = self._perform(admitted)
        self._deadline.end_if_over()
        return answer

    def begin(self, tool: str, input: bytes, line: int) -> int:
        """Admit a call now, in the order of issue, and let it run beside the snippet."""
        number = next(self._numbers)
        try:
            admitted = self._admit(tool, input, line, number)
        except Refusal as refusal:
            self._answer(number, failure(refusal))
            return number
        threading.Thread(target=self._perform_beside, args=(admitted,), name="coilclaw-call", daemon=True).start()
        return number

    def wait(self, seconds: float | None) -> bytes:
        """Every answer that has come for begun calls, after waiting for the first."""
        with self._answered:
            left = seconds
            while not self._answers and not self._deadline.over and (left is None or left > 0):
                step = POLL_SECONDS if left is None else min(POLL_SECONDS, left)
                self._answered.wait(step)
                left = None if left is None else left - step
            answers: list[tuple[int, str]] = []
            size = 0
            while self._answers and size < _MOST_DELIVERED_BYTES:
                number, answer = self._answers.popleft()
                size += len(answer)
                answers.append((number, answer.decode()))
            self._undelivered -= size
        self._deadline.end_if_over()
        return to_json(answers)

    def write(self, stream: int, text: str) -> None:
        """Output of the snippet, counted before it is kept."""
        if not text:
            return
        self._untouched = False
        self._written += len(text.encode())
        if self._written > self._limits.output_bytes:
            raise RunEnded(OutputExceeded(output_bytes=self._limits.output_bytes))
        if stream == 1:
            self._output.append(text)
        self._show(stream, text)

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
        if abandoned:
            self._around.log.append(*(refused(admitted.draft, _ABANDONED) for admitted in abandoned))

    # Admission ---------------------------------------------------------------------------------------

    def _admit(self, name: str, sent: bytes, line: int, number: int) -> Admitted:
        """Everything that comes before the handler. Raises `Refusal` with its receipts already written."""
        self._deadline.end_if_over()
        self._untouched = False
        shown = name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"
        tool = self._registry.resolve(name)
        call = Call(
            number, f"call-{self._run_id.removeprefix('run-')}-{number}", tool.id if tool else shown, line, tool
        )
        if number > self._limits.calls:
            self._exceed(call)
        secrets, missing = self._secrets(tool) if tool else ({}, None)
        redaction = Redaction(secrets) if secrets else NOTHING_SECRET
        arguments, input = b"", None
        problem: Refusal | None = None
        try:
            arguments = bind(tool, sent)
            if tool is None:
                hint = self._registry.suggestion(name)
                raise Refusal(code="unknown_tool", message=f"tools.{shown} does not exist", hint=hint, denied=True)
            input = validate(tool, arguments)
        except Refusal as refusal:
            problem = refusal
        # From here on the attempt is in the log, whatever the tool's own code does when it is asked about the call.
        kept = redaction.json(arguments)
        requested = self._requested(call, kept, tool.risk if tool else None)
        self._around.log.append_relaxed(requested, contents={str(requested.args_hash): kept})
        if problem is not None or tool is None:
            raise self._refusal(requested, problem or _ABANDONED)
        if missing:
            self.unmet.add("missing_secret")
            raise self._refusal(requested, missing)
        context = self._context(call, tool, secrets)
        return self._decide(Admitted(call, tool, input, context, redaction, requested, True, itertools.count()), kept)

    def _decide(self, asked: Admitted, arguments: bytes) -> Admitted:
        """Classify, ask policy, perhaps ask a person, and write `started`."""
        tool, requested = asked.tool, asked.draft
        classified = self._classify(asked)
        verdict = self._around.policy.decide(tool, classified)
        risk = tool.risk if isinstance(classified, Forbid) else classified
        requested = requested._replace(risk=risk.value) if risk is not tool.risk else requested
        reason = asked.redaction.text(verdict.reason)
        if verdict.decision is Decision.DENY:
            hint = "ask the operator to change the policy, or do without this call"
            raise self._refusal(requested, Refusal(code="denied", message=reason, hint=hint, denied=True))
        if verdict.decision is Decision.ASK:
            self._around.log.flush()  # The question is on disk before it is put.
            approved = self._ask(asked.call, tool, risk, reason, arguments, requested)
            started = following(requested, "tool.call.started", "allowed", now(), {})
            return self._start(asked._replace(draft=started), approved, started)
        started = following(requested, "tool.call.started", "allowed", now(), {})
        return self._start(asked._replace(draft=started, durable=risk is not Risk.READ), started)

    def _classify(self, asked: Admitted) -> Risk | Forbid:
        tool = asked.tool
        if tool.classify is None:
            return tool.risk
        timeout = min(self._around.tool_seconds, self._deadline.remaining)
        try:
            opinion: Risk | Forbid = self._around.handlers.run(
                f"{tool.version} classify", lambda: classify(tool, asked.input, asked.context), timeout, self._deadline
            )
        except Abandoned:
            return Forbid(reason="the tool did not classify this call in time")
        return opinion

    def _start(self, admitted: Admitted, *drafts: Draft) -> Admitted:
        """Enter the call among those under way and write its `started`; too late once the run is over."""
        with self._answered:
            late = self._over or self._deadline.over
            if not late:
                self._under_way[admitted.call.number] = admitted
                self._writing += 1
        if late:
            self._around.log.append_relaxed(refused(admitted.draft, _TOO_LATE))
            raise RunEnded(self._deadline.outcome or Cancelled())
        try:
            if admitted.durable and self._around.guard is not None:
                guarded = self._around.guard.begin(admitted.call.id, admitted.draft)
                admitted = admitted._replace(guarded=guarded)
                self._under_way[admitted.call.number] = admitted
                self._append(admitted, *drafts, contents=guarded.contents, rows=guarded.rows)
            else:
                self._append(admitted, *drafts)
        except BaseException:
            self._under_way.pop(admitted.call.number, None)
            raise
        return admitted

    def _append(
        self, admitted: Admitted, *drafts: Draft, contents: dict[str, bytes] | None = None, rows: Sequence[Row] = ()
    ) -> None:
        """Write receipts of a call that counts as being written; `close` waits for those."""
        try:
            if admitted.durable:
                self._around.log.append(*drafts, contents=contents, rows=rows)
            else:
                self._around.log.append_relaxed(*drafts, contents=contents)
        finally:
            with self._answered:
                self._writing -= 1
                if self._over:
                    self._answered.notify_all()

    def _ask(self, call: Call, tool: Tool, risk: Risk, reason: str, arguments: bytes, requested: Draft) -> Draft:
        """Put the question; the answer is the draft of an approval, or a refusal."""
        question = Question(
            run_id=self._run_id,
            call_id=call.id,
            number=call.number,
            tool=tool.id,
            tool_version=tool.version,
            risk=risk,
            reason=reason,
            arguments=arguments.decode(),
            line=call.line or None,
        )
        try:
            with self._deadline.paused():
                answer = self._around.approver.decide(question)
        except RunEnded:
            raise
        except BaseException as error:
            _logger.warning("asking about %s failed: %s", tool.id, type(error).__name__)
            answer = Answer(decision="unanswered", decided_by="nobody")
        decided = {"decision": answer.decision, "decided_by": bounded(answer.decided_by)}
        if answer.decision == "allow-once":
            return following(requested, "tool.call.approved", "allowed", now(), decided)
        if answer.decision == "deny":
            refusal = Refusal(code="approval_denied", message=f"{answer.decided_by} said no", denied=True)
        else:
            self.unmet.add("approval_required")
            refusal = Refusal(
                code="approval_required",
                message=f"a person has to approve this call ({reason}) and nobody could be asked",
                hint="run it on a terminal, or with --yes to approve everything in advance",
                denied=True,
            )
        self._around.log.append_relaxed(refused(requested, refusal, decided))
        raise refusal

    def _exceed(self, call: Call) -> None:
        """One call too many ends the run: a loop that ignores its errors would go on for ever."""
        message = f"more than {self._limits.calls} calls in one run"
        refusal = Refusal(code="too_many_calls", message=message, denied=True)
        requested = self._requested(call, b"{}", None)
        self._around.log.append_relaxed(requested, refused(requested, refusal))
        raise RunEnded(
            Failed(
                error=SnippetError(
                    type="TooManyCalls", message=message, line=call.line or None, hint="raise [limits] calls"
                )
            )
        )

    def _secrets(self, tool: Tool) -> tuple[dict[str, str], Refusal | None]:
        """The values a tool declares, or why it cannot have them."""
        found: dict[str, str] = {}
        try:
            for name in (*tool.secrets, *tool.optional_secrets):
                if value := self._around.secret(name):
                    found[name] = value
                elif name in tool.secrets:
                    hint = f"a person sets it: coilclaw secret set {name}"
                    return found, Refusal(code="missing_secret", message=f"{name} is not set", hint=hint)
        except OperatorError as error:  # The file went bad while the run was under way.
            return found, Refusal(code="missing_secret", message=error.message, hint=error.hint)
        return found, None

    def _context(self, call: Call, tool: Tool, secrets: dict[str, str]) -> ToolContext:
        return ToolContext(
            workspace=self._around.workspace,
            tool_id=tool.id,
            run_id=self._run_id,
            call_id=call.id,
            session_id=self._conversation_id,
            idempotency_key=call.id,
            secrets=secrets,
            hosts=tool.hosts,
            bounds=self._around.bounds,
            settings=self._around.settings(tool.integration),
            time_left=lambda: self._deadline.remaining,
            is_cancelled=lambda: self._over or self._deadline.over,
            report_progress=lambda message: self._progress(call, tool, message, Redaction(secrets)),
            note_written=lambda data: self._note_written(call, data),
        )

    def _note_written(self, call: Call, data: bytes) -> None:
        if self._around.guard is not None:
            self._around.guard.note_written(call.id, data)

    def _progress(self, call: Call, tool: Tool, message: str, redaction: Redaction) -> None:
        """Shown to the person at once; the first few of a call also go into the receipts."""
        shown = bounded(redaction.text(str(message)))
        self._around.progress(tool.id, shown)
        admitted = self._under_way.get(call.number)
        if admitted is not None and next(admitted.progress) < _MOST_PROGRESS:
            payload = {"message": shown}
            self._around.log.append_relaxed(following(admitted.draft, "tool.call.progress", "allowed", now(), payload))

    # Execution -----------------------------------------------------------------------------------------

    def _perform_beside(self, admitted: Admitted) -> None:
        try:
            with self._at_once:
                answer = self._perform(admitted)
        except Exception as error:
            # The log refused; the next call of the run meets the same and ends it.
            answer = failure(Refusal(code="evidence_unavailable", message=str(error)))
        self._answer(admitted.call.number, answer)

    def _perform(self, admitted: Admitted) -> bytes:
        """Run the handler, judge what it returned, and write down how it ended."""
        if admitted.call.number not in self._under_way:
            return failure(_ABANDONED)  # Its turn came after the run had ended.
        contents: dict[str, bytes] | None = None
        try:
            value = self._handle(admitted)
            result_hash = digest(value)
            contents = {result_hash: value}
            ended = following(admitted.draft, "tool.call.succeeded", "allowed", now(), {}, result_hash)
            answer = success(value)
        except Refusal as refusal:
            ended = refused(admitted.draft, refusal)
            answer = failure(refusal)
        written, rows = admitted.guarded.settle() if admitted.guarded else ((), ())
        with self._answered:
            late = self._under_way.pop(admitted.call.number, None) is None
            if not late:
                self._writing += 1
        if not late:
            self._append(admitted, ended, *written, contents=contents, rows=rows)
        elif rows:  # `close` has written the end of this call already.
            self._around.log.append(*written, rows=rows)
        return answer

    def _handle(self, admitted: Admitted) -> bytes:
        tool, context = admitted.tool, admitted.context
        seconds = tool.timeout_seconds or self._around.tool_seconds
        timeout = min(seconds, self._deadline.remaining)
        try:
            if tool.is_async:
                coroutine = invoke_async(tool, admitted.input, context)
                if admitted.guarded:
                    coroutine = admitted.guarded.run_async(coroutine)
                value = serialised(tool, self._around.handlers.run_async(coroutine, timeout, self._deadline))
            else:
                # Serialised on the handler's thread: that may run the author's code too.
                def job() -> bytes:
                    return serialised(tool, invoke(tool, admitted.input, context))

                guarded = admitted.guarded
                value = self._around.handlers.run(
                    tool.version, job if guarded is None else lambda: guarded.run(job), timeout, self._deadline
                )
        except Abandoned:
            raise Refusal(
                code="timeout",
                message=f"{tool.id} did not finish within {timeout:g} s; what it did is unknown",
                hint="give it longer with define_tool(timeout=…)" if timeout == seconds else None,
            ) from None
        except ToolFailure as error:
            raise self._redacted(admitted, str(error.code), error.message, error.hint) from None
        except BadOutput as error:
            raise self._redacted(admitted, "invalid_output", str(error), "the tool's author has to fix it") from None
        except BaseException as error:
            message = f"{tool.id} crashed: {type(error).__name__}: {error}"
            raise self._redacted(admitted, "tool_crashed", message, None) from None
        if len(value) > self._around.response_bytes:
            raise Refusal(
                code="output_too_large",
                message=f"{tool.id} returned {len(value)} bytes; at most {self._around.response_bytes} are passed on",
                hint="ask for less at a time",
            )
        return admitted.redaction.json(value)

    def _redacted(self, admitted: Admitted, code: str, message: str, hint: str | None) -> Refusal:
        clean = admitted.redaction.text
        return Refusal(
            code=bounded(clean(code)), message=bounded(clean(message)), hint=bounded(clean(hint)) if hint else None
        )

    def _answer(self, number: int, answer: bytes) -> None:
        with self._answered:
            if self._undelivered + len(answer) > _MOST_UNDELIVERED_BYTES:
                answer = failure(_TOO_MANY_ANSWERS)
            self._undelivered += len(answer)
            self._answers.append((number, answer))
            self._answered.notify_all()

    # Receipts ------------------------------------------------------------------------------------------

    def _requested(self, call: Call, arguments: bytes, risk: Risk | None) -> Draft:
        return Draft(
            type="tool.call.requested",
            status="pending",
            timestamp=now(),
            run_id=self._run_id,
            conversation_id=self._conversation_id,
            tool_call_id=call.id,
            tool=call.name.encode("utf-8", "replace").decode(),
            tool_version=call.tool.version if call.tool else None,
            risk=risk.value if risk else None,
            args_hash=digest(arguments),
            payload={"line": call.line, "number": call.number},
        )

    def _refusal(self, requested: Draft, refusal: Refusal) -> Refusal:
        """The refusal, written down."""
        self._around.log.append_relaxed(refused(requested, refusal))
        return refusal
