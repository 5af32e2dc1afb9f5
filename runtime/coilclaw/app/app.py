"""CoilClaw: one runtime, opened in one line, that serves many callers at once."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from coilclaw.app.arguments import check_timeout, given_caller, given_limits, given_snippet, given_workspace
from coilclaw.app.composition import Composition
from coilclaw.app.errors import AppClosed
from coilclaw.config import Settings, load_settings

if TYPE_CHECKING:  # Imported where they are used: whoever only looks needs few of them.
    import os
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from coilclaw.app.approvals import Approvals
    from coilclaw.app.engines import Engines
    from coilclaw.app.estop import Estop
    from coilclaw.app.execution import Execution
    from coilclaw.app.handle import RunHandle
    from coilclaw.app.notices import Notices
    from coilclaw.app.quarantine import Quarantine
    from coilclaw.app.receipts import Receipts
    from coilclaw.app.report import CallReport, Report
    from coilclaw.app.runs import Runs
    from coilclaw.app.tools import Tools
    from coilclaw.bridge import Caller, Registry
    from coilclaw.config import Settings
    from coilclaw.evidence import EventFeed, EventReader
    from coilclaw.receipts import Verification
    from coilclaw.runs import ApprovedPlan, Comparison, Rehearsal
    from coilclaw.sandbox import Deadline, Limits
    from coilclaw.sdk import Tool

__all__ = ["CoilClaw"]


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
        self._workers = workers
        self._lock = threading.Lock()
        self._made: Execution | None = None
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
            given["workspace_dir"] = str(given_workspace(workspace))
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
        import tempfile

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

    def load(self) -> None:
        """Load the tools now, so that the first run need not."""
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
        retry_of: str | None = None,
        deadline: Deadline | None = None,
    ) -> Report:
        """Run a snippet and return its report, on the calling thread.

        `inputs` are the variables it starts with; `timeout` is in seconds. With `plan`, it carries out a rehearsal
        that was approved. With `retry_of`, calls that are the same as succeeded writes of that run are answered from
        its receipts, and not made again. Whoever passes a `deadline` can cancel the run with it.
        """
        snippet, given = given_snippet(source, name, inputs), given_limits(self.settings.config, limits, timeout)
        return self._execution.run(
            snippet, engine, given, given_caller(caller), deadline=deadline, plan=plan, retry_of=retry_of
        )

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
        retry_of: str | None = None,
    ) -> RunHandle:
        """Start a snippet on a thread of the app and return at once; parameters as for `run`.

        Runs beyond the number of workers wait for their turn, and the waiting is not part of their time.
        """
        snippet, given = given_snippet(source, name, inputs), given_limits(self.settings.config, limits, timeout)
        return self._execution.start(snippet, engine, given, given_caller(caller), retry_of=retry_of)

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
        limits = given_limits(self.settings.config, None, timeout)
        return self._execution.call(
            tool.removeprefix("tools."), arguments or {}, limits, given_caller(caller), deadline
        )

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
        snippet, given = given_snippet(source, name, inputs), given_limits(self.settings.config, limits, timeout)
        return self._execution.rehearse(snippet, engine, given, given_caller(caller), deadline)

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
        check_timeout(timeout)
        return self._execution.resume(run_id, given_caller(caller), unknown=unknown, timeout=timeout, deadline=deadline)

    def replay(
        self,
        run_id: str,
        *,
        until: int | None = None,
        workspace: Path | None = None,
        caller: Caller | None = None,
    ) -> Comparison:
        """Repeat a run from its journal with no side effects, and compare.

        With `until`, it stops at the call of that number and shows the variables. The tools compared with are those
        of the workspace where the run began, or of `workspace`.
        """
        return self._execution.replay(run_id, given_caller(caller), until, workspace)

    # Looking and deciding --------------------------------------------------------------------------------

    @cached_property
    def approvals(self) -> Approvals:
        """Pending calls, decisions about them, and windows."""
        from coilclaw.app.approvals import Approvals

        return Approvals(self._parts.stores)

    @cached_property
    def receipts(self) -> Receipts:
        """The log: its latest receipts, those of a run, and what they stand for."""
        from coilclaw.app.receipts import Receipts

        return Receipts(self._parts.stores.log)

    @cached_property
    def runs(self) -> Runs:
        """Runs of this home, whichever process they belong to."""
        from coilclaw.app.runs import Runs

        return Runs(self._parts.stores, self._cancel_here)

    @cached_property
    def tools(self) -> Tools:
        """What can be called: the registry, stubs for a model, search, and what policy says."""
        from coilclaw.app.tools import Tools

        return Tools(self._parts)

    def registry_of(self, run_id: str) -> Registry:
        """The tools that a run would be resumed with: those of the workspace where it began."""
        return self._execution.workspace_of(run_id).toolbox.registry

    @property
    def engines(self) -> Engines:
        """The sandbox engines by name; each is made when first asked for."""
        return self._parts.engines

    @cached_property
    def quarantine(self) -> Quarantine:
        """Tool files that were written through the bridge and are not trusted yet."""
        from coilclaw.app.quarantine import Quarantine

        return Quarantine(self._parts.stores, self.settings.config.workspace_dir)

    @cached_property
    def estop(self) -> Estop:
        """The emergency stop of the home."""
        from coilclaw.app.estop import Estop
        from coilclaw.policy import EmergencyStop

        return Estop(EmergencyStop.of_home(self.settings.home), lambda: self._parts.stores.log)

    def events(self, after: str | None = None) -> EventReader:
        """Everything that happens in this home, in any process, for `async for` or `for`: from the beginning of the
        log, or behind an event's cursor. `feed.end()` is the cursor of now."""
        return self._parts.feed.follow(after)

    @property
    def feed(self) -> EventFeed:
        """The event feed behind `events`."""
        return self._parts.feed

    def verify(self) -> Verification:
        """Check the whole receipt log: every hash, the chain and the seal."""
        return self._parts.stores.log.verify()

    # Opening and closing ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Cancel what still runs, wait until that has ended, and close everything. May be called again."""
        with self._lock:
            self._closed, made = True, self._made
        with self._after, ExitStack() as stack:
            stack.callback(self._parts.close)
            if made is not None:
                stack.callback(made.close)

    def __enter__(self) -> CoilClaw:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> CoilClaw:
        from asyncio import get_running_loop

        self._parts.handlers.host_loop = get_running_loop()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        from coilclaw.app.handle import run_beside_loop

        await run_beside_loop(self.close)  # Runs that have to end first may be waiting for this loop.

    # Inside ----------------------------------------------------------------------------------------------

    @property
    def _execution(self) -> Execution:
        from coilclaw.app.execution import Execution

        with self._lock:
            if self._made is None:
                if self._closed:
                    raise AppClosed
                self._made = Execution(self._parts, self._workers)
            return self._made

    def _cancel_here(self, run_id: str) -> bool:
        with self._lock:
            execution = self._made
        return execution is not None and execution.cancel(run_id)
