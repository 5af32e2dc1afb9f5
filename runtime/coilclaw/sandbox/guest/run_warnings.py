"""Warnings about a run: what a snippet has lost or could not see, told with the end of the run.

They are for whoever wrote the snippet. Each is `{"kind", "message", "line"}`; a kind is told once for a line, and some
kinds once for a run.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

__all__ = ["RunWarnings", "run_warnings", "warn_of_files"]

_MOST: Final = 19
_MOST_COUNTED: Final = 1000
_LONGEST: Final = 300
_ONCE: Final = frozenset({"no_output", "no_files", "no_threads", "outside_fence"})
_FIRST: Final = frozenset({"unread_err", "lost_exception", "cancelled_late", "outside_fence"})
"""Kinds that tell of something that was lost: where there is no room for all, they come before the others."""


class _Warning(NamedTuple):
    kind: str
    message: str
    line: int | None


class RunWarnings:
    """The warnings of one run, in the order in which they arose; bounded in number and in size.

    What is left out is counted.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, int | None], _Warning] = {}
        self._left_out: set[tuple[str, int | None]] = set()
        self.has_output = False
        """Whether the snippet has printed or shown something."""

    def add(self, kind: str, message: str, line: int | None = None) -> None:
        """Note a warning, unless there is one of this kind for this line."""
        key = (kind, None if kind in _ONCE else line)
        if key in self._found:
            return
        if len(self._found) >= _MOST:
            lesser = (other for other in reversed(self._found) if other[0] not in _FIRST)
            left_out = next(lesser, key) if kind in _FIRST else key
            if len(self._left_out) < _MOST_COUNTED:
                self._left_out.add(left_out)
            if left_out == key:
                return
            del self._found[left_out]
        text = message if len(message) <= _LONGEST else message[: _LONGEST - 1] + "…"
        self._found[key] = _Warning(kind, text, line)

    def take(self) -> list[dict[str, Any]]:
        """The warnings as JSON data; none are left."""
        found, more = list(self._found.values()), len(self._left_out)
        self._found, self._left_out, self.has_output = {}, set(), False
        if more:
            found.append(_Warning("more", f"and {more} more", None))
        return [each._asdict() for each in found]


run_warnings: Final = RunWarnings()
"""Of the run that this interpreter is for: it has one."""


def warn_of_files(line: int | None) -> None:
    """Say once that files seem to be absent because there are none here."""
    told = "there are no files here, so none is ever found: list and read them with `tools`, e.g. tools.files.list"
    run_warnings.add("no_files", told, line)
