"""The stored form of a receipt and the record other programs read."""

from __future__ import annotations

import json
from typing import Final

from coilclaw.receipts.canonical import canonical_json, digest
from coilclaw.receipts.chain import FIELDS
from coilclaw.receipts.errors import DamagedReceipt
from coilclaw.sdk import Receipt, Risk

__all__ = ["export_line", "receipt_of"]

_KINDS: Final = {"seq": int, "payload": dict} | dict.fromkeys(
    ("id", "timestamp", "type", "status", "previous_hash"), str
)


def receipt_of(body: bytes, receipt_hash: str, seq: int) -> Receipt:
    """The record of a stored receipt. Raises DamagedReceipt if it does not fit its hash, or is not number `seq`."""
    try:
        receipt = Receipt(**{**json.loads(body), "receipt_hash": receipt_hash})
        fits = digest(body) == receipt_hash and receipt.seq == seq
        if fits and all(isinstance(value, _KINDS.get(name, str | None)) for name, value in receipt._asdict().items()):
            return receipt if receipt.risk is None else receipt._replace(risk=Risk(receipt.risk))
    except (ValueError, TypeError, RecursionError):
        pass
    raise DamagedReceipt(f"receipt {seq} was changed")


def export_line(body: bytes, receipt_hash: str, seq: int) -> bytes:
    """One line of an export: canonical JSON with the hash in it."""
    fields = receipt_of(body, receipt_hash, seq)._asdict()
    return canonical_json({name: fields[name] for name in FIELDS})
