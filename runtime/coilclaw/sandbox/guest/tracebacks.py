"""Where in the snippet an exception was raised."""

from __future__ import annotations

import traceback

from coilclaw.sandbox.guest.pending_calls import SNIPPET_FLAG

__all__ = ["line_of"]


def line_of(error: BaseException) -> int | None:
    """The line of the snippet where the exception was raised, or None if it was raised elsewhere."""
    line = None
    for frame, number in traceback.walk_tb(BaseException.__dict__["__traceback__"].__get__(error)):
        if SNIPPET_FLAG in frame.f_globals:
            line = number
    return line
