"""The requests of a model, each carried out and its result written down before the next one."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from coilclaw.agent.answer import CallChanged, SnippetStarted, ignore
from coilclaw.agent.exchange import RequestResult
from coilclaw.agent.execution import NotRun
from coilclaw.agent.prompt import REPEATED, found_tools
from coilclaw.agent.result_text import result_text
from coilclaw.agent.tools import FindTools, Misunderstood, SnippetCode
from coilclaw.runs import NotCancellable, NotResumable
from coilclaw.sandbox import Deadline

if TYPE_CHECKING:
    from coilclaw.agent.answer import Listen
    from coilclaw.agent.exchange import Round
    from coilclaw.agent.execution import Execution
    from coilclaw.agent.guard import ExchangeClock, LoopGuard
    from coilclaw.agent.tools import Meaning, Toolset
    from coilclaw.agent.transcript import Transcript
    from coilclaw.app import Report, RunHandle
    from coilclaw.sdk import ActivityItem

__all__ = ["Requests", "give_up"]

_LOOK_SECONDS: Final = 0.05
_SHORTEST_RUN: Final = 1.0
"""Seconds of a run that is resumed after the time of its exchange is over: what it waited for was decided."""
_MOST_AT_ONCE: Final = 16
"""Requests of one reply: rounds alone would not bound what a model does."""
_GIVEN_UP: Final = "This was not carried out: the exchange was interrupted."
_UNTOLD: Final = "Whether this was carried out is not known"


class Requests:
    """Carries out the open requests of an exchange, one after the other. Blocking."""

    def __init__(
        self,
        execution: Execution,
        transcript: Transcript,
        toolset: Toolset,
        guard: LoopGuard,
        seconds: float,
        clock: ExchangeClock,
        listen: Listen,
    ) -> None:
        self._execution = execution
        self._transcript = transcript
        self._toolset = toolset
        self._guard = guard
        self._seconds = seconds
        self._clock = clock
        self._listen = listen
        self._deadline: Deadline | None = None
        self._handle: RunHandle | None = None
        self._cancelled = False
        self._told: dict[str | None, str] = {}
        """The latest receipt of each call that somebody was told about."""

    def cancel(self) -> None:
        """End the run that is under way; nothing else is begun."""
        self._cancelled = True
        for run in (self._deadline, self._handle):
            if run is not None:
                run.cancel()

    def carry_out(self, *, resumed: bool) -> Report | None:
        """Carry out every open request. Returns the report of a run that waits or was cancelled; then the rest is open.

        With `resumed`, a request may have its run already, from a process that ended.
        """
        for round_, index in self._transcript.current.open_requests:
            if self._cancelled:
                return None
            report = self._one(round_, index, resumed)
            if report is not None and report.status == "suspended":
                self._transcript.wait(report.run_id, round_.key(index))
                return report
            if report is not None and report.status == "cancelled":
                return report
        return None

    def _one(self, round_: Round, index: int, resumed: bool) -> Report | None:
        request, key = self._transcript.request(round_, index), round_.key(index)
        self._deadline = deadline = Deadline(min(self._seconds, max(_SHORTEST_RUN, self._clock.remaining)))
        if self._cancelled:
            deadline.cancel()
        record = self._execution.find(key) if resumed else None
        if record is not None:
            return self._keep(key, self._execution.finish(record, deadline))
        if index >= _MOST_AT_ONCE:
            text = f"Not carried out: a reply may ask for {_MOST_AT_ONCE} things at once. Use a loop in run_python."
            self._transcript.answer_request(key, RequestResult(text=text, is_error=True))
            return None
        if (exceeded := self._clock.exceeded) is not None:
            self._transcript.answer_request(key, RequestResult(text=f"Not carried out: {exceeded}.", is_error=True))
            return None
        meaning = self._toolset.meaning(request)
        if self._guard.is_repeated(request):
            self._transcript.answer_request(key, RequestResult(text=REPEATED, is_error=True))
            return None
        return self._begin(meaning, key, deadline)

    def _begin(self, meaning: Meaning, key: str, deadline: Deadline) -> Report | None:
        if isinstance(meaning, Misunderstood):
            self._transcript.answer_request(key, RequestResult(text=meaning.problem, is_error=True))
            return None
        if isinstance(meaning, FindTools):
            tools = self._toolset.search(meaning.query)
            result = RequestResult(text=found_tools(tools), found=tuple(tool.id for tool in tools))
            self._transcript.answer_request(key, result)
            return None
        if isinstance(meaning, SnippetCode):
            self._listen(SnippetStarted(source=meaning.code))
        follow = None if self._listen is ignore else self._follow
        done = self._execution.run(meaning, key, deadline, self._transcript.handles, follow)
        if isinstance(done, NotRun):
            self._transcript.answer_request(key, RequestResult(text=done.problem, is_error=True))
            return None
        return self._keep(key, done)

    def _keep(self, key: str, report: Report) -> Report:
        self._tell(report.activity)
        if report.status != "suspended":
            self._transcript.answer_request(key, _result(report, self._transcript.next_number))
        return report

    def _follow(self, handle: RunHandle) -> None:
        """Tell of the calls of a run while it is under way; of many that come at once, a few times."""
        self._handle = handle
        if self._cancelled:
            handle.cancel()
        looked = 0.0
        for event in handle.events():
            if event.kind.startswith(("call.", "approval.")) and time.monotonic() - looked > _LOOK_SECONDS:
                self._tell(self._execution.activity(handle.run_id))
                looked = time.monotonic()

    def _tell(self, items: Iterable[ActivityItem]) -> None:
        for item in items:
            if self._told.get(item.call_id) != item.receipt_ref:
                self._told[item.call_id] = item.receipt_ref
                self._listen(CallChanged(item=item))


def give_up(execution: Execution, transcript: Transcript, round_: Round, index: int) -> RequestResult:
    """End an open request of an interrupted exchange: its run, if it has one, is ended if it waits, and reported."""
    try:
        record = execution.find(round_.key(index))
        if record is None:
            return RequestResult(text=_GIVEN_UP, is_error=True)
        return _result(execution.give_up(record), transcript.next_number + index)
    except (NotResumable, NotCancellable) as error:  # Its row was changed: the next message must not wait for that.
        return RequestResult(text=f"{_UNTOLD}: {error.message}.", is_error=True)


def _result(report: Report, number: int) -> RequestResult:
    written = result_text(report, number)
    return RequestResult(text=written.text, is_error=written.is_error, run_id=report.run_id, handles=written.handles)
