"""Guests made ahead of time, so that a run finds a fresh interpreter waiting."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from coilclaw.sandbox.wasm.guest import Guest

__all__ = ["GuestPool"]

_logger = logging.getLogger(__name__)
_PAUSE_AFTER_FAILURE_SECONDS = 1.0
_REST_SECONDS = 0.01
"""Guests are made when no run has begun or ended for this long: where one run follows the other, there is nothing to be
gained by making their guests beside them."""


class GuestPool:
    """Keeps `size` touched guests ready. Each is handed out once and never comes back."""

    def __init__(self, make: Callable[[], Guest], size: int) -> None:
        self._make = make
        self._size = size
        self._ready: deque[Guest] = deque()
        self._used: deque[Guest] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._running = 0
        self._moved = 0.0
        """When a run began or ended last."""
        self._filler: threading.Thread | None = None

    def take_if_alone(self) -> Guest | None:
        """A guest that is ready, for a run that has the process to itself."""
        with self._changed:
            return self._taken() if self._running == 0 else None

    def take(self) -> Guest:
        """A guest for one run; made on the spot when none is ready."""
        with self._changed:
            guest = self._taken()
        if guest is None:
            guest = self._make()
            with self._changed:
                self._running += 1
        return guest

    def _taken(self) -> Guest | None:
        if self._size and self._filler is None:
            self._filler = threading.Thread(target=self._fill, name="coilclaw-guests", daemon=True)
            self._filler.start()
        self._moved = time.monotonic()
        if not self._ready:
            return None
        self._running += 1
        guest = self._ready.popleft()
        if self._in_need:
            self._changed.notify_all()
        return guest

    def discard(self, guest: Guest) -> None:
        """Free a used guest, in the background if there is one."""
        with self._changed:
            # A busy engine frees on the spot: used guests that wait would pile up faster than they are freed.
            later = self._filler is not None and not self._closed and len(self._used) < self._size
            if later:
                self._used.append(guest)
            self._running -= 1
            self._moved = time.monotonic()
            self._changed.notify_all()  # It may have been the last one, for whose end the filler waits.
        if not later:
            guest.close()

    def wait_until_full(self, seconds: float = 30.0) -> bool:
        """Wait until every place is taken; starts filling if nothing did."""
        if self._size == 0:
            return True
        if self._filler is None:
            self.discard(self.take())
        with self._changed:
            return self._changed.wait_for(lambda: len(self._ready) >= self._size and not self._used, seconds)

    @property
    def _in_need(self) -> bool:
        """Whether to make guests now. While something runs, only if few are left: making one slows it down."""
        enough = self._size // 2 if self._running else self._size
        return len(self._ready) < max(1, enough)

    @property
    def _has_work(self) -> bool:
        return self._in_need or (bool(self._used) and not self._running)

    def _fill(self) -> None:
        while True:
            with self._changed:
                while not self._closed and not self._has_work:
                    self._changed.wait()
                while not self._closed and (left := self._moved + _REST_SECONDS - time.monotonic()) > 0:
                    self._changed.wait(left)
                if self._closed:
                    return
                if not self._has_work:
                    continue
                used = self._used.popleft() if self._used else None
                short = self._in_need
            if used is not None:
                used.close()
            if short:
                try:
                    guest = self._make()
                except Exception:
                    _logger.exception("a guest could not be made ahead of time")
                    with self._changed:
                        self._changed.wait(_PAUSE_AFTER_FAILURE_SECONDS)
                    continue
                with self._changed:
                    self._ready.append(guest)
            with self._changed:
                self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.notify_all()
        if self._filler is not None:
            self._filler.join(timeout=5)
        for guest in (*self._ready, *self._used):
            guest.close()
        self._ready.clear()
        self._used.clear()
