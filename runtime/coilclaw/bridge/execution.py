"""Execution: run the handler of an admitted call, and record how it ended."""

from __future__ import annotations

import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final

from coilclaw.bridge.answers import Refusal, failure, success
from coilclaw.bridge.call_receipts import bounded, following, refused
from coilclaw.bridge.call_summary import summary_facts
from coilclaw.bridge.calls_under_way import ABANDONED, TOO_LATE, WITHDRAWN
from coilclaw.bridge.handlers import LoopBlocked
from coilclaw.bridge.invocation import BadOutput, invoke, invoke_async, serialised
from coilclaw.bridge.journal import Known
from coilclaw.receipts import digest, now
from coilclaw.sandbox import Abandoned
from coilclaw.sdk import ToolFailure
from coilclaw.sdk.errors import crash_of, failing_of
from coilclaw.sdk.legible import one_line, text_of

if TYPE_CHECKING:
    from coilclaw.bridge.calls import Admitted
    from coilclaw.bridge.calls_under_way import CallsUnderWay
    from coilclaw.bridge.evidence_budget import EvidenceBudget
    from coilclaw.bridge.run_spec import RunSpec
    from coilclaw.bridge.services import Services

__all__ = ["Execution"]

_LONGEST_REPORT: Final = 300


class Execution:
    """Executes the calls of one run that are under way."""

    def __init__(self, services: Services, run: RunSpec, budget: EvidenceBudget, under_way: CallsUnderWay) -> None:
        self._services = services
        self._deadline = run.deadline
        self._budget = budget
        self._under_way = under_way

    def perform(self, admitted: Admitted) -> bytes:
        """Execute a call that has started, and return its answer; the room set aside for its result is given back."""
        most = self._services.response_bytes
        has_room = admitted.has_room or self._budget.hold(most, lambda: self._under_way.is_over)
        try:
            return self._recorded(admitted, None if has_room else self._budget.refusal())
        finally:
            if has_room:
                self._budget.release(most)

    def perform_beside(self, admitted: Admitted) -> bytes:
        """Like `perform`, for a call on its own thread: any exception becomes an answer."""
        try:
            return self.perform(admitted)
        except BaseException as error:
            message = bounded(admitted.redaction.text(crash_of(error)))
            refusal = Refusal(code="evidence_unavailable", message=message)
            self._under_way.end_without_result(admitted, refusal)
            return failure(refusal)

    def _recorded(self, admitted: Admitted, no_room: Refusal | None) -> bytes:
        """Run the handler and write its outcome, before anybody receives it."""
        number = admitted.call.number
        if self._under_way.get(number) is None:
            return failure(ABANDONED)  # Its turn came after the run had ended.
        try:
            value = no_room or self._handle(admitted)
        except BaseException as error:
            value = _crashed(admitted, error)
        if isinstance(value, Refusal):
            answer = failure(value)
            outcome, known, contents = refused(admitted.draft, value), Known(number, None, answer.decode()), None
        else:
            result_hash = digest(value)
            self._budget.count(result_hash, len(value))
            answer = success(value, admitted.tool.output_plan)
            facts = summary_facts(admitted) | _failure_facts(admitted)
            outcome = following(admitted.draft, "tool.call.succeeded", "allowed", now(), facts, result_hash)
            known, contents = Known(number, result_hash, None), {result_hash: value}
        self._under_way.end(admitted, outcome, known, contents)
        return answer

    def _handle(self, admitted: Admitted) -> bytes | Refusal:
        """Return the JSON of what the handler returned, bounded and without secrets."""
        # Calls beside the snippet wait for their turn, and all others for the disk: much may have happened since.
        stopped = self._under_way.estop.refusal()
        if stopped is not None:
            return stopped
        if self._deadline.cancelled:
            return TOO_LATE
        if not self._under_way.handle(admitted.call.number):
            return WITHDRAWN
        tool = admitted.tool
        seconds = tool.timeout_seconds or self._services.tool_seconds
        timeout = min(seconds, self._deadline.remaining)
        try:
            value = self._returned(admitted, timeout)
        except Abandoned:
            return self._under_way.estop.given_up() or Refusal(
                code="timeout",
                message=f"{tool.id} did not finish within {timeout:g} s; what it did is unknown",
                hint="ask for less at a time, or look first at what it did" if timeout == seconds else None,
            )
        except LoopBlocked as error:
            return Refusal(
                code="loop_blocked",
                message=f"{tool.id} was not called: too many async tools block without end ({error})",
                hint="the authors of those tools have to await what takes long",
            )
        except ToolFailure as error:
            return _redacted(admitted, *failing_of(error))
        except BadOutput as error:
            return _redacted(admitted, "invalid_output", str(error), "the tool's author has to fix it")
        too_large = self._too_large(admitted, value)
        if too_large is not None:
            return too_large
        redacted = admitted.redaction.json(value)
        return self._too_large(admitted, redacted) or redacted  # The name of a secret may be longer than its value.

    def _returned(self, admitted: Admitted, timeout: float) -> bytes:
        """Call the handler where it can be given up, and serialise what it returns."""
        tool, handlers, deadline, guarded = admitted.tool, self._services.handlers, self._deadline, admitted.guarded
        # Serialised on the handler's thread: that may run the author's code too.
        if not tool.is_async:

            def job() -> bytes:
                return serialised(tool, invoke(tool, admitted.input, admitted.context))

            return handlers.run(tool.version, job if guarded is None else lambda: guarded.run(job), timeout, deadline)
        if tool.hosts:
            import coilclaw.net.transport  # noqa: F401 - On the loop, loading it would hold up everybody else.
        ends = time.monotonic() + timeout
        returned = handlers.run_async(
            lambda: _coroutine(admitted), timeout, deadline, tool=tool.id, version=tool.version
        )
        # Not on the loop: a serialiser may take its time.
        left = min(ends - time.monotonic(), deadline.remaining)
        return handlers.run(f"{tool.version} output", lambda: serialised(tool, returned), left, deadline)

    def _too_large(self, admitted: Admitted, value: bytes) -> Refusal | None:
        most = self._services.response_bytes
        if len(value) <= most:
            return None
        return Refusal(
            code="output_too_large",
            message=f"{admitted.tool.id} returned {len(value)} bytes; at most {most} are passed on",
            hint="ask for less at a time",
        )


def _coroutine(admitted: Admitted) -> Coroutine[Any, Any, Any]:
    coroutine = invoke_async(admitted.tool, admitted.input, admitted.context)
    return coroutine if admitted.guarded is None else admitted.guarded.run_async(coroutine)


def _failure_facts(admitted: Admitted) -> dict[str, str]:
    """What the tool said of a failure that its result tells of; nothing if it only reads."""
    reported = admitted.context.reported_failure
    if reported is None or not admitted.durable:
        return {}
    return {"reported_failure": one_line(admitted.redaction.text(text_of(reported)), _LONGEST_REPORT)}


def _crashed(admitted: Admitted, error: BaseException) -> Refusal:
    return _redacted(admitted, "tool_crashed", f"{admitted.tool.id} crashed: {crash_of(error)}", None)


def _redacted(admitted: Admitted, code: str, message: str, hint: str | None) -> Refusal:
    clean = admitted.redaction.text
    return Refusal(
        code=bounded(clean(code)), message=bounded(clean(message)), hint=bounded(clean(hint)) if hint else None
    )
