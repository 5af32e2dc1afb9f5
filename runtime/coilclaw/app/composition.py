"""The parts of one app: each made when first needed, all closed with the app."""

from __future__ import annotations

import threading
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from coilclaw.app.arguments import check, given_tools
from coilclaw.app.engines import Engines
from coilclaw.app.errors import AppClosed, WouldBlock
from coilclaw.app.notices import Notices
from coilclaw.app.stores import Stores, open_stores
from coilclaw.sdk import OperatorError, ToolDefinitionError
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:  # Imported where they are used: whoever only looks at the stores needs none of them.
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from coilclaw.access import Access
    from coilclaw.app.toolbox import Toolbox
    from coilclaw.bridge import Handlers
    from coilclaw.config import SecretStore, Settings
    from coilclaw.evidence import EventFeed
    from coilclaw.memory import Memory
    from coilclaw.policy import EmergencyStop, Policy
    from coilclaw.runs import Runtime
    from coilclaw.sdk import Tool
    from coilclaw.spaces import Spaces

__all__ = ["Composition", "OpenWorkspace"]


P = TypeVar("P")


class Part(Generic[P]):
    """A part of an app: made once, when it is first needed, and refused when the app is closed."""

    def __init__(self, make: Callable[[Any], P]) -> None:
        self._make = make
        self._name = make.__name__

    def __get__(self, parts: Composition, owner: type | None = None) -> P:
        with parts.using():
            if self._name not in parts.made:
                parts.made[self._name] = self._make(parts)
            part: P = parts.made[self._name]
            return part


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
        environment: Mapping[str, str] | None = None,
        tools: Iterable[Tool] = (),
        pool: int | None = None,
        watch: bool = False,
        record: bool = True,
        notices: Notices | None = None,
        patience: Callable[[], float] | None = None,
    ) -> None:
        self.settings = settings
        check(environment=environment, pool=pool, notices=notices)
        self.environment = environment or {}
        self.notices = notices or Notices()
        self.made: dict[str, Any] = {}
        self._tools = given_tools(tools)
        self._watch = watch
        self._record = record
        self._patience = patience
        self._lock = threading.RLock()
        self._closing = ExitStack()
        self._closed = False
        self._host_loop: AbstractEventLoop | None = None
        self._toolboxes: dict[Path, Toolbox] = {}
        self._open: dict[Path, OpenWorkspace] = {}
        self.engines = Engines(settings, pool=pool, notices=self.notices)

    @contextmanager
    def using(self) -> Iterator[None]:
        """Have the parts for oneself. Raises AppClosed."""
        with self._lock:
            if self._closed:
                raise AppClosed
            yield

    @Part
    def policy(self) -> Policy:
        from coilclaw.app.services import make_policy

        return make_policy(self.settings.config)

    @Part
    def secrets(self) -> SecretStore:
        from coilclaw.app.services import make_secrets

        return make_secrets(self.settings, self.environment)

    @Part
    def stop(self) -> EmergencyStop:
        from coilclaw.policy import EmergencyStop

        return EmergencyStop.of_home(self.settings.home)

    @Part
    def handlers(self) -> Handlers:
        from coilclaw.bridge import Handlers

        return self._closing.enter_context(closing(Handlers()))

    @Part
    def stores(self) -> Stores:
        return self._closing.enter_context(open_stores(self.settings, patience=self._patience, notices=self.notices))

    @Part
    def feed(self) -> EventFeed:
        from coilclaw.evidence import EventFeed

        refuse = partial(self.refuse_to_block, "events")
        return self._closing.enter_context(EventFeed(self.stores.log, before_waiting=refuse))

    @Part
    def memory(self) -> Memory:
        from coilclaw.memory import Memory

        return Memory(self.stores.database, redaction=self.redaction)

    @Part
    def access(self) -> Access:
        from coilclaw.access import Access

        return Access(self.stores.database)

    @Part
    def spaces(self) -> Spaces:
        from coilclaw.spaces import Spaces

        return Spaces(self.stores.database, self.settings.projects)

    def redaction(self) -> Callable[[str], str]:
        """What the bridge takes out of results: secrets that the file has, and those that loaded tools declare."""
        from coilclaw.bridge import Redaction

        names = set(self.secrets.names())
        for toolbox in list(self._toolboxes.values()):
            for tool in toolbox.registry.tools.values():
                names.update(tool.secrets, tool.optional_secrets)
        values: dict[str, str] = {}
        for name in names:
            with suppress(OperatorError):  # A keyring that cannot be used now has given it to no tool either.
                values[name] = self.secrets.get(name) or ""
        return Redaction(values).text

    def run_tools_on(self, loop: AbstractEventLoop) -> None:
        """Run async tools on this event loop, which is the caller's."""
        self.handlers.host_loop = self._host_loop = loop

    def refuse_to_block(self, method: str) -> None:
        """Raise WouldBlock on the loop that async tools run on: it must not wait for a run that may call them."""
        if self._host_loop is None:
            return
        from asyncio import get_running_loop

        try:
            here = get_running_loop()
        except RuntimeError:
            return  # No loop runs on this thread.
        if here is self._host_loop:
            raise WouldBlock(method)

    def toolbox(self, place: Path | None = None) -> Toolbox:
        """The tools of a workspace, loaded; by default of the configured one."""
        from coilclaw.app.toolbox import Toolbox

        settings = self._settings_for(place)
        key = settings.config.workspace_dir.resolve()
        with self.using():
            if key not in self._toolboxes:
                toolbox = Toolbox(
                    settings,
                    self.stores.trust(key) if self._has_log else None,
                    self.policy,
                    environment=self.environment,
                    tools=self._tools,
                    record=self._record,
                    memory=lambda: self.memory,
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
        """A workspace and everything that runs in it need; by default the configured one.

        If it is watched, its files are looked at now: the next run uses what was saved before it.
        """
        from coilclaw.app.services import make_services
        from coilclaw.runs import Runtime
        from coilclaw.trust import WriteGuard

        settings = self._settings_for(place)
        key = settings.config.workspace_dir.resolve()
        with self.using():
            if key not in self._open:
                toolbox = self.toolbox(place)
                if self._record:
                    self.secrets.check()
                ledger = toolbox.ledger or self.stores.trust(key)
                guard = WriteGuard(ledger, self.stores.log, toolbox.workspace.sources.digests)
                services = make_services(settings, self.stores, self.policy, self.handlers, self.secrets, guard)
                self._open[key] = OpenWorkspace(settings=settings, toolbox=toolbox, runtime=Runtime(services))
            opened = self._open[key]
        if self._watch:
            opened.toolbox.refresh()
        return opened

    def project(self, project: str | None) -> OpenWorkspace:
        """The workspace in which the runs of a project are; without one, the configured workspace.

        A project has its own folder and the tools of the configured workspace. Raises NoSuchSpace and SpaceArchived.
        """
        if project is None:
            return self.workspace()
        from coilclaw.app.services import project_services
        from coilclaw.runs import Runtime

        self.spaces.get(project, active=True)
        folder, opened = self.spaces.folder(project), self.workspace()
        services = project_services(opened.runtime.services, self.settings, folder)
        return replace(opened, runtime=Runtime(services))

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
            self._closed, self._host_loop = True, None
            closing = self._closing.pop_all()
        with ExitStack() as stack:
            stack.push(closing)
            stack.callback(self.engines.close)
