"""Running snippets and calls: here and now, or on the app's own threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from coilclaw.app.errors import AppClosed, WouldBlock
from coilclaw.app.report import CallReport, reported
from coilclaw.runs import NotResumable, find_run, has_proven_header, new_run_id
from coilclaw.sandbox import Deadline

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from coilclaw.app.composition import Composition, OpenWorkspace
    from coilclaw.app.handle import RunHandle
    from coilclaw.app.report import Report
    from coilclaw.bridge import Caller
    from coilclaw.runs import ApprovedPlan, Comparison, Rehearsal
    from coilclaw.sandbox import DisplayedOutput, Engine, Limits, Snippet

__all__ = ["Execution"]

_FEWEST_WORKERS: Final = 8
_MOST_WORKERS: Final = 32


class Execution:
    """The runs of one app that are under way. Thread-safe."""

    def __init__(self, parts: Composition, workers: int | None) -> None:
        self._parts = parts
        self._workers = workers or max(_FEWEST_WORKERS, min(_MOST_WORKERS, 2 * (os.cpu_count() or 1)))
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._under_way: dict[str, Deadline] = {}
        self._closed = False

    def run(
        self,
        snippet: Snippet,
        engine: str | None,
        limits: Limits,
        caller: Caller,
        *,
        deadline: Deadline | None = None,
        plan: ApprovedPlan | None = None,
        run_id: str | None = None,
        retry_of: str | None = None,
    ) -> Report:
        """Run a snippet on this thread."""
        run_id = plan.beginning.run_id if plan is not None else run_id
        with self._entered(run_id, limits.seconds, deadline) as (name, until):
            place, made = self._parts.workspace(), self._parts.engines.get(engine)
            until.restart()  # Neither loading nor compiling is the run's time, nor waiting for its turn.
            done = place.runtime.run(
                snippet,
                made,
                place.toolbox.registry,
                limits,
                caller=caller,
                deadline=until,
                planned=plan,
                run_id=name,
                retry_of=retry_of,
            )
            return reported(self._parts.stores, done)

    def start(
        self, snippet: Snippet, engine: str | None, limits: Limits, caller: Caller, *, retry_of: str | None = None
    ) -> RunHandle:
        """Run a snippet on a thread of the app, as soon as one is free."""
        from concurrent.futures import ThreadPoolExecutor

        from coilclaw.app.handle import RunHandle

        with self._lock:
            if self._closed:
                raise AppClosed
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self._workers, thread_name_prefix="coilclaw-run")
            run_id, deadline, feed = new_run_id(), Deadline(limits.seconds), self._parts.feed
            output, begins = feed.output(run_id), feed.end()

            def show(stream: int, text: str) -> None:
                output(stream, text)
                caller.show(stream, text)

            def display(displayed: DisplayedOutput) -> None:
                output.display(displayed)
                caller.display(displayed)

            def job() -> Report:
                try:
                    told = replace(caller, show=show, display=display)
                    return self.run(snippet, engine, limits, told, deadline=deadline, run_id=run_id, retry_of=retry_of)
                finally:
                    output.close()

            self._under_way[run_id] = deadline
            future = self._executor.submit(job)
        return RunHandle(run_id, future, deadline, feed, begins, output, self._refuse_to_block)

    def call(
        self, tool: str, arguments: Mapping[str, Any], limits: Limits, caller: Caller, deadline: Deadline | None
    ) -> CallReport:
        """Call one tool on this thread."""
        with self._entered(None, limits.seconds, deadline) as (run_id, until):
            place = self._parts.workspace()
            result, done = place.runtime.call(
                tool, arguments, place.toolbox.registry, limits, caller=caller, deadline=until, run_id=run_id
            )
            return CallReport(result=result, report=reported(self._parts.stores, done))

    def rehearse(
        self, snippet: Snippet, engine: str | None, limits: Limits, caller: Caller, deadline: Deadline | None
    ) -> Rehearsal:
        with self._entered(None, limits.seconds, deadline) as (_, until):
            place, made = self._parts.workspace(), self._parts.engines.get(engine)
            until.restart()
            return place.runtime.rehearse(snippet, made, place.toolbox.registry, limits, caller=caller, deadline=until)

    def resume(
        self,
        run_id: str,
        caller: Caller,
        *,
        unknown: Literal["retry", "failed"] | None,
        timeout: float | None,
        deadline: Deadline | None,
    ) -> Report:
        """Continue a suspended run on this thread, in the workspace where it began."""
        limits = find_run(self._parts.stores.database, run_id).header.run_limits()
        with self._entered(run_id, timeout or limits.seconds, deadline) as (_, until):
            place = self.workspace_of(run_id)

            def engine(name: str) -> Engine:
                made = self._parts.engines.get(name)
                until.restart()
                return made

            until.restart()
            done = place.runtime.resume(
                run_id, engine, place.toolbox.registry, caller=caller, deadline=until, unknown=unknown
            )
            return reported(self._parts.stores, done)

    def replay(self, run_id: str, caller: Caller, until: int | None, workspace: Path | None) -> Comparison:
        self._refuse_to_block()
        place = self.workspace_of(run_id) if workspace is None else self._parts.workspace(workspace)
        return place.runtime.replay(run_id, self._parts.engines.get, place.toolbox.registry, until=until, caller=caller)

    def cancel(self, run_id: str) -> bool:
        """Cancel a run that is under way here; False if there is none of this id."""
        with self._lock:
            deadline = self._under_way.get(run_id)
        if deadline is not None:
            deadline.cancel()
        return deadline is not None

    def close(self) -> None:
        """Cancel what is under way, and wait until it has ended."""
        with self._lock:
            self._closed = True
            executor, self._executor = self._executor, None
            for deadline in self._under_way.values():
                deadline.cancel()
        if executor is not None:
            executor.shutdown()

    @contextmanager
    def _entered(self, run_id: str | None, seconds: float, deadline: Deadline | None) -> Iterator[tuple[str, Deadline]]:
        """Note that a run is under way, so that it can be cancelled."""
        self._refuse_to_block()
        run_id, deadline = run_id or new_run_id(), deadline or Deadline(seconds)
        with self._lock:
            # One that was started before is executed all the same: it ends at once, and its receipts say so.
            if self._closed and run_id not in self._under_way:
                raise AppClosed
            self._under_way[run_id] = deadline
        try:
            yield run_id, deadline
        finally:
            with self._lock:
                self._under_way.pop(run_id, None)

    def workspace_of(self, run_id: str) -> OpenWorkspace:
        """The workspace in which a run began."""
        known = find_run(self._parts.stores.database, run_id)
        own = self._parts.settings.config.workspace_dir.resolve()
        if known.header.workspace in ("", str(own)):
            return self._parts.workspace()
        # Its tools are code that runs outside the sandbox: a table that somebody edited must not choose it.
        if not has_proven_header(self._parts.stores.log, known):
            raise NotResumable(f"the header of {run_id} is not the one it began with", hint="start it again")
        return self._parts.workspace(Path(known.header.workspace))

    def _refuse_to_block(self) -> None:
        """The loop that async tools run on must not wait for a run that may call them."""
        loop = self._parts.handlers.host_loop
        if loop is None:
            return
        from asyncio import get_running_loop

        try:
            if get_running_loop() is loop:
                raise WouldBlock
        except RuntimeError:
            return  # No loop runs on this thread.
