"""The tables of the receipt log, as each of their modules makes its own."""

from __future__ import annotations

from typing import Final

from coilclaw.receipts.contents import CREATE_CONTENTS
from coilclaw.receipts.head import CREATE_HEAD
from coilclaw.receipts.marks import CREATE_MARKS
from coilclaw.receipts.receipt_table import CREATE_RECEIPTS
from coilclaw.store import Migration

__all__ = ["MIGRATIONS"]

MIGRATIONS: Final = (
    Migration(1, "receipts-log", CREATE_RECEIPTS + CREATE_HEAD + CREATE_CONTENTS),
    Migration(7, "receipt-marks", CREATE_MARKS),
)
