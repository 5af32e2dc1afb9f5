"""Statements of other tables, executed in the transaction that writes some receipts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from coilclaw.receipts.errors import UnwritableReceipt

__all__ = ["Row", "checked_rows", "execute_rows"]

_INTEGERS: Final = range(-(2**63), 2**63)
_STORED: Final = (bytes, float)


class Row(NamedTuple):
    """An SQL statement and its values, executed in the same transaction as some receipts are written.

    With `claims`, it must change something: if it does not, neither it nor the receipts are written, and
    the caller gets a `Conflict`. Claims are executed before everything else of their append.
    """

    statement: str
    values: Sequence[str | int | bytes | None]
    claims: bool = False


def checked_rows(rows: Sequence[Row]) -> Sequence[Row]:
    """The same rows. Raises UnwritableReceipt if a value of theirs cannot be stored."""
    for row in rows:
        for value in row.values:
            if isinstance(value, str):
                if not value.isascii():
                    try:
                        value.encode()
                    except UnicodeEncodeError as error:
                        raise UnwritableReceipt("its row", str(error)) from None
            elif not (value in _INTEGERS if isinstance(value, int) else value is None or isinstance(value, _STORED)):
                raise UnwritableReceipt("its row", f"a {type(value).__name__} that cannot be stored")
    return rows


def execute_rows(connection: Any, rows: Sequence[Row]) -> bool:
    """Execute the rows of one append, or none of them if a claim finds nothing to change."""
    if len(rows) == 1:  # As nearly always.
        connection.execute(rows[0].statement, rows[0].values)
        return not rows[0].claims or connection.changes() > 0
    claims = [row for row in rows if row.claims]
    several = len(claims) > 1  # One that changes nothing has nothing to be taken back.
    if several:
        connection.execute("SAVEPOINT claim")
    for row in claims:
        connection.execute(row.statement, row.values)
        if connection.changes() == 0:
            if several:
                connection.execute("ROLLBACK TO claim")
                connection.execute("RELEASE claim")
            return False
    if several:
        connection.execute("RELEASE claim")
    for row in rows:
        if not row.claims:
            connection.execute(row.statement, row.values)
    return True
