"""The stored form of a receipt and the record other programs read."""

from __future__ import annotations

from pydantic_core import from_json

from coilclaw.receipts.canonical import canonical_json
from coilclaw.receipts.chain import FIELDS
from coilclaw.receipts.errors import DamagedReceipt
from coilclaw.sdk import Receipt

__all__ = ["export_line", "receipt_of"]


def receipt_of(body: bytes, receipt_hash: str) -> Receipt:
    try:
        return Receipt.model_validate({**from_json(body), "receipt_hash": receipt_hash})
    except (ValueError, TypeError):
        raise DamagedReceipt("a receipt is damaged", hint="`coilclaw receipt verify` names it") from None


def export_line(body: bytes, receipt_hash: str) -> bytes:
    """One line of an export: canonical JSON with the hash in it."""
    fields = receipt_of(body, receipt_hash).model_dump(mode="json")
    return canonical_json({name: fields[name] for name in FIELDS})
