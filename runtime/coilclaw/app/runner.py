"""Running snippets and calls: on the thread of whoever asks, or on the app's own threads."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from coilclaw.app.errors import AppClosed
from coilclaw.app.report import call_reported, reported
from coilclaw.runs import (
    NotResumable,
    find_run,
    has_proven_header,
    is_accepted_as_said,
    new_run_id,
)
from coilclaw.sandbox import Deadline

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from coilclaw.app.arguments import Request
    from coilclaw.app.composition import Composition, OpenWorkspace
    from coilclaw.app.handle import RunHandle
    from coilclaw.app.report import CallReport, Report
    from coilclaw.bridge import Caller
    from coilclaw.runs import ApprovedPlan, Comparison, Rehearsal, RunRecord
    from coilclaw.sandbox import DisplayedOutput, Engine, Limits

__all__ = ["Runner"]

_logger = logging.getLogger(__name__)

_FEWEST_WORKERS: Final = 8
_MOST_WORKERS: Final = 32
_LEAVING_SECONDS: Final = 10.0
"""How long closing waits for runs that are to be suspended at their next call."""
_CLOSING_SECONDS: Final = 60.0
"""How long closing waits for runs that were cancelled. One that compiles the sandbox notices last."""


class _UnderWay(NamedTuple):
    """A use of a run by this process; a lasting one is suspended when the app is closed, others are cancelled."""

    run_id: str
    deadline: Deadline
    is_lasting: bool


class Runner:
    """Executes runs and knows those that are under way. Thread-safe."""

    def __init__(self, parts: Composition, workers: int | None) -> None:
        self._parts = parts
        self._workers = workers or max(_FEWEST_WORKERS, min(_MOST_WORKERS, 2 * (os.cpu_count() or 1)))
        self._changed = threading.Condition()
        self._executor: ThreadPoolExecutor | None = None
        self._under_way: list[_UnderWay] = []
        """One for each use: two threads may try to resume the same run."""
        self.closed = False

    def run(self, request: Request, deadline: Deadline | None, plan: ApprovedPlan | None) -> Report:
        """Run a snippet on this thread."""
        run_id = new_run_id() if plan is None else plan.beginning.run_id
        with self._entered(run_id, deadline, request.limits.seconds) as until:
            return self._run(request, run_id, until, plan)

    def _run(self, request: Request, run_id: str, deadline: Deadline, plan: ApprovedPlan | None = None) -> Report:
        place, engine = self._parts.project(request.caller.project), self._parts.engines.get(request.engine)
        deadline.restart()  # Neither loading nor compiling is the run's time, nor waiting for its turn.
        done = place.runtime.run(
            request.snippet,
            engine,
            place.toolbox.registry,
            request.limits,
            caller=request.caller,
            deadline=deadline,
            planned=plan,
            run_id=run_id,
            retry_of=request.retry_of,
        )
        return reported(self._parts.stores, done)

    def start(self, request: Request) -> RunHandle:
        """Run a snippet on a thread of the app, as soon as one is free."""
        run_id, deadline = new_run_id(), Deadline(request.limits.seconds)

        def execute(caller: Caller) -> Report:
            return self._run(replace(request, caller=caller), run_id, deadline)

        return self.launch(run_id, deadline, request.caller, execute)

    def launch(
        self,
        run_id: str,
        deadline: Deadline,
        caller: Caller,
        execute: Callable[[Caller], Report],
        *,
        accept: Callable[[], None] | None = None,
    ) -> RunHandle:
        """Execute something on a thread of the app, as soon as one is free.

        With `accept`, it is in the background: that writes down, before this returns, that it will be executed. When
        the app is closed, the caller is to let it be suspended; nobody cancels it at once.
        """
        from concurrent.futures import ThreadPoolExecutor

        from coilclaw.app.handle import RunHandle

        feed = self._parts.feed
        output, begins = feed.output(run_id), feed.end()

        def show(stream: int, text: str) -> None:
            output(stream, text)
            caller.show(stream, text)

        def display(displayed: DisplayedOutput) -> None:
            output.display(displayed)
            caller.display(displayed)

        def job() -> Report:
            # Executed also when the app was closed meanwhile: it ends at once, and its receipts say so.
            try:
                return execute(replace(caller, show=show, display=display))
            finally:
                output.close()
                self._leave(run_id, deadline)

        self._enter(run_id, deadline, is_lasting=accept is not None)
        try:
            if accept is not None:
                accept()
            with self._changed:
                if self._executor is None:
                    self._executor = ThreadPoolExecutor(self._workers, thread_name_prefix="coilclaw-run")
                future = self._executor.submit(job)
        except BaseException:
            self._leave(run_id, deadline)
            raise
        return RunHandle(run_id, future, deadline, self._parts, begins, output)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        limits: Limits,
        caller: Caller | None,
        deadline: Deadline | None,
        run_id: str | None,
    ) -> CallReport:
        """Call one tool on this thread."""
        run_id = run_id or new_run_id()
        with self._entered(run_id, deadline, limits.seconds) as until:
            place = self._parts.project(None if caller is None else caller.project)
            result, done = place.runtime.call(
                tool, arguments, place.toolbox.registry, limits, caller=caller, deadline=until, run_id=run_id
            )
            return call_reported(result, reported(self._parts.stores, done))

    def rehearse(self, request: Request, deadline: Deadline | None) -> Rehearsal:
        with self._entered(new_run_id(), deadline, request.limits.seconds) as until:
            place = self._parts.project(request.caller.project)
            engine = self._parts.engines.get(request.engine)
            until.restart()
            return place.runtime.rehearse(
                request.snippet, engine, place.toolbox.registry, request.limits, caller=request.caller, deadline=until
            )

    def resume(
        self,
        run_id: str,
        caller: Caller | None,
        unknown: Literal["retry", "failed"] | None,
        timeout: float | None,
        deadline: Deadline | None,
    ) -> Report:
        """Continue a suspended run on this thread, in the workspace where it began."""
        limits = find_run(self._parts.stores.database, run_id).header.run_limits()
        with self._entered(run_id, deadline, timeout or limits.seconds) as until:
            return self.continued(run_id, caller, unknown, until)

    def continued(
        self, run_id: str, caller: Caller | None, unknown: Literal["retry", "failed"] | None, deadline: Deadline
    ) -> Report:
        """Continue a suspended run on this thread, for somebody who has noted that it is under way."""
        place = self.workspace_of(run_id)
        deadline.restart()
        done = place.runtime.resume(
            run_id,
            lambda name: self.engine(name, deadline),
            place.toolbox.registry,
            caller=caller,
            deadline=deadline,
            unknown=unknown,
        )
        return reported(self._parts.stores, done)

    def replay(self, run_id: str, caller: Caller | None, until: int | None, workspace: Path | None) -> Comparison:
        limits = find_run(self._parts.stores.database, run_id).header.run_limits()
        # Under a name of its own: whoever cancels a run does not mean those who only look at it.
        with self._entered(new_run_id(), None, limits.seconds) as deadline:
            place = self.workspace_of(run_id) if workspace is None else self._parts.workspace(workspace)
            return place.runtime.replay(
                run_id,
                lambda name: self.engine(name, deadline),
                place.toolbox.registry,
                until=until,
                caller=caller,
                deadline=deadline,
            )

    def workspace_of(self, run_id: str) -> OpenWorkspace:
        """The workspace in which a run began."""
        known = find_run(self._parts.stores.database, run_id)
        if known.header.project is not None:
            self._refuse_unproven(known)
            return self._parts.project(known.header.project)
        own = self._parts.settings.config.workspace_dir.resolve()
        if known.header.workspace in ("", str(own)):
            return self._parts.workspace()
        self._refuse_unproven(known)
        return self._parts.workspace(Path(known.header.workspace))

    def _refuse_unproven(self, known: RunRecord) -> None:
        """Refuse a header that no receipt has: an edited table must choose neither tools, which run outside the
        sandbox, nor the folder that they reach."""
        is_proven = is_accepted_as_said if known.status == "queued" else has_proven_header
        if not is_proven(self._parts.stores.log, known):
            raise NotResumable(f"the header of {known.run_id} is not the one it began with", hint="start it again")

    def engine(self, name: str, deadline: Deadline) -> Engine:
        """The engine of a name; the time of the run begins when it is ready."""
        engine = self._parts.engines.get(name)
        deadline.restart()
        return engine

    # Under way -------------------------------------------------------------------------------------------

    def cancel(self, run_id: str) -> bool:
        """Cancel a run that is under way here; False if there is none of this id."""
        with self._changed:
            found = [each.deadline for each in self._under_way if each.run_id == run_id]
        for deadline in found:
            deadline.cancel()
        return bool(found)

    def is_under_way(self, run_id: str) -> bool:
        """Whether a run is executed here, or waits here for its turn."""
        with self._changed:
            return any(each.run_id == run_id for each in self._under_way)

    def count(self) -> int:
        """How many runs are executed here, or wait here for their turn."""
        return len(self._under_way)

    def close(self) -> None:
        """Refuse what comes from now on, cancel what is under way, and wait until it has ended.

        Runs in the background have some seconds to be suspended at their next call, or to end.
        """
        with self._changed:
            self.closed = True
            for each in self._under_way:
                if not each.is_lasting:
                    each.deadline.cancel()
            self._changed.wait_for(lambda: not any(each.is_lasting for each in self._under_way), _LEAVING_SECONDS)
            for each in self._under_way:
                each.deadline.cancel()
            if not self._changed.wait_for(lambda: not self._under_way, _CLOSING_SECONDS):
                _logger.warning("runs that did not end when the app was closed: %d", len(self._under_way))
            executor, self._executor = self._executor, None
            ended = not self._under_way
        if executor is not None:
            executor.shutdown(wait=ended)

    @contextmanager
    def _entered(self, run_id: str, given: Deadline | None, seconds: float) -> Iterator[Deadline]:
        deadline = given or Deadline(seconds)
        self._enter(run_id, deadline)
        try:
            yield deadline
        finally:
            self._leave(run_id, deadline)
        # Only now, when its receipts are written. Whoever gave a deadline sees there that it was interrupted.
        if given is None and deadline.interrupted:
            raise KeyboardInterrupt

    def _enter(self, run_id: str, deadline: Deadline, *, is_lasting: bool = False) -> None:
        """Note that a run is under way: it can be cancelled, and closing waits for it."""
        with self._changed:
            if self.closed:
                raise AppClosed
            self._under_way.append(_UnderWay(run_id, deadline, is_lasting))

    def _leave(self, run_id: str, deadline: Deadline) -> None:
        with self._changed:
            own = (run_id, deadline)
            self._under_way.remove(next(each for each in self._under_way if (each.run_id, each.deadline) == own))
            self._changed.notify_all()
