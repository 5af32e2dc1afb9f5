"""Noticing that tool files changed.

Events only say that it is time to look; what changed is found by looking at the files. So swap
files, atomic saves, renames and bursts need no rules of their own, and an event that was lost is
made up for by the next look.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch

__all__ = ["RELOAD_REQUEST", "Watch", "ask_to_look", "ask_to_reload"]

_logger = logging.getLogger(__name__)

RELOAD_REQUEST: Final = ".reload"
"""Touching this file under `tools/` asks every process that watches the folder to load everything again."""

_QUIET_SECONDS: Final = 0.01
_LONGEST_WAIT_SECONDS: Final = 0.1
_UNSETTLED_SECONDS: Final = 0.25
_UNASKED_SECONDS: Final = 2.0


class Watch:
    """Calls `look(force)` on a thread of its own, soon after something changed under a folder.

    `look` says whether everything is settled; if not, it is called again soon. It is also called
    every two seconds without any event, for file systems that send none.
    """

    def __init__(self, root: Path, look: Callable[[bool], bool]) -> None:
        self._root = root
        self._look = look
        self._changed = threading.Event()
        self._closed = threading.Event()
        self._forced = threading.Event()
        self._last_event = 0.0
        self._watched: dict[Path, tuple[tuple[int, int], ObservedWatch]] = {}
        self._unwatched: set[Path] = set()
        self._thread = threading.Thread(target=self._run, name="coilclaw-watch", daemon=True)

    def start(self) -> None:
        """Begin; the first look is taken at once, after watching has begun."""
        from watchdog.events import FileSystemEventHandler
        from watchdog.observers import Observer

        logging.getLogger("watchdog.observers.inotify").addFilter(_is_worth_telling)
        self._events = FileSystemEventHandler()
        self._events.dispatch = self._notice  # type: ignore[method-assign]
        self._observer: BaseObserver = Observer()
        self._observer.start()
        self._changed.set()
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._changed.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=5)
            self._observer.stop()
            self._observer.join(timeout=5)

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # Events ----------------------------------------------------------------------------------------------

    def _notice(self, event: FileSystemEvent) -> None:
        """Called on watchdog's thread."""
        if event.event_type in ("opened", "closed_no_write"):
            return  # Looking at the files causes these.
        paths = (event.src_path, event.dest_path) if event.event_type != "deleted" else ()
        if any(Path(os.fsdecode(path)).name == RELOAD_REQUEST for path in paths if path):
            self._forced.set()
        self._last_event = time.monotonic()
        self._changed.set()

    def _watch_folders(self) -> None:
        """The folder, the one it stands in (it may appear or be replaced), and folders that links in it lead to."""
        places = {self._root.parent: False, self._root: True}
        with contextlib.suppress(OSError):
            links = [entry for entry in self._root.iterdir() if entry.is_symlink() and entry.is_dir()]
            places |= {target: True for link in links if (target := link.resolve()) not in self._root.parents}
        for place in self._watched.keys() - places.keys():
            self._forget(place)
        for place, recursive in places.items():
            identity = _identity(place)
            known = self._watched.get(place)
            if known is not None and known[0] != identity:
                self._forget(place)
            if identity is not None and place not in self._watched:
                try:
                    watch = self._observer.schedule(self._events, str(place), recursive=recursive)
                    self._watched[place] = identity, watch
                    self._unwatched.discard(place)
                except OSError as error:
                    # Too many watches, or gone again: looking every two seconds still works.
                    if place not in self._unwatched:
                        _logger.warning("%s cannot be watched and is looked at now and then: %s", place, error)
                    self._unwatched.add(place)

    def _forget(self, place: Path) -> None:
        with contextlib.suppress(KeyError, OSError):
            self._observer.unschedule(self._watched[place][1])
        del self._watched[place]

    # Looking ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        pause, failure = _UNASKED_SECONDS, ""
        while not self._closed.is_set():
            asked = self._changed.wait(pause)
            if self._closed.is_set():
                return
            if asked:
                self._wait_until_quiet()
            self._changed.clear()
            forced = self._forced.is_set()
            if forced:
                self._forced.clear()  # What is asked for from here on sets `_changed` as well.
            try:
                self._watch_folders()  # First: what changes after the look is an event then.
                pause = _UNASKED_SECONDS if self._look(forced) else _UNSETTLED_SECONDS
                failure = ""
            except BaseException as error:  # A tool file may raise anything while it is loaded.
                if failure != repr(error):  # Once: a full disk would fail again every time.
                    _logger.exception("looking at the tool files failed")
                pause, failure = _UNASKED_SECONDS, repr(error)

    def _wait_until_quiet(self) -> None:
        """A save is often several events, and a branch switch hundreds: one look after the last of them."""
        began = time.monotonic()
        while not self._closed.is_set():
            moment = time.monotonic()
            quiet = moment - self._last_event
            if quiet >= _QUIET_SECONDS or moment - began >= _LONGEST_WAIT_SECONDS:
                return
            self._closed.wait(_QUIET_SECONDS - quiet)


def ask_to_look(root: Path) -> None:
    """Have every process that watches this folder look at it now; if that fails, they look a little later."""
    with contextlib.suppress(OSError):
        os.utime(root)


def ask_to_reload(root: Path) -> None:
    """Have every process that watches this folder load everything again. OSError if they cannot be told."""
    request = root / RELOAD_REQUEST
    # Whatever stands there by this name is neither written nor followed: it could lead anywhere.
    with contextlib.suppress(FileExistsError):
        os.close(os.open(request, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
    os.utime(request, follow_symlinks=False)


def _identity(place: Path) -> tuple[int, int] | None:
    try:
        facts = place.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _is_worth_telling(record: logging.LogRecord) -> bool:
    """Stopping makes watchdog complain, now and then, that it has been stopped."""
    return "thread is inactive" not in record.getMessage()
