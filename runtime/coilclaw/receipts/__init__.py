"""The receipt log: canonical form, chain, durable appends, verification."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.receipts.canonical import NotCanonical, canonical_json, contents_json, digest
    from coilclaw.receipts.chain import GENESIS, Draft, now
    from coilclaw.receipts.contents import content_sizes, read_contents, small_contents
    from coilclaw.receipts.cursor import Page, Place, cursor_of
    from coilclaw.receipts.errors import (
        Conflict,
        DamagedReceipt,
        LogMissing,
        LogUnwritable,
        NoSuchReceipt,
        UnwritableReceipt,
    )
    from coilclaw.receipts.fast_reading import (
        args_hash_of,
        ends_of,
        request_facts,
        result_hash_of,
        second_of,
        text_field,
        type_field,
    )
    from coilclaw.receipts.founding import found_log, refuse_without_log, restart_log
    from coilclaw.receipts.head import Head
    from coilclaw.receipts.log import RELAXED_SECONDS, ReceiptLog
    from coilclaw.receipts.receipt_table import LOG_END
    from coilclaw.receipts.rows import Row
    from coilclaw.receipts.tables import MIGRATIONS
    from coilclaw.receipts.tail import Tail
    from coilclaw.receipts.verification import Verification, verify_database, verify_export
    from coilclaw.store import BadCursor
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "canonical": "NotCanonical canonical_json contents_json digest",
            "chain": "GENESIS Draft now",
            "contents": "content_sizes read_contents small_contents",
            "cursor": "Page Place cursor_of",
            "errors": "Conflict DamagedReceipt LogMissing LogUnwritable NoSuchReceipt UnwritableReceipt",
            "fast_reading": "args_hash_of ends_of request_facts result_hash_of second_of text_field type_field",
            "founding": "found_log refuse_without_log restart_log",
            "head": "Head",
            "log": "RELAXED_SECONDS ReceiptLog",
            "receipt_table": "LOG_END",
            "rows": "Row",
            "tables": "MIGRATIONS",
            "tail": "Tail",
            "verification": "Verification verify_database verify_export",
            "coilclaw.store": "BadCursor",
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
    "Place",
    "ReceiptLog",
    "Row",
    "Tail",
    "UnwritableReceipt",
    "Verification",
    "args_hash_of",
    "canonical_json",
    "content_sizes",
    "contents_json",
    "cursor_of",
    "digest",
    "ends_of",
    "found_log",
    "now",
    "read_contents",
    "refuse_without_log",
    "request_facts",
    "restart_log",
    "result_hash_of",
    "second_of",
    "small_contents",
    "text_field",
    "type_field",
    "verify_database",
    "verify_export",
]
