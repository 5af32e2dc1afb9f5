"""Tool files that were written through the bridge: what is held back, and a person's trust in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coilclaw.app.arguments import check
from coilclaw.sdk import Quarantined
from coilclaw.workspace_tools import Sources, ask_to_look

if TYPE_CHECKING:
    from coilclaw.app.composition import Composition
    from coilclaw.trust import TrustLedger
    from coilclaw.workspace_tools import Source

__all__ = ["HeldFile", "Quarantine"]


@dataclass(frozen=True, kw_only=True)
class HeldFile:
    """A quarantined tool file, with the content that trust would be given to."""

    entry: Quarantined
    source: Source
    in_force: bytes | None
    """What is loaded in its place, if anything is."""


class Quarantine:
    """Looks at the tool files of a workspace and runs none of them."""

    def __init__(self, parts: Composition) -> None:
        self._parts = parts
        self.sources = Sources(parts.settings.config.workspace_dir / "tools")

    @property
    def _ledger(self) -> TrustLedger:
        return self._parts.stores.trust(self._parts.settings.config.workspace_dir)

    def held(self) -> dict[str, HeldFile]:
        """Every quarantined file by its name, such as `tools/posthog/tools.py`."""
        ledger = self._ledger
        ledger.recover(self.sources.digests)
        found, judge = ledger.examine(self.sources.read)
        reasons = judge({name: source.digest for name, source in found.items() if source.data.strip()})
        held = {}
        for name, reason in reasons.items():
            source = found[name]
            entry = Quarantined(name=f"tools/{name}", path=source.path, content_hash=source.digest, reason=reason)
            held[entry.name] = HeldFile(entry=entry, source=source, in_force=ledger.in_force(name))
        return held

    def trust(self, file: HeldFile, *, by: str) -> str:
        """Trust exactly this content of a file; returns the receipt. Any other content stays quarantined."""
        check(by=by)
        return self._ledger.trust(file.source.name, file.source.data, by)

    def look(self) -> None:
        """Ask every process that watches the workspace to look again."""
        ask_to_look(self.sources.root)
