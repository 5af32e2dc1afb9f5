"""CoilClaw: one runtime, opened in one line, that serves many callers at once."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal

from coilclaw.app.approvals import Approvals
from coilclaw.app.composition import Composition, OpenWorkspace
from coilclaw.app.errors import AppClosed, WouldBlock
from coilclaw.app.events import RunEvents, RunOutput
from coilclaw.app.handle import RunHandle
from coilclaw.app.report import CallReport, Report, reported
from coilclaw.app.services import run_limits
from coilclaw.bridge import Caller
from coilclaw.config import Settings, load_settings
from coilclaw.receipts import Verification
from coilclaw.runs import ApprovedPlan, Comparison, Rehearsal, find_run, new_run_id
from coilclaw.sandbox import Deadline, Engine, Limits, Snippet
from coilclaw.sdk import OperatorError, Tool

if TYPE_CHECKING:
    from coilclaw.app.notices import Notices

__all__ = ["CoilClaw"]

_FEWEST_WORKERS: Final = 8
_MOST_WORKERS: Final = 32


class CoilClaw:
    """A home, a workspace and tools, ready to run snippets. Thread-safe.

    Use it in `with` or `async with`, or call `close()`. In `async with`, async tools run on the event loop of the
    caller. What is still running when it is closed is cancelled.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        environment: Mapping[str, str] | None = None,
        tools: Sequence[Tool] = (),
        pool: int | None = None,
        watch: bool = False,
        workers: int | None = None,
        record: bool = True,
        notices: Notices | None = None,
        patience: Callable[[], float] | None = None,
    ) -> None:
        """Use `open` or `temporary` instead, unless the settings are at hand. Nothing is loaded yet."""
        self.settings = settings
        self._parts = Composition(
            settings,
            environment=environment or {},
            tools=tools,
            pool=pool,
            watch=watch,
            record=record,
            notices=notices,
            patience=patience,
        )
        self._workers = workers or max(_FEWEST_WORKERS, min(_MOST_WORKERS, 2 * (os.cpu_count() or 1)))
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._running: dict[str, Deadline] = {}
        self._closed = False
        self._after = ExitStack()

    @classmethod
    def open(
        cls,
        home: str | os.PathLike[str],
        *,
        workspace: str | os.PathLike[str] | None = None,
        tools: Sequence[Tool] = (),
        pool: int | None = None,
        watch: bool = False,
        environment: Mapping[str, str] | None = None,
        config: Mapping[str, Any] | None = None,
        cache: Path | None = None,
        workers: int | None = None,
        notices: Notices | None = None,
    ) -> CoilClaw:
        """Open the app of a home folder, which is made if it does not exist.

        `workspace` has the tool files and what file tools reach; by default the configuration says. `tools` come from
        the host's own code. `pool` sandboxes are kept ready. With `watch`, a saved tool file is used by the next run.
        `environment` stands for the environment variables of a command: nothing else is read. `config` overrides keys
        of `config.toml`, such as `{"security.autonomy": "readonly"}`. The compiled sandbox is kept in `cache`, by
        default the user's. At most `workers` runs of `start` are executed at the same time.
        """
        given = dict(config or {})
        if workspace is not None:
            given["workspace_dir"] = str(_folder(workspace))
        place = Path(home).expanduser().absolute()
        settings = load_settings(environment or {}, given, home=place, cache=cache)
        made = cls(
            settings,
            environment=environment,
            tools=tools,
            pool=pool,
            watch=watch,
            workers=workers,
            notices=notices,
        )
        try:
            made.load()
        except BaseException:
            made.close()
            raise
        return made

    @classmethod
    def temporary(
        cls,
        *,
        tools: Sequence[Tool] = (),
        pool: int | None = None,
        environment: Mapping[str, str] | None = None,
        config: Mapping[str, Any] | None = None,
        cache: Path | None = None,
        workers: int | None = None,
        notices: Notices | None = None,
    ) -> CoilClaw:
        """Open an app whose home and workspace are removed when it is closed. Parameters as for `open`."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="coilclaw-")))
            (folder / "workspace").mkdir()
            made = cls.open(
                folder / "home",
                workspace=folder / "workspace",
                tools=tools,
                pool=pool,
                environment=environment,
                config=config,
                cache=cache,
                workers=workers,
                notices=notices,
            )
            made._after = stack.pop_all()
            return made

    def load(self, engine: str | Literal[False] = False) -> None:
        """Load the tools now, and with a name the engine, so that the first run need not."""
        if engine:
            self._parts.engines.get(engine)
        self._parts.workspace()

    # Running ---------------------------------------------------------------------------------------------

    def run(
        self,
        source: str,
        *,
        inputs: Mapping[str, Any] | None = None,
        name: str = "snippet.py",
        engine: str | None = None,
        timeout: float | None = None,
        limits: Limits | None = None,
        caller: Caller | None = None,
        plan: ApprovedPlan | None = None,
        deadline: Deadline | None = None,
    ) -> Report:
        """Run a snippet and return its report, on the calling thread.

        `inputs` are the variables it starts with; `timeout` is in seconds. With `plan`, it carries out a rehearsal
        that was approved. Whoever passes a `deadline` can cancel the run with it.
        """
        self._refuse_to_block()
        snippet = Snippet(source=source, name=name, inputs=inputs or {})
        limits = self._limits(limits, timeout)
        deadline = deadline or Deadline(limits.seconds)
        return self._run(snippet, engine, limits, deadline, caller or Caller(), new_run_id(), plan)

    def start(
        self,
        source: str,
        *,
        inputs: Mapping[str, Any] | None = None,
        name: str = "snippet.py",
        engine: str | None = None,
        timeout: float | None = None,
        limits: Limits | None = None,
        caller: Caller | None = None,
    ) -> RunHandle:
        """Start a snippet on a thread of the app and return at once; parameters as for `run`.

        Runs beyond the number of workers wait for their turn, and the waiting is not part of their time.
        """
        snippet = Snippet(source=source, name=name, inputs=inputs or {})
        limits, run_id = self._limits(limits, timeout), new_run_id()
        deadline, output = Deadline(limits.seconds), RunOutput(run_id)
        caller = caller or Caller()
        show = caller.show

        def both(stream: int, text: str) -> None:
            output.add(stream, text)
            show(stream, text)

        def job() -> Report:
            try:
                return self._run(snippet, engine, limits, deadline, replace(caller, show=both), run_id, None)
            finally:
                output.ended.set()

        log = self._parts.stores.log
        events = RunEvents(output, log, log.sealed_head().seq)
        with self._lock:
            if self._closed:
                raise AppClosed
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self._workers, thread_name_prefix="coilclaw-run")
            self._running[run_id] = deadline
            future = self._executor.submit(job)
        return RunHandle(run_id, future, deadline, events)

    def _run(
        self,
        snippet: Snippet,
        engine: str | None,
        limits: Limits,
        deadline: Deadline,
        caller: Caller,
        run_id: str,
        plan: ApprovedPlan | None,
    ) -> Report:
        with self._under_way(run_id, deadline):
            place = self._parts.workspace()
            made = self._parts.engines.get(engine)
            deadline.restart()  # Neither loading nor compiling is the run's time.
            done = place.runtime.run(
                snippet,
                made,
                place.toolbox.registry,
                limits,
                caller=caller,
                deadline=deadline,
                planned=plan,
                run_id=run_id,
            )
            return reported(self._parts.stores, done)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        caller: Caller | None = None,
        deadline: Deadline | None = None,
    ) -> CallReport:
        """Call one tool directly: the same checks and the same receipts as for a call of a snippet."""
        self._refuse_to_block()
        limits = self._limits(None, timeout)
        deadline = deadline or Deadline(limits.seconds)
        with self._under_way(f"call-{id(deadline)}", deadline):
            place = self._parts.workspace()
            result, done = place.runtime.call(
                tool.removeprefix("tools."),
                arguments or {},
                place.toolbox.registry,
                limits,
                caller=caller or Caller(),
                deadline=deadline,
            )
            return CallReport(result=result, report=reported(self._parts.stores, done))

    def rehearse(
        self,
        source: str,
        *,
        inputs: Mapping[str, Any] | None = None,
        name: str = "snippet.py",
        engine: str | None = None,
        timeout: float | None = None,
        limits: Limits | None = None,
        caller: Caller | None = None,
        deadline: Deadline | None = None,
    ) -> Rehearsal:
        """Run a snippet with its reads only; other calls are answered with sample values. Returns the plan."""
        self._refuse_to_block()
        limits = self._limits(limits, timeout)
        deadline = deadline or Deadline(limits.seconds)
        with self._under_way(f"rehearsal-{id(deadline)}", deadline):
            place, made = self._parts.workspace(), self._parts.engines.get(engine)
            deadline.restart()
            snippet = Snippet(source=source, name=name, inputs=inputs or {})
            return place.runtime.rehearse(
                snippet, made, place.toolbox.registry, limits, caller=caller or Caller(), deadline=deadline
            )

    def resume(
        self,
        run_id: str,
        *,
        unknown: Literal["retry", "failed"] | None = None,
        timeout: float | None = None,
        caller: Caller | None = None,
        deadline: Deadline | None = None,
    ) -> Report:
        """Repeat a suspended run from its journal, then continue it, in the workspace where it began.

        `unknown` says what to do about calls of unknown outcome: call again, or count as failed.
        """
        self._refuse_to_block()
        known = find_run(self._parts.stores.database, run_id)
        deadline = deadline or Deadline(timeout or known.header.run_limits().seconds)
        with self._under_way(run_id, deadline):
            place = self._workspace_of(run_id)

            def engine(name: str) -> Engine:
                made = self._parts.engines.get(name)
                deadline.restart()
                return made

            deadline.restart()
            done = place.runtime.resume(
                run_id, engine, place.toolbox.registry, caller=caller or Caller(), deadline=deadline, unknown=unknown
            )
            return reported(self._parts.stores, done)

    def replay(self, run_id: str, *, until: int | None = None, caller: Caller | None = None) -> Comparison:
        """Repeat a run from its journal with no side effects, and compare.

        With `until`, it stops at the call of that number and shows the variables.
        """
        self._refuse_to_block()
        place = self._workspace_of(run_id)
        return place.runtime.replay(
            run_id, self._parts.engines.get, place.toolbox.registry, until=until, caller=caller or Caller()
        )

    # Looking and deciding --------------------------------------------------------------------------------

    @cached_property
    def approvals(self) -> Approvals:
        """Pending calls, decisions about them, and windows."""
        return Approvals(self._parts.stores)

    def verify(self) -> Verification:
        """Check the whole receipt log: every hash, the chain and the seal."""
        return self._parts.stores.log.verify()

    # Opening and closing ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Cancel what still runs, wait until that has ended, and close everything. May be called again."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            executor = self._executor
            for deadline in self._running.values():
                deadline.cancel()
        with self._after, ExitStack() as stack:
            stack.callback(self._parts.close)
            if executor is not None:
                executor.shutdown()

    def __enter__(self) -> CoilClaw:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> CoilClaw:
        self._parts.handlers.host_loop = asyncio.get_running_loop()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # On another thread: runs that have to end first may be waiting for this loop.
        loop = asyncio.get_running_loop()
        closed = loop.create_future()

        def close() -> None:
            try:
                self.close()
            finally:
                loop.call_soon_threadsafe(closed.set_result, None)

        thread = threading.Thread(target=close, name="coilclaw-close")
        thread.start()
        await closed
        thread.join()

    # Inside ----------------------------------------------------------------------------------------------

    def _limits(self, limits: Limits | None, timeout: float | None) -> Limits:
        limits = limits or run_limits(self.settings.config)
        return limits if timeout is None else replace(limits, seconds=timeout)

    def _under_way(self, run_id: str, deadline: Deadline) -> ExitStack:
        """Enter a run, so that closing the app cancels it."""
        with self._lock:
            if self._closed and run_id not in self._running:
                raise AppClosed
            self._running[run_id] = deadline
        leaving = ExitStack()
        leaving.callback(self._running.pop, run_id, None)
        return leaving

    def _workspace_of(self, run_id: str) -> OpenWorkspace:
        header = find_run(self._parts.stores.database, run_id).header
        return self._parts.workspace(Path(header.workspace) if header.workspace else None)

    def _refuse_to_block(self) -> None:
        """The loop that async tools run on must not wait for a run that may call them."""
        loop = self._parts.handlers.host_loop
        if loop is not None and asyncio._get_running_loop() is loop:
            raise WouldBlock


def _folder(workspace: str | os.PathLike[str]) -> Path:
    place = Path(workspace).expanduser()
    if not place.is_dir():
        raise OperatorError(f"the workspace {place} {'is not a folder' if place.exists() else 'does not exist'}")
    return place.resolve()
