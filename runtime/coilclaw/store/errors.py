"""Errors of the store.

OperatorError
├── BadCursor               a position to continue from that no list has given
├── BadLimit                a number of entries that is none
└── StoreError              the database cannot be opened, read or written
    └── StoreUnwritable     it can be read, but nothing can be added (full, read-only, locked, failed sync)
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["BadCursor", "BadLimit", "StoreError", "StoreUnwritable"]


class BadCursor(OperatorError):
    """A cursor that was changed, cut, or given by another list."""

    code = "bad_cursor"


class BadLimit(OperatorError):
    """A number of entries to read that is not a whole number, or below zero."""

    code = "bad_limit"


class StoreError(OperatorError):
    """The database file is not usable; the message names the file and the reason."""

    code = "store"


class StoreUnwritable(StoreError):
    """A transaction did not become durable."""

    code = "store_unwritable"
