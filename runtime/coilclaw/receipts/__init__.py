"""The receipt log: canonical form, chain, durable appends, verification."""

from coilclaw.receipts.canonical import NotCanonical, canonical_json, contents_json, digest
from coilclaw.receipts.chain import GENESIS, Draft, now
from coilclaw.receipts.errors import Conflict, DamagedReceipt, LogUnwritable, NoSuchReceipt
from coilclaw.receipts.log import MIGRATIONS, RELAXED_SECONDS, ReceiptLog, Row
from coilclaw.receipts.seal import load_or_create_key
from coilclaw.receipts.verification import Head, Verification, verify_database, verify_export

__all__ = [
    "GENESIS",
    "MIGRATIONS",
    "RELAXED_SECONDS",
    "Conflict",
    "DamagedReceipt",
    "Draft",
    "Head",
    "LogUnwritable",
    "NoSuchReceipt",
    "NotCanonical",
    "ReceiptLog",
    "Row",
    "Verification",
    "canonical_json",
    "contents_json",
    "digest",
    "load_or_create_key",
    "now",
    "verify_database",
    "verify_export",
]
