"""Everything that provides tools, for as long as a process lives."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from coilclaw.bridge import LiveRegistry, Provision, Registry, registry_tools
from coilclaw.config import Settings
from coilclaw.policy import Policy
from coilclaw.trust import TrustLedger
from coilclaw.workspace_tools import Change, Loaded, Watch, Workspace, load_installed

__all__ = ["Toolbox"]


class Toolbox:
    """Installed integrations first, then the workspace: an id that stands in both means the installed tool.

    With `record`, what is loaded leaves receipts, and so it counts as a person's own from then on.
    """

    def __init__(self, settings: Settings, ledger: TrustLedger | None, policy: Policy, *, record: bool = True) -> None:
        self._ledger = ledger
        self._record = record and ledger is not None
        admit = ledger.reason_against if ledger is not None else _nothing_against
        self.workspace = Workspace(settings.config.workspace_dir, admit=admit)
        installed = load_installed()
        self.live = LiveRegistry(
            [lambda: _offer(installed), self._own], own=lambda lookup: registry_tools(lookup, policy=policy)
        )

    def refresh(self, *, force: bool = False) -> Change:
        """Look at everything, load what changed, and make the next registry if there is anything new."""
        if self._record and self._ledger is not None:
            self._ledger.recover(self.workspace.sources.digests)
        told = self.workspace.sources.diagnostics
        change = self.workspace.refresh(force=force)
        if self._record and self._ledger is not None:
            self._ledger.record_loaded([(source.name, source.data) for source in change.loaded])
        if change or force or not self.live.current.generation or told != self.workspace.sources.diagnostics:
            self.live.rebuild()
        return change

    @property
    def registry(self) -> Registry:
        return self.live.current

    def watch(self, changed: Callable[[Change, Registry], None]) -> Watch:
        """Keep looking; `changed` is told of every new registry."""

        def look(force: bool) -> bool:
            generation = self.live.current.generation
            change = self.refresh(force=force)
            if self.live.current.generation != generation:
                changed(change, self.live.current)
            return change.settled

        return Watch(self.workspace.sources.root, look)

    def close(self) -> None:
        """Nothing is held yet that has to be let go."""

    def __enter__(self) -> Toolbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _own(self) -> Provision:
        workspace = self.workspace
        return Provision(tools=workspace.tools, diagnostics=workspace.diagnostics, quarantined=workspace.quarantined)


def _offer(loaded: Loaded) -> Provision:
    return Provision(tools=loaded.tools, diagnostics=loaded.diagnostics)


def _nothing_against(name: str, content: str) -> str | None:
    return None
