"""All configured servers of a process: one thread with one event loop, which is started when it is first needed."""

from __future__ import annotations

import importlib.util
import logging
import math
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import CancelledError, Future, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from coilclaw.sdk import Diagnostic, Handler, Tool, ToolContext, ToolFailure
from coilclaw.workspace_tools.collection import Loaded
from coilclaw.workspace_tools.mcp_servers.failure import Failure, forget_failure, read_failure, write_failure
from coilclaw.workspace_tools.mcp_servers.listing import Listing, OfferedTool, read_listing, write_listing
from coilclaw.workspace_tools.mcp_servers.results import value_of
from coilclaw.workspace_tools.mcp_servers.spec import ServerSpec, Unreachable
from coilclaw.workspace_tools.mcp_servers.tools import risk_of, tools_of
from coilclaw.workspace_tools.names import action_name, installed_integrations
from coilclaw.workspace_tools.schema_tool import SchemaInput

if TYPE_CHECKING:
    import asyncio  # Imported where it is used: most processes start no server.

    from coilclaw.workspace_tools.mcp_servers.connection import Connection

__all__ = ["McpServers", "ServerState"]

_logger = logging.getLogger(__name__)

_INHERITED: Final = ("PATH", "HOME", "LANG")
_LEARN_SECONDS: Final = 10.0
_SLOW_SECONDS: Final = 1.0
_CLOSE_SECONDS: Final = 15.0
"""Longer than a server has for its end, also on a busy machine."""


@dataclass(frozen=True, kw_only=True)
class ServerState:
    """What is known about a server right now."""

    name: str
    state: Literal["running", "known", "unknown", "failed"]
    """`known`: its tools are remembered from an earlier start, and it is started by the first call."""
    tools: tuple[str, ...]
    problem: str | None = None


class _Server:
    """One server: what it offers, and the connection to it once there is one."""

    def __init__(self, spec: ServerSpec, folder: Path) -> None:
        self.spec = spec
        self.file = folder / f"{spec.key}.json"
        self.failure_file = folder / f"{spec.key}.failed"
        self.log = folder / f"{spec.key}.log"
        self.listing: Listing | None = None
        self.made: tuple[Listing, list[Tool], list[Diagnostic]] | None = None
        self.connection: Connection | None = None
        self.problem: str | None = None
        self.failure: Failure | None = None


class McpServers:
    """The tools of the configured servers.

    `on_change` is called, on a thread of its own, when a server turns out to offer other tools than `load` said.
    `environment` is what a server may inherit; of it only PATH, HOME and LANG are passed on. A server whose tools
    are not known yet is given `learn_seconds` to tell them, and `progress` is told if it takes long.
    """

    def __init__(
        self,
        specs: Iterable[ServerSpec],
        cache_folder: Path,
        on_change: Callable[[], object],
        *,
        environment: Mapping[str, str] | None = None,
        learn_seconds: float = _LEARN_SECONDS,
        progress: Callable[[str], None] = lambda message: None,
    ) -> None:
        self._folder = cache_folder
        self._servers = [_Server(spec, cache_folder) for spec in specs]
        self._on_change = on_change
        self._environment = {name: value for name in _INHERITED if (value := (environment or {}).get(name))}
        self._learn_seconds = learn_seconds
        self._progress = progress
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    # Loading -------------------------------------------------------------------------------------------

    def load(self) -> Loaded:
        """The tools of all servers. One that was never seen is started to learn them; the others wait for a call."""
        loaded = Loaded()
        if not self._servers:
            return loaded
        if importlib.util.find_spec("mcp") is None:
            for server in self._servers:
                server.problem = "the package mcp is not installed"
            loaded.diagnostics.extend(
                Diagnostic(
                    file=server.spec.place,
                    line=None,
                    message="MCP servers need a package that is not installed",
                    hint="pip install 'coilclaw[mcp]'",
                )
                for server in self._servers
            )
            return loaded
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        usable = self._usable(loaded)
        self._learn([server for server in usable if not self._is_known(server)])
        for server in usable:
            if server.listing is None:
                loaded.diagnostics.append(self._diagnostic(server))
                continue
            made = server.made
            if made is None or made[0] is not server.listing:
                # A registry is built anew whenever anything changes; the tools of a server rarely do.
                made = (server.listing, *tools_of(server.spec, server.listing, partial(self._handler, server)))
                server.made = made
            loaded.tools.extend(made[1])
            loaded.diagnostics.extend(made[2])
        return loaded

    def states(self) -> list[ServerState]:
        """For a person: every server, after `load`."""
        return [
            ServerState(
                name=server.spec.name,
                state=self._state(server),
                tools=tuple(tool.name for tool in server.listing or ()),
                problem=server.problem,
            )
            for server in self._servers
        ]

    def _state(self, server: _Server) -> Literal["running", "known", "unknown", "failed"]:
        if server.connection is not None and server.connection.is_running:
            return "running"
        if server.problem is not None:
            return "failed"
        return "known" if server.listing is not None else "unknown"

    def _usable(self, loaded: Loaded) -> list[_Server]:
        """Those whose name can be part of an id that means nothing else."""
        usable: dict[str, _Server] = {}
        integrations = installed_integrations()
        for server in self._servers:
            name = action_name(server.spec.name)
            if not name:
                problem = "nothing in the name can be part of a tool's id"
            elif name in integrations:
                # What policy says about the integration must not cover the tools of a server.
                problem = f"{name!r} is an integration of this installation"
            elif name in usable:
                problem = f"{usable[name].spec.place} is called {name!r} too"
            else:
                usable[name] = server
                continue
            server.problem = problem
            loaded.diagnostics.append(
                Diagnostic(file=server.spec.place, line=None, message=problem, hint="give the server another name")
            )
        return list(usable.values())

    def _is_known(self, server: _Server) -> bool:
        if server.listing is None:
            server.listing = read_listing(server.file)
        return server.listing is not None

    def refresh(self, name: str | None = None) -> None:
        """Start one server, or all, and learn its tools anew, however often it failed before.

        Each has as long as its configuration gives it for a call.
        """
        chosen = [server for server in self._usable(Loaded()) if name is None or server.spec.name == name]
        if chosen and importlib.util.find_spec("mcp") is not None:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for server in chosen:
                self._is_known(server)
                server.failure = None
                forget_failure(server.failure_file)
            self._start(chosen, None)

    def _learn(self, unknown: list[_Server]) -> None:
        """Learn the tools of these servers, except for those that failed lately."""
        if not unknown:
            return
        from coilclaw.workspace_tools.mcp_servers.stdio import program_problem

        due: list[_Server] = []
        for server in unknown:
            command = server.spec.command
            if command is not None and (missing := program_problem(command, self._environment_of(server))):
                server.problem = missing  # Quicker to find out than to remember.
                continue
            if server.failure is None:
                server.failure = read_failure(server.failure_file)
            if server.failure is None or server.failure.seconds_left <= 0:
                due.append(server)
            else:
                server.problem = server.failure.problem
        self._start(due, self._learn_seconds)

    def _start(self, servers: list[_Server], most_seconds: float | None) -> None:
        """Start all of them at once, and remember which failed."""
        begun: list[tuple[_Server, float, Future[Any]]] = []
        for server in servers:
            seconds = server.spec.seconds if most_seconds is None else min(server.spec.seconds, most_seconds)
            try:
                begun.append((server, seconds, self._run(self._connection_ready(server, seconds))))
            except Unreachable as error:
                server.problem = str(error)
        slow = wait([future for _, _, future in begun], _SLOW_SECONDS).not_done if begun else set()
        for server, seconds, future in begun:
            if future in slow:
                self._progress(f"Starting the MCP server {server.spec.name}, which has {seconds:g} s for it …")
        for server, seconds, future in begun:
            try:
                future.result(seconds + _CLOSE_SECONDS)
                server.problem = server.failure = None
                forget_failure(server.failure_file)
            except (Exception, CancelledError) as error:
                future.cancel()
                problem = str(error) or type(error).__name__
                before, server.problem = server.failure, problem
                server.failure = Failure.now(problem) if before is None else before.again(problem)
                if not self._closed:
                    write_failure(server.failure_file, server.failure)

    def _diagnostic(self, server: _Server) -> Diagnostic:
        looks = f"; its log is {server.log}" if server.log.exists() else ""
        left = server.failure.seconds_left if server.failure is not None else 0.0
        again = f"it is tried again in {math.ceil(left)} s, or now with" if left > 0 else "try it with"
        return Diagnostic(
            file=server.spec.place,
            line=None,
            message=f"the server cannot be used: {server.problem or 'it is being started'}",
            hint=f"{again}: coilclaw mcp refresh {server.spec.name}{looks}",
        )

    # The loop ------------------------------------------------------------------------------------------

    def _run(self, job: Coroutine[Any, Any, Any]) -> Future[Any]:
        import asyncio

        with self._lock:
            if self._closed:
                job.close()
                raise Unreachable("the servers were closed")
            if self._loop is None:
                # The library's loggers would otherwise write what servers send to the terminal.
                for name in ("mcp", "client"):
                    logging.getLogger(name).addHandler(logging.NullHandler())
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._turn, args=(self._loop,), name="coilclaw-mcp", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(job, self._loop)

    @staticmethod
    def _turn(loop: asyncio.AbstractEventLoop) -> None:
        import asyncio

        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()

    def _connection(self, server: _Server) -> Connection:
        """On the loop only."""
        from coilclaw.workspace_tools.mcp_servers.connection import Connection

        if server.connection is None:
            # Not where we are: a file of a workspace could be taken for a module of the server.
            folder = self._folder / server.spec.key
            folder.mkdir(exist_ok=True, mode=0o700)
            server.connection = Connection(
                server.spec,
                environment=self._environment_of(server),
                folder=folder,
                log=server.log,
                learned=lambda listing: self._learned(server, listing),
            )
        return server.connection

    def _environment_of(self, server: _Server) -> dict[str, str]:
        return {**self._environment, **server.spec.env}

    async def _connection_ready(self, server: _Server, seconds: float) -> None:
        await self._connection(server).ready(seconds)

    def _learned(self, server: _Server, listing: Listing) -> None:
        before, server.problem = server.listing, None
        if listing == before:
            return
        server.listing = listing
        write_listing(server.file, listing)
        if before is not None:
            # It may load again, which waits for this loop.
            threading.Thread(target=self._tell, name="coilclaw-mcp-change", daemon=True).start()

    def _tell(self) -> None:
        try:
            self._on_change()
        except Exception:
            _logger.exception("the change of a server's tools could not be followed")

    # Calling -------------------------------------------------------------------------------------------

    def _handler(self, server: _Server, offered: OfferedTool) -> Handler:
        again = risk_of(offered).value == "read" or offered.idempotent

        digest = offered.digest

        def check() -> None:
            if not any(each.digest == digest for each in server.listing or ()):
                raise ToolFailure(
                    f"the server {server.spec.name} has changed this tool since it was loaded",
                    code="tool_changed",
                    hint="run it again; if this happens every time, the server describes its tools anew at each start "
                    "and cannot be used like that",
                )

        async def there(arguments: dict[str, Any]) -> Any:
            return await self._connection(server).call(offered.name, arguments, again=again, check=check)

        async def call(input: SchemaInput, ctx: ToolContext) -> Any:
            import asyncio

            is_running = server.connection is not None and server.connection.is_running
            try:
                answer = asyncio.wrap_future(self._run(there(input.arguments)))
            except Unreachable as error:
                raise ToolFailure(str(error), code="mcp_unreachable") from None
            try:
                if not is_running and not (await asyncio.wait([answer], timeout=_SLOW_SECONDS))[0]:
                    ctx.progress(f"starting the MCP server {server.spec.name}")
                return value_of(await answer, server.spec)
            finally:
                answer.cancel()

        return call

    def close(self) -> None:
        """End all servers and the thread. Calls under way fail."""
        import asyncio

        with self._lock:
            self._closed = True
            loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return
        ending = asyncio.run_coroutine_threadsafe(self._end(), loop)
        try:
            ending.result(_CLOSE_SECONDS)
        except Exception:
            # The thread's end takes the servers with it.
            _logger.debug("servers were not closed in time")
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join(_CLOSE_SECONDS)

    async def _end(self) -> None:
        import asyncio

        connections = [server.connection for server in self._servers if server.connection is not None]
        await asyncio.gather(*(connection.close() for connection in connections), return_exceptions=True)
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
