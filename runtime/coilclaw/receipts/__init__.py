"""The receipt log: canonical form, chain, durable appends, verification."""

from coilclaw.receipts.canonical import NotCanonical, canonical_json, contents_json, digest
from coilclaw.receipts.chain import GENESIS, Draft, now
from coilclaw.receipts.cursor import Page, cursor_of
from coilclaw.receipts.errors import BadCursor, Conflict, DamagedReceipt, LogMissing, LogUnwritable, NoSuchReceipt
from coilclaw.receipts.founding import found_log, refuse_without_log, restart_log
from coilclaw.receipts.log import LOG_END, MIGRATIONS, RELAXED_SECONDS, ReceiptLog, Row
from coilclaw.receipts.tail import Tail
from coilclaw.receipts.verification import Head, Verification, verify_database, verify_export

__all__ = [
    "GENESIS",
    "LOG_END",
    "MIGRATIONS",
    "RELAXED_SECONDS",
    "BadCursor",
    "Conflict",
    "DamagedReceipt",
    "Draft",
    "Head",
    "LogMissing",
    "LogUnwritable",
    "NoSuchReceipt",
    "NotCanonical",
    "Page",
    "ReceiptLog",
    "Row",
    "Tail",
    "Verification",
    "canonical_json",
    "contents_json",
    "cursor_of",
    "digest",
    "found_log",
    "now",
    "refuse_without_log",
    "restart_log",
    "verify_database",
    "verify_export",
]
