"""Everything that provides tools to one workspace, for as long as an app is open."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from coilclaw.app.servers import open_servers
from coilclaw.bridge import LiveRegistry, Provision, registry_tools
from coilclaw.sdk import OperatorError, Risk
from coilclaw.sdk.contract import deferred_tool
from coilclaw.workspace_tools import Change, Loaded, TooManyFiles, Watch, Workspace, load_installed

if TYPE_CHECKING:
    from coilclaw.bridge import Registry
    from coilclaw.config import Settings
    from coilclaw.memory import Memory
    from coilclaw.policy import Policy
    from coilclaw.sdk import Tool
    from coilclaw.trust import TrustLedger
    from coilclaw.workspace_tools import mcp_servers, plugins

__all__ = ["Toolbox", "installed_registry"]


def _no_memory() -> Memory:
    raise OperatorError("the memory is not open here")


class Toolbox:
    """Installed integrations first, then tools of the host's own code, plugins, MCP servers and the workspace: the
    first to have an id keeps it.

    With `record`, what is loaded leaves receipts, and so it counts as a person's own from then on.
    """

    def __init__(
        self,
        settings: Settings,
        ledger: TrustLedger | None,
        policy: Policy,
        *,
        environment: Mapping[str, str],
        tools: Sequence[Tool] = (),
        record: bool = True,
        memory: Callable[[], Memory] = _no_memory,
        progress: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.ledger = ledger
        self._record = record and ledger is not None
        self._path = environment.get("PATH", os.defpath)
        self._progress = progress
        self._watched = False
        place = settings.config.workspace_dir
        self.workspace = (
            Workspace(place, progress=self._tell)
            if ledger is None
            else Workspace(place, examine=ledger.examine, progress=self._tell)
        )
        self._lock = threading.Lock()
        self._unrecorded: dict[str, bytes] = {}
        self._outdated = True
        self.last_change = Change()
        installed, remembered = load_installed(settings.cache), _memory_search(memory)
        self._plugins = settings.home / "plugins"
        self._programs: plugins.Programs | None = None
        added = self._added()
        self._servers: mcp_servers.McpServers | None = None
        if settings.config.integrations.mcp:
            self._servers = open_servers(settings, environment, lambda: self.live.rebuild(), progress=self._tell)
        self.live = LiveRegistry(
            [
                lambda: _offer(installed),
                lambda: Provision(tools=tools),
                lambda: _offer(added),
                self._served,
                self._own,
            ],
            own=lambda lookup: (*registry_tools(lookup, policy=policy), remembered),
        )

    def refresh(self, *, force: bool = False) -> Change:
        """Look at everything, load what changed, and make the next registry if there is anything new."""
        with self._lock:
            if self._record and self.ledger is not None:
                self._recover(self.ledger)
            self.last_change = change = self.workspace.refresh(force=force)
            # Remembered until it is done: the next look finds nothing new, and what failed here would stay undone.
            self._outdated |= bool(change) or force
            self._unrecorded |= {source.name: source.data for source in change.loaded}
            if self._record and self.ledger is not None:
                self.ledger.record_loaded(list(self._unrecorded.items()))
            self._unrecorded = {}
            if self._outdated:
                self.live.rebuild()
                self._outdated = False
            return change

    def _recover(self, ledger: TrustLedger) -> None:
        with suppress(TooManyFiles):  # What was left behind stays held back; the registry's diagnostics say why.
            ledger.recover(self.workspace.sources.digests)

    def _tell(self, message: str) -> None:
        """Say why opening takes long. Whoever watches has a display of their own."""
        if not self._watched:
            self._progress(message)

    @property
    def registry(self) -> Registry:
        return self.live.current

    def watch(self, changed: Callable[[Change, Registry], None] = lambda change, registry: None) -> Watch:
        """Keep looking; `changed` is told of every new registry."""
        self._watched = True
        told = self.live.current.generation

        def look(force: bool) -> bool:
            nonlocal told
            change = self.refresh(force=force)
            if (current := self.live.current).generation != told:
                told = current.generation
                changed(change, current)
            return change.settled

        return Watch(self.workspace.sources.root, look)

    def close(self) -> None:
        """End the programs that were started for tools."""
        if self._programs is not None:
            self._programs.stop()
        if self._servers is not None:
            self._servers.close()

    def _added(self) -> Loaded:
        if not self._plugins.exists():
            return Loaded()
        from coilclaw.workspace_tools import plugins  # Most homes have none, and loading this takes its time.

        self._programs = plugins.Programs()
        return plugins.load_plugins(self._plugins, path=self._path, programs=self._programs)

    def _served(self) -> Provision:
        return Provision() if self._servers is None else _offer(self._servers.load())

    def _own(self) -> Provision:
        workspace = self.workspace
        return Provision(tools=workspace.tools, diagnostics=workspace.diagnostics, quarantined=workspace.quarantined)


def installed_registry(policy: Policy) -> Registry:
    """The tools that every workspace has."""
    installed, remembered = load_installed(), _memory_search(_no_memory)
    return LiveRegistry(
        [lambda: _offer(installed)], own=lambda lookup: (*registry_tools(lookup, policy=policy), remembered)
    ).rebuild()


def _memory_search(memory: Callable[[], Memory]) -> Tool:
    """The contract of `memory.search`. Few runs call it, so a call loads its code."""

    @cache
    def made() -> Tool:
        from coilclaw.memory import make_search_tool

        return make_search_tool(memory)

    return deferred_tool(
        made,
        classified=False,
        id="memory.search",
        risk=Risk.READ,
        idempotent=True,
        aliases=("memory_search",),
        description="Search earlier conversations. `source` says who an excerpt comes from: a person, the model or a "
        "tool.",
        examples=({"query": "aardvark adapter"},),
        file=str(Path(__file__).parents[1] / "memory" / "search_tool.py"),
    )


def _offer(loaded: Loaded) -> Provision:
    return Provision(tools=loaded.tools, diagnostics=loaded.diagnostics)
