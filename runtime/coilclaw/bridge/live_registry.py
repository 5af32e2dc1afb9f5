"""The registry of a process that lives longer than one run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from coilclaw.bridge.registry import Registry, build_registry
from coilclaw.sdk import Tool
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.sdk import Diagnostic, Quarantined

__all__ = ["LiveRegistry", "Provision"]


class Provision(Frozen):
    """What one provider of tools has to offer right now."""

    tools: Sequence[Tool] = ()
    diagnostics: Sequence[Diagnostic] = ()
    quarantined: Sequence[Quarantined] = ()


Provider: TypeAlias = Callable[[], Provision]
Own: TypeAlias = Callable[[Callable[[], Registry]], Iterable[Tool]]
"""Makes the tools that speak of the registry they are in."""


class LiveRegistry:
    """Holds the current snapshot. A rebuild swaps in the next one, whole; a run keeps the one it began with."""

    def __init__(self, providers: Iterable[Provider], *, own: Own | None = None) -> None:
        self._providers = tuple(providers)
        self._own = own
        self._lock = threading.Lock()
        self._current = Registry(generation=0, tools={})

    @property
    def current(self) -> Registry:
        return self._current

    def rebuild(self) -> Registry:
        """Ask every provider again. Earlier providers win over later ones."""
        with self._lock:
            offers = [provider() for provider in self._providers]
            self._current = build_registry(
                [(offer.tools, offer.diagnostics) for offer in offers],
                generation=self._current.generation + 1,
                quarantined=tuple(each for offer in offers for each in offer.quarantined),
                own=self._own,
            )
            return self._current
