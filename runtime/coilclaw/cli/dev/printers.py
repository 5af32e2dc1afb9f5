"""Printers of events: lines of text, or lines of JSON, where there is no live view."""

from __future__ import annotations

import json
from typing import Protocol, TextIO

from coilclaw.bridge import Registry
from coilclaw.cli.dev.events import DevEvent, words_of
from coilclaw.sdk.legible import one_line

__all__ = ["JsonLines", "PlainLines", "Printer"]

_LONGEST_LINE = 2000


class Printer(Protocol):
    """Shows events. Used from one thread only."""

    def use(self, registry: Registry) -> None:
        """Use these tools from now on."""

    def tell(self, event: DevEvent) -> None: ...

    def refresh(self) -> None:
        """All events so far have been delivered."""

    def step_aside(self) -> None:
        """Give the terminal back for a while; `refresh` takes it again."""


class PlainLines:
    """Prints one line for each event: the time and what happened, with the value or the error of a run."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def use(self, registry: Registry) -> None:
        return

    def tell(self, event: DevEvent) -> None:
        self._stream.write(f"{event.when:%H:%M:%S} {one_line(words_of(event), _LONGEST_LINE)}\n")
        self._stream.flush()

    def refresh(self) -> None:
        return

    def step_aside(self) -> None:
        return


class JsonLines(PlainLines):
    """Prints one JSON object for each event, in ASCII."""

    def tell(self, event: DevEvent) -> None:
        self._stream.write(f"{json.dumps(event.object())}\n")
        self._stream.flush()
