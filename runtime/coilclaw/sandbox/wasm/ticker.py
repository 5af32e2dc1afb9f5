"""The heartbeat by which running guests notice that their time is up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import wasmtime

__all__ = ["TICK_SECONDS", "Ticker"]

TICK_SECONDS: Final = 0.01
_MOST_IDLE_TICKS: Final = 50


class Ticker:
    """Advances the engine's epoch while guests run, and for a moment longer: waking it costs a run dearly."""

    def __init__(self, engine: wasmtime.Engine) -> None:
        self._engine = engine
        self._changed = threading.Condition()
        self._running = 0
        self._closed = False
        self._asleep = False
        self._thread: threading.Thread | None = None

    @contextmanager
    def ticking(self) -> Iterator[None]:
        with self._changed:
            self._running += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._tick, name="coilclaw-ticker", daemon=True)
                self._thread.start()
            elif self._asleep:
                self._asleep = False
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1

    def _tick(self) -> None:
        pause = threading.Event()
        idle_ticks = 0
        while True:
            with self._changed:
                idle_ticks = 0 if self._running else idle_ticks + 1
                self._asleep = idle_ticks > _MOST_IDLE_TICKS
                while self._asleep and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
            pause.wait(TICK_SECONDS)
            self._engine.increment_epoch()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._asleep = False
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(timeout=1)
