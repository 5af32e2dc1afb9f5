"""The receipt log: canonical form, chain, durable appends, verification."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.receipts.canonical import NotCanonical, canonical_json, contents_json, digest
    from coilclaw.receipts.chain import GENESIS, Draft, now
    from coilclaw.receipts.cursor import Page, cursor_of
    from coilclaw.receipts.errors import BadCursor, Conflict, DamagedReceipt, LogMissing, LogUnwritable, NoSuchReceipt
    from coilclaw.receipts.founding import found_log, refuse_without_log, restart_log
    from coilclaw.receipts.log import LOG_END, MIGRATIONS, RELAXED_SECONDS, ReceiptLog, Row
    from coilclaw.receipts.tail import Tail
    from coilclaw.receipts.verification import Head, Verification, verify_database, verify_export
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "canonical": "NotCanonical canonical_json contents_json digest",
            "chain": "GENESIS Draft now",
            "cursor": "Page cursor_of",
            "errors": "BadCursor Conflict DamagedReceipt LogMissing LogUnwritable NoSuchReceipt",
            "founding": "found_log refuse_without_log restart_log",
            "log": "LOG_END MIGRATIONS RELAXED_SECONDS ReceiptLog Row",
            "tail": "Tail",
            "verification": "Head Verification verify_database verify_export",
        },
    )

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
