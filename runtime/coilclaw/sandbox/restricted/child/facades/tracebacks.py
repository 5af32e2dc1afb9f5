"""Tracebacks as text, with the snippet's own lines only."""

from __future__ import annotations

import traceback
from typing import Any

__all__ = ["lines_of"]


def lines_of(error: Any) -> list[str]:
    """What Python would print of an exception."""
    if not issubclass(type(error), BaseException):  # What only looks like one has frames of its own making.
        return ["NoneType: None\n"]
    shown = traceback.TracebackException.from_exception(error, compact=True)
    _keep_snippet_frames(shown, set())
    return list(shown.format())


def _keep_snippet_frames(shown: traceback.TracebackException, seen: set[int]) -> None:
    """Whose file is not on this machine is the snippet; the library's own lines say nothing to its author."""
    if id(shown) in seen:
        return
    seen.add(id(shown))
    shown.stack[:] = [frame for frame in shown.stack if not frame.filename.startswith(("/", "<frozen"))]
    for other in (shown.__cause__, shown.__context__, *(shown.exceptions or ())):
        if other is not None:
            _keep_snippet_frames(other, seen)
