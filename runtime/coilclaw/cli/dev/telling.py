"""Telling events as they come, when nobody looks at a live view: lines of text, or lines of JSON."""

from __future__ import annotations

import json
from typing import Protocol, TextIO

from coilclaw.bridge import Registry
from coilclaw.cli.dev.events import Event
from coilclaw.sdk.legible import one_line

__all__ = ["JsonLines", "PlainLines", "Teller"]

_LONGEST_LINE = 2000


class Teller(Protocol):
    """Whoever shows what happens. Only ever used from one thread."""

    def use(self, registry: Registry) -> None:
        """These are the tools from now on."""

    def tell(self, event: Event) -> None: ...

    def refresh(self) -> None:
        """Everything that there is to tell for now was told."""

    def step_aside(self) -> None:
        """Leave the terminal to someone else for a while; `refresh` takes it back."""


class PlainLines:
    """One line for each event: the time, and what happened. The value and the error of a run are in its line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def use(self, registry: Registry) -> None:
        return

    def tell(self, event: Event) -> None:
        self._stream.write(f"{event.when:%H:%M:%S} {one_line(event.words, _LONGEST_LINE)}\n")
        self._stream.flush()

    def refresh(self) -> None:
        return

    def step_aside(self) -> None:
        return


class JsonLines(PlainLines):
    """One JSON object for each event, all characters in ASCII."""

    def tell(self, event: Event) -> None:
        self._stream.write(f"{json.dumps(event.object())}\n")
        self._stream.flush()
