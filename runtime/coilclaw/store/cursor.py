"""Positions in a list, given to callers as text that means nothing to them.

Another store may order the same things in another way: whoever pages keeps the text and hands it back.
"""

from __future__ import annotations

import base64
import binascii

from coilclaw.store.errors import BadCursor, BadLimit

__all__ = ["checked_limit", "cursor_at", "position_of"]


def cursor_at(what: str, position: str) -> str:
    """Return the cursor of a position in a list of `what`."""
    return base64.urlsafe_b64encode(f"{what} {position}".encode()).decode().rstrip("=")


def position_of(what: str, cursor: str) -> str:
    """Return the position that a cursor stands for. Raises BadCursor if it is none of a list of `what`."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError, TypeError):
        text = ""
    kind, _, position = text.partition(" ")
    if kind != what or not position:
        raise BadCursor(f"{str(cursor)[:100]!r} is not a position in a list of {what}", hint="begin again without it")
    return position


def checked_limit(limit: int) -> int:
    """Return how many to read at most. Raises BadLimit unless it is a whole number, and not below zero."""
    if type(limit) is not int or limit < 0:
        raise BadLimit(f"{str(limit)[:100]!r} is not a number of entries", hint="give a whole number, 0 or more")
    return min(limit, 2**31)
