"""CoilClaw: one runtime, opened in one line, that serves many callers at once."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from coilclaw.app.arguments import check, existing_folder, given_arguments, given_limits, given_request
from coilclaw.app.composition import Composition
from coilclaw.app.errors import AppClosed, BadArgument
from coilclaw.config import load_settings

if TYPE_CHECKING:  # Imported where they are used: whoever only looks needs few of them.
    import os
    from collections.abc import Iterable, Mapping
    from types import TracebackType

    from coilclaw.access import Access
    from coilclaw.app.approvals import Approvals
    from coilclaw.app.background import Background
    from coilclaw.app.engines import Engines
    from coilclaw.app.estop import Estop
    from coilclaw.app.handle import RunHandle
    from coilclaw.app.notices import Notices
    from coilclaw.app.quarantine import Quarantine
    from coilclaw.app.receipts import Receipts
    from coilclaw.app.report import CallReport, Report
    from coilclaw.app.runner import Runner
    from coilclaw.app.runs import Runs
    from coilclaw.app.tools import Tools
    from coilclaw.bridge import Caller, Registry
    from coilclaw.evidence import EventFeed, EventReader
    from coilclaw.memory import Memory
    from coilclaw.receipts import Verification
    from coilclaw.runs import ApprovedPlan, Comparison, Rehearsal
    from coilclaw.sandbox import Deadline, Limits
    from coilclaw.sdk import Tool
    from coilclaw.spaces import Spaces

__all__ = ["CoilClaw"]


class CoilClaw:
    """A home, a workspace and tools, ready to run snippets. Thread-safe.

    Use it in `with` or `async with`, or call `close()`. In `async with`, async tools run on the event loop of the
    caller. What is still running when it is closed is cancelled.
    """

    def __init__(self, parts: Composition | None = None, *, workers: int | None = None) -> None:
        """Use `open` or `temporary` instead, unless the parts are at hand. Nothing is loaded yet."""
        if not isinstance(parts, Composition):
            raise BadArgument("use CoilClaw.open(home) or CoilClaw.temporary()")
        check(workers=workers)
        self.settings = parts.settings
        self._parts = parts
        self._workers = workers
        self._lock = threading.Lock()
        self._closing = threading.RLock()
        self._made: Runner | None = None
        self._closed = False
        self._after = ExitStack()

    @classmethod
    def open(
        cls,
        home: str | os.PathLike[str],
        *,
        workspace: str | os.PathLike[str] | None = None,
        tools: Iterable[Tool] = (),
        pool: int | None = None,
        watch: bool = False,
        environment: Mapping[str, str] | None = None,
        config: Mapping[str, Any] | None = None,
        cache: str | os.PathLike[str] | None = None,
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
        check(home=home, workspace=workspace, environment=environment, config=config, cache=cache)
        given = dict(config or {})
        if workspace is not None:
            given["workspace_dir"] = str(existing_folder(workspace))
        settings = load_settings(
            environment or {},
            given,
            home=Path(home).expanduser().absolute(),
            cache=None if cache is None else Path(cache).expanduser(),
            given_by="the app's arguments",
        )
        parts = Composition(settings, environment=environment, tools=tools, pool=pool, watch=watch, notices=notices)
        with ExitStack() as stack:
            made = stack.enter_context(cls(parts, workers=workers))
            made.load()
            stack.pop_all()
        return made

    @classmethod
    def temporary(
        cls,
        *,
        tools: Iterable[Tool] = (),
        pool: int | None = None,
        environment: Mapping[str, str] | None = None,
        config: Mapping[str, Any] | None = None,
        cache: str | os.PathLike[str] | None = None,
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
        runner = self._blocking("run")
        check(deadline=deadline, plan=plan)
        config = self.settings.config
        request = given_request(config, source, name, inputs, engine, timeout, limits, caller, retry_of)
        return runner.run(request, deadline, plan)

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
        config = self.settings.config
        request = given_request(config, source, name, inputs, engine, timeout, limits, caller, retry_of)
        return self._runner.start(request)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        caller: Caller | None = None,
        deadline: Deadline | None = None,
        run_id: str | None = None,
    ) -> CallReport:
        """Call one tool directly: the same checks and the same receipts as for a call of a snippet.

        With `run_id`, an id of `new_run_id`, that is the run's name: it can be written down before the call is made.
        """
        runner = self._blocking("call")
        check(tool=tool, caller=caller, deadline=deadline)
        if run_id is not None:
            check(run_id=run_id)
        given, limits = given_arguments(arguments), given_limits(self.settings.config, None, timeout)
        return runner.call(tool.removeprefix("tools."), given, limits, caller, deadline, run_id)

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
        """Run a snippet with its reads only; other calls are answered with sample values. Its `plan` has the calls."""
        runner = self._blocking("rehearse")
        check(deadline=deadline)
        config = self.settings.config
        return runner.rehearse(given_request(config, source, name, inputs, engine, timeout, limits, caller), deadline)

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
        runner = self._blocking("resume")
        check(run_id=run_id, timeout=timeout, caller=caller, deadline=deadline)
        if unknown not in (None, "retry", "failed"):
            raise BadArgument('`unknown` is "retry", "failed" or None')
        return runner.resume(run_id, caller, unknown, timeout, deadline)

    def replay(
        self,
        run_id: str,
        *,
        until: int | None = None,
        workspace: str | os.PathLike[str] | None = None,
        caller: Caller | None = None,
    ) -> Comparison:
        """Repeat a run from its journal with no side effects, and compare.

        With `until`, it stops at the call of that number and shows the variables. The tools compared with are those
        of the workspace where the run began, or of `workspace`.
        """
        runner = self._blocking("replay")
        check(run_id=run_id, until=until, workspace=workspace, caller=caller)
        return runner.replay(run_id, caller, until, None if workspace is None else existing_folder(workspace))

    # Looking and deciding --------------------------------------------------------------------------------

    @cached_property
    def approvals(self) -> Approvals:
        """Pending calls, decisions about them, and windows."""
        from coilclaw.app.approvals import Approvals

        return Approvals(self._parts)

    @cached_property
    def receipts(self) -> Receipts:
        """The log: its latest receipts, those of a run, and what they stand for."""
        from coilclaw.app.receipts import Receipts

        return Receipts(self._parts)

    @cached_property
    def runs(self) -> Runs:
        """Runs of this home, whichever process they belong to."""
        from coilclaw.app.runs import Runs

        return Runs(self._parts, self._cancel_here)

    @cached_property
    def tools(self) -> Tools:
        """What can be called: the registry, stubs for a model, search, and what policy says."""
        from coilclaw.app.tools import Tools

        return Tools(self._parts)

    def registry_of(self, run_id: str) -> Registry:
        """The tools that a run would be resumed with: those of the workspace where it began."""
        check(run_id=run_id)
        return self._runner.workspace_of(run_id).toolbox.registry

    @cached_property
    def background(self) -> Background:
        """Runs that are accepted durably, and outlive whoever asked for them and this process."""
        from coilclaw.app.background import Background

        return Background(self._parts, lambda: self._runner)

    @property
    def engines(self) -> Engines:
        """The sandbox engines by name; each is made when first asked for."""
        return self._parts.engines

    @property
    def memory(self) -> Memory:
        """Conversations of this home: what people, models and tools have said."""
        return self._parts.memory

    @property
    def access(self) -> Access:
        """Who may use a server of this home: API tokens, sessions and run tokens."""
        return self._parts.access

    @property
    def spaces(self) -> Spaces:
        """The projects of this home and their files."""
        return self._parts.spaces

    @cached_property
    def quarantine(self) -> Quarantine:
        """Tool files that were written through the bridge and are not trusted yet."""
        from coilclaw.app.quarantine import Quarantine

        return Quarantine(self._parts)

    @cached_property
    def estop(self) -> Estop:
        """The emergency stop of the home."""
        from coilclaw.app.estop import Estop

        return Estop(lambda: self._parts.stop, lambda: self._parts.stores.log)

    def events(self, after: str | None = None) -> EventReader:
        """Everything that happens in this home, in any process, for `async for` or `for`: from the beginning of the
        log, or behind an event's cursor. `feed.end()` is the cursor of now."""
        check(after=after)
        return self._parts.feed.follow(after)

    @property
    def feed(self) -> EventFeed:
        """The event feed behind `events`."""
        return self._parts.feed

    def verify(self) -> Verification:
        """Check the whole receipt log: every hash, the chain and the seal."""
        self._parts.refuse_to_block("verify")
        return self._parts.stores.log.verify()

    # Opening and closing ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Refuse what comes from now on, cancel what still runs, wait until that has ended, and close everything.

        May be called again, and by several threads: each returns when everything is closed.
        """
        self._parts.refuse_to_block("close")
        with self._closing:
            with self._lock:
                self._closed, runner = True, self._made
            with self._after, ExitStack() as stack:
                stack.callback(self._parts.close)
                if runner is not None:
                    runner.close()

    def __enter__(self) -> CoilClaw:
        with self._parts.using():
            return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> CoilClaw:
        from asyncio import get_running_loop

        self._parts.run_tools_on(get_running_loop())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        from asyncio import shield, wrap_future
        from concurrent.futures import ThreadPoolExecutor

        # Runs that have to end first may be waiting for this loop; and the loop's own threads, for those runs.
        thread = ThreadPoolExecutor(1, thread_name_prefix="coilclaw-close")
        await shield(wrap_future(thread.submit(self.close)))
        thread.shutdown()

    # Inside ----------------------------------------------------------------------------------------------

    def _blocking(self, method: str) -> Runner:
        """The runner, for a method that waits until something has been run."""
        self._parts.refuse_to_block(method)
        return self._runner

    @property
    def _runner(self) -> Runner:
        from coilclaw.app.runner import Runner

        with self._lock:
            if self._closed:
                raise AppClosed
            if self._made is None:
                self._made = Runner(self._parts, self._workers)
            return self._made

    def _cancel_here(self, run_id: str) -> bool:
        with self._lock:
            runner = self._made
        return runner is not None and runner.cancel(run_id)
