"""Warnings about a run: what a snippet has lost or could not see, told with the end of the run.

They are for whoever wrote the snippet. Each is `{"kind", "message", "line"}`; a kind is told once for a line, and some
kinds once for a run.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

__all__ = ["RunWarnings", "run_warnings", "warn_of_files"]

_MOST: Final = 20
_LONGEST: Final = 300
_ONCE: Final = frozenset({"no_output", "no_files", "no_threads"})


class _Warning(NamedTuple):
    kind: str
    message: str
    line: int | None


class RunWarnings:
    """The warnings of one run, in the order in which they arose; bounded in number and in size."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int | None], _Warning] = {}
        self.has_output = False
        """Whether the snippet has printed or shown something."""

    def add(self, kind: str, message: str, line: int | None = None) -> None:
        """Note a warning, unless there is one of this kind for this line."""
        key = (kind, None if kind in _ONCE else line)
        if key not in self._found and len(self._found) < _MOST:
            text = message if len(message) <= _LONGEST else message[: _LONGEST - 1] + "…"
            self._found[key] = _Warning(kind, text, line)

    def take(self) -> list[dict[str, Any]]:
        """The warnings as JSON data; none are left."""
        found, self._found, self.has_output = list(self._found.values()), {}, False
        return [each._asdict() for each in found]


run_warnings: Final = RunWarnings()
"""Of the run that this interpreter is for: it has one."""


def warn_of_files(line: int | None) -> None:
    """Say once that files seem to be absent because there are none here."""
    told = "there are no files here, so none is ever found: list and read them with `tools`, e.g. tools.files.list"
    run_warnings.add("no_files", told, line)
