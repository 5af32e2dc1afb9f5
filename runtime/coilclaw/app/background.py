"""Runs in the background: accepted durably, executed whatever happens to a process, and resumed once decided."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal
from weakref import WeakValueDictionary

from coilclaw.app.approvals import pending_approvals
from coilclaw.app.arguments import check, given_limits, given_request
from coilclaw.app.errors import AppClosed, TooManyRuns
from coilclaw.app.report import reported
from coilclaw.bridge import Caller
from coilclaw.evidence import ApprovalDecided, EstopCleared, Event
from coilclaw.runs import accepted_caller, find_run, list_runs, new_run_id, report_of
from coilclaw.sandbox import Deadline
from coilclaw.sdk import CoilClawError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coilclaw.app.composition import Composition
    from coilclaw.app.handle import RunHandle
    from coilclaw.app.report import Report
    from coilclaw.app.runner import Runner
    from coilclaw.evidence import EventReader
    from coilclaw.policy import Window
    from coilclaw.runs import RunRecord

__all__ = ["Background"]

_logger = logging.getLogger(__name__)

_MOST_WAITING: Final = 10_000
"""Runs that are under way here or wait for their turn. Each takes little: its source waits in the store."""
_PAGE: Final = 200


class Background:
    """Accepts and resumes runs that outlive whoever asked for them, and this process too.

    A run that was accepted is on disk: if this process dies, the next one that serves the home executes it. It begins
    once, whichever process begins it. When the app is closed, what waits stays queued, and what runs is suspended at
    its next call.
    """

    def __init__(self, parts: Composition, runner: Callable[[], Runner]) -> None:
        self._parts = parts
        self._runner = runner
        self._lock = threading.Lock()
        self._handles: WeakValueDictionary[str, RunHandle] = WeakValueDictionary()

    def submit(
        self,
        source: str,
        *,
        inputs: Mapping[str, Any] | None = None,
        name: str = "snippet.py",
        engine: str | None = None,
        timeout: float | None = None,
        memory_mib: int | None = None,
        caller: Caller | None = None,
        retry_of: str | None = None,
    ) -> RunHandle:
        """Accept a snippet: when this returns, it will be executed. Parameters as for `CoilClaw.run`.

        Of `caller` only what can be written down counts: channel, conversation, agent, project, view.
        """
        self._parts.refuse_to_block("background.submit")
        config = self._parts.settings.config
        limits = given_limits(config, None, None)
        limits = limits if memory_mib is None else replace(limits, memory_bytes=memory_mib * 2**20)
        request = given_request(config, source, name, inputs, engine, timeout, limits, caller, retry_of)
        chosen, run_id, runtime = (
            self._parts.engines.chosen(engine),
            new_run_id(),
            self._parts.project(request.caller.project).runtime,
        )
        if self._runner().count() >= _MOST_WAITING:
            raise TooManyRuns(_MOST_WAITING)

        def accept() -> None:
            runtime.queue(
                request.snippet, chosen, request.limits, caller=request.caller, run_id=run_id, retry_of=retry_of
            )

        return self._begin(run_id, request.limits.seconds, accept)

    def resume(
        self, run_id: str, *, unknown: Literal["retry", "failed"] | None = None, timeout: float | None = None
    ) -> RunHandle | None:
        """Continue a suspended run in the background. None if it is over, or under way in another process.

        One that is under way here already is left as it is.
        """
        check(run_id=run_id, timeout=timeout)
        with self._lock:
            if self._runner().is_under_way(run_id):
                return self._handles.get(run_id)
            known = find_run(self._parts.stores.database, run_id)
            if not known.is_waiting:
                return None
            deadline = Deadline(timeout or known.header.run_limits().seconds)
            caller = self._leaving()
            if known.header.accepted is not None:
                caller = accepted_caller(known.header, caller)

            def execute(caller: Caller) -> Report:
                if self._runner().closed:
                    raise AppClosed
                return self._runner().continued(run_id, caller, unknown, deadline)

            return self._launched(run_id, deadline, caller, execute, lambda: None)

    def resume_if_decided(self, run_id: str, *, window: Window | None = None) -> RunHandle | None:
        """Continue a suspended run unless a call of it still waits for a decision, or something else continues it."""
        known = find_run(self._parts.stores.database, run_id)
        if not known.is_waiting or _is_part_of_more(known) or not self._is_decided(known, window):
            return None
        return self.resume(run_id)

    def take_up(self) -> int:
        """Begin and continue the accepted runs that processes have left behind; returns how many.

        These are queued ones, those under way when their process died, and suspended ones that wait for nobody.
        """
        count = 0
        for known in self._all("queued"):
            if known.is_left and not self._runner().is_under_way(known.run_id):
                self._begin(known.run_id, known.header.run_limits().seconds, lambda: None)
                count += 1
        for known in (*self._all("orphaned"), *self._all("suspended")):
            if known.header.accepted is not None:
                count += self._guarded(known.run_id)
        return count

    @contextmanager
    def served(self) -> Iterator[None]:
        """While this is entered, accepted runs are taken up and, once decided by whichever process, continued."""
        feed = self._parts.feed
        reader = feed.follow(feed.end())
        thread = threading.Thread(target=self._follow, args=(reader,), name="coilclaw-background", daemon=True)
        thread.start()
        try:
            yield
        finally:
            reader.close()
            thread.join()

    # Inside ----------------------------------------------------------------------------------------------

    def _begin(self, run_id: str, seconds: float, accept: Callable[[], None]) -> RunHandle:
        deadline = Deadline(seconds)

        def execute(caller: Caller) -> Report:
            runner = self._runner()
            if runner.closed:
                raise AppClosed  # It stays queued, for the next process.
            place = runner.workspace_of(run_id)
            done = place.runtime.run_queued(
                run_id,
                lambda name: runner.engine(name, deadline),
                place.toolbox.registry,
                caller=caller,
                deadline=deadline,
            )
            return reported(self._parts.stores, done)

        return self._launched(run_id, deadline, self._leaving(), execute, accept)

    def _launched(
        self,
        run_id: str,
        deadline: Deadline,
        caller: Caller,
        execute: Callable[[Caller], Report],
        accept: Callable[[], None],
    ) -> RunHandle:
        handle = self._runner().launch(run_id, deadline, caller, execute, accept=accept)
        self._handles[run_id] = handle
        handle.when_done(self._look_again)
        return handle

    def _look_again(self, handle: RunHandle) -> None:
        """Continue a run that was decided while it was being suspended."""
        try:
            report = handle.result(0)
        except AppClosed:
            return
        except Exception as error:
            level = logging.INFO if isinstance(error, CoilClawError) else logging.ERROR
            _logger.log(level, "%s did not run in the background: %s", handle.run_id, error)
            return
        if report.status == "suspended" and not self._runner_closed():
            self._guarded(handle.run_id)

    def _guarded(self, run_id: str) -> bool:
        try:
            return self.resume_if_decided(run_id) is not None
        except AppClosed:
            return False
        except CoilClawError as error:
            _logger.warning("%s was not resumed: %s", run_id, error.message)
            return False

    def _is_decided(self, known: RunRecord, window: Window | None) -> bool:
        stores = self._parts.stores
        if window is None:
            waits = bool(pending_approvals(stores, known.run_id))
        else:
            from coilclaw.app.approvals import Approvals

            waits = bool(Approvals(self._parts).undecided(known.run_id, window))
        if waits or self._parts.stop() is not None:
            return False
        kept = report_of(stores.database, stores.log, known.run_id)
        return kept is None or kept.unknown is None

    def _all(self, status: str) -> list[RunRecord]:
        """Every run in a state, oldest first."""
        found: list[RunRecord] = []
        cursor = None
        while True:
            page = list_runs(self._parts.stores.database, status=status, limit=_PAGE, cursor=cursor)
            found += page.runs
            cursor = page.cursor
            if cursor is None:
                return found[::-1]

    def _leaving(self) -> Caller:
        """A caller whose run is suspended when the app is closed."""
        runner = self._runner()
        return Caller(leaves=lambda: runner.closed)

    def _runner_closed(self) -> bool:
        try:
            return self._runner().closed
        except AppClosed:
            return True

    def _follow(self, reader: EventReader) -> None:
        try:
            self.take_up()
            for event in reader:
                self._notice(event)
        except AppClosed:
            return
        except Exception:
            _logger.exception("runs in the background are no longer looked after")

    def _notice(self, event: Event) -> None:
        if isinstance(event, EstopCleared):
            self.take_up()
        elif isinstance(event, ApprovalDecided) and event.run_id is not None:
            known = find_run(self._parts.stores.database, event.run_id)
            if known.header.accepted is not None:
                self._guarded(event.run_id)


def _is_part_of_more(known: RunRecord) -> bool:
    """Whether a turn of a conversation or a workflow waits for the run: those continue it themselves."""
    return known.header.request is not None or (known.header.conversation_id or "").startswith("sop-")
