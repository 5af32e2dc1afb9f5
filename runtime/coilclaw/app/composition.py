"""The parts of one app: each made when first needed, all closed with the app."""

from __future__ import annotations

import threading
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from coilclaw.app.engines import Engines
from coilclaw.app.notices import Notices
from coilclaw.app.stores import Stores, open_stores
from coilclaw.sdk import OperatorError, ToolDefinitionError
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:  # Imported where they are used: whoever only looks at the stores needs none of them.
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from coilclaw.app.toolbox import Toolbox
    from coilclaw.bridge import Handlers
    from coilclaw.config import SecretStore, Settings
    from coilclaw.evidence import EventFeed
    from coilclaw.policy import Policy
    from coilclaw.runs import Runtime
    from coilclaw.sdk import Tool

__all__ = ["Composition", "OpenWorkspace"]


class OpenWorkspace(Frozen):
    """A workspace in use: its tools, and the runtime that executes what calls them."""

    settings: Settings
    toolbox: Toolbox
    runtime: Runtime


class Composition:
    """Puts the parts together. Thread-safe; nothing here reads the environment or prints.

    Without `record`, loading tools leaves no receipts, and a log that does not exist is not begun.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        environment: Mapping[str, str],
        tools: Sequence[Tool] = (),
        pool: int | None = None,
        watch: bool = False,
        record: bool = True,
        notices: Notices | None = None,
        patience: Callable[[], float] | None = None,
    ) -> None:
        self.settings = settings
        self.environment = environment
        self.notices = notices or Notices()
        self._tools = tuple(tools)
        self._watch = watch
        self._record = record
        self._patience = patience
        self._lock = threading.RLock()
        self._closing = ExitStack()
        self._toolboxes: dict[Path, Toolbox] = {}
        self._open: dict[Path, OpenWorkspace] = {}
        self.engines = Engines(settings, pool=pool, notices=self.notices)

    @cached_property
    def policy(self) -> Policy:
        from coilclaw.app.services import make_policy

        return make_policy(self.settings.config)

    @cached_property
    def secrets(self) -> SecretStore:
        from coilclaw.app.services import make_secrets

        return make_secrets(self.settings, self.environment)

    @property
    def handlers(self) -> Handlers:
        with self._lock:
            return self._handlers

    @cached_property
    def _handlers(self) -> Handlers:
        from coilclaw.bridge import Handlers

        return self._closing.enter_context(closing(Handlers()))

    @property
    def stores(self) -> Stores:
        with self._lock:
            return self._stores

    @cached_property
    def _stores(self) -> Stores:
        return self._closing.enter_context(open_stores(self.settings, patience=self._patience, notices=self.notices))

    @property
    def feed(self) -> EventFeed:
        with self._lock:
            return self._feed

    @cached_property
    def _feed(self) -> EventFeed:
        from coilclaw.evidence import EventFeed

        return self._closing.enter_context(EventFeed(self.stores.log))

    def toolbox(self, place: Path | None = None) -> Toolbox:
        """The tools of a workspace, loaded; by default of the configured one."""
        from coilclaw.app.toolbox import Toolbox

        settings = self._settings_for(place)
        key = settings.config.workspace_dir.resolve()
        with self._lock:
            if key not in self._toolboxes:
                toolbox = Toolbox(
                    settings,
                    self.stores.trust(key) if self._has_log else None,
                    self.policy,
                    environment=self.environment,
                    tools=self._tools,
                    record=self._record,
                    progress=self.notices.loading,
                )
                self._closing.callback(toolbox.close)
                toolbox.refresh()
                self._refuse_clashes(toolbox)
                if self._watch:
                    self._closing.enter_context(toolbox.watch())
                self._toolboxes[key] = toolbox
            return self._toolboxes[key]

    def workspace(self, place: Path | None = None) -> OpenWorkspace:
        """A workspace and everything that runs in it need; by default the configured one."""
        from coilclaw.app.services import make_services
        from coilclaw.runs import Runtime
        from coilclaw.trust import WriteGuard

        settings = self._settings_for(place)
        key = settings.config.workspace_dir.resolve()
        with self._lock:
            if key not in self._open:
                toolbox = self.toolbox(place)
                if self._record:
                    self.secrets.check()
                ledger = toolbox.ledger or self.stores.trust(key)
                guard = WriteGuard(ledger, self.stores.log, toolbox.workspace.sources.digests)
                services = make_services(settings, self.stores, self.policy, self.handlers, self.secrets, guard)
                self._open[key] = OpenWorkspace(settings=settings, toolbox=toolbox, runtime=Runtime(services))
            return self._open[key]

    @property
    def _has_log(self) -> bool:
        """Without a log nothing was ever written through the bridge, unless there is a key: then it was taken away."""
        receipts = self.settings.config.receipts
        return self._record or receipts.path.exists() or receipts.key_path.exists()

    def _settings_for(self, place: Path | None) -> Settings:
        config = self.settings.config
        if place is None or place == config.workspace_dir or place == config.workspace_dir.resolve():
            return self.settings
        if not place.is_dir():
            raise OperatorError(f"the workspace {place} does not exist")
        return replace(self.settings, config=replace(config, workspace_dir=place))

    def _refuse_clashes(self, toolbox: Toolbox) -> None:
        """Raise ToolDefinitionError if another tool has the id of one of the host's own tools."""
        registry = toolbox.registry
        for tool in self._tools:
            used = registry.tools.get(tool.id)
            if used is None or used.handler is not tool.handler:
                where = f", in {used.file}:{used.line}" if used is not None else ""
                raise ToolDefinitionError(f"there is another tool {tool.id}{where}", hint="choose another id")

    def close(self) -> None:
        """Close everything, in the opposite order of its making."""
        with self._lock:
            closing = self._closing.pop_all()
            self._toolboxes.clear()
            self._open.clear()
        with ExitStack() as stack:
            stack.push(closing)
            stack.callback(self.engines.close)
