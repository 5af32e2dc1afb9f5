"""The engines of one app, by name: made when first needed, closed with the app."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coilclaw.app.errors import AppClosed, BadArgument
from coilclaw.app.notices import Notices
from coilclaw.app.stores import make_home

if TYPE_CHECKING:
    from coilclaw.config import Settings
    from coilclaw.sandbox import Engine

__all__ = ["Engines"]

_NAMES: Final = ("wasm", "restricted")


class Engines:
    """Makes each engine once. Thread-safe: whoever asks while one is being made waits for it."""

    def __init__(self, settings: Settings, *, pool: int | None = None, notices: Notices | None = None) -> None:
        """`pool` is the number of sandboxes kept ready; without it, the configuration says."""
        self._settings = settings
        self._pool = settings.config.sandbox.pool if pool is None else pool
        self._notices = notices or Notices()
        self._lock = threading.Lock()
        self._made: dict[str, Engine] = {}
        self._closed = False

    def chosen(self, name: str | None) -> str:
        """The name of an engine that there is; without one, that of the configuration. Nothing is made."""
        name = name or self._settings.config.sandbox.engine
        if name not in _NAMES:
            raise BadArgument(f"there is no engine {name!r}", hint=f"engines: {', '.join(_NAMES)}")
        return name

    def get(self, name: str | None = None) -> Engine:
        """The engine of this name; without one, that of the configuration."""
        name = self.chosen(name)
        with self._lock:
            if self._closed:
                raise AppClosed
            if name not in self._made:
                self._made[name] = self._restricted() if name == "restricted" else self._wasm()
            return self._made[name]

    def _restricted(self) -> Engine:
        from coilclaw.sandbox.restricted import RestrictedEngine

        layers = self._settings.config.sandbox.restricted
        return RestrictedEngine(require=layers.require, off=layers.off, spares=self._pool)

    def _wasm(self) -> Engine:
        from coilclaw.sandbox.wasm import WasmEngine

        make_home(self._settings)  # Compiling for a home that cannot be made would be time lost.
        began, compiled = time.monotonic(), False

        def progress(seconds: float) -> None:
            nonlocal compiled
            compiled = True
            self._notices.compiling(seconds)

        # Whoever keeps sandboxes ready has many runs: those side by side use all processors.
        workers = (os.cpu_count() or 1) if self._pool else 0
        folder = _compiled_folder(self._settings)
        engine = WasmEngine(folder, pool=self._pool, workers=workers, progress=progress)
        if compiled:
            self._notices.compiled(time.monotonic() - began)
        return engine

    def close(self) -> None:
        with self._lock:
            self._closed, engines, self._made = True, self._made, {}
        for engine in engines.values():
            engine.close()


def _compiled_folder(settings: Settings) -> Path:
    """Where the compiled guest is kept: the user's cache, or the home where the user has none that can be written."""
    with suppress(OSError):
        if settings.cache is not None:
            settings.cache.mkdir(parents=True, exist_ok=True, mode=0o700)
            if os.access(settings.cache, os.W_OK):
                return settings.cache
    return settings.home / "cache"
