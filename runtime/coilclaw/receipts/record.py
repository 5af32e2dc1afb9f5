"""The stored form of a receipt and the record other programs read."""

from __future__ import annotations

import json
from typing import Final

from coilclaw.receipts.canonical import canonical_json
from coilclaw.receipts.chain import FIELDS
from coilclaw.receipts.errors import DamagedReceipt
from coilclaw.sdk import Receipt, Risk

__all__ = ["export_line", "receipt_of"]

_KINDS: Final = {"seq": int, "payload": dict} | dict.fromkeys(
    ("id", "timestamp", "type", "status", "previous_hash"), str
)


def receipt_of(body: bytes, receipt_hash: str) -> Receipt:
    try:
        receipt = Receipt(**{**json.loads(body), "receipt_hash": receipt_hash})
        if all(isinstance(value, _KINDS.get(name, str | None)) for name, value in receipt._asdict().items()):
            return receipt if receipt.risk is None else receipt._replace(risk=Risk(receipt.risk))
    except (ValueError, TypeError, RecursionError):
        pass
    raise DamagedReceipt("a receipt is damaged")


def export_line(body: bytes, receipt_hash: str) -> bytes:
    """One line of an export: canonical JSON with the hash in it."""
    fields = receipt_of(body, receipt_hash)._asdict()
    return canonical_json({name: fields[name] for name in FIELDS})
