"""Which values the fields of a receipt can have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from coilclaw.sdk import Risk

__all__ = ["LOG_ID", "schema_problem"]

LOG_ID: Final = re.compile(r"[0-9a-f]{8}", re.ASCII)
_HASH: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_KIND: Final = re.compile(r"[a-z_]+(\.[a-z_]+)+", re.ASCII)
_STATUS: Final = re.compile(r"[a-z_]+", re.ASCII)
_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_RISKS: Final = frozenset(risk.value for risk in Risk)

_PATTERNS: Final = {
    "type": _KIND,
    "status": _STATUS,
    "timestamp": _TIMESTAMP,
    "previous_hash": _HASH,
    "receipt_hash": _HASH,
}
_HASHES_OR_NONE: Final = ("args_hash", "result_hash")
_TEXTS_OR_NONE: Final = ("run_id", "conversation_id", "tool_call_id", "tool", "tool_version")


def schema_problem(fields: Mapping[str, Any]) -> str | None:
    """The first field of a receipt whose value no receipt can have, or None. That all fields are there is known."""
    if type(fields["seq"]) is not int or fields["seq"] < 1:
        return "its seq is no number of a receipt"
    if type(fields["id"]) is not str:
        return "its id is no text"
    if type(fields["payload"]) is not dict:
        return "its payload is no object"
    for name, pattern in _PATTERNS.items():
        if type(fields[name]) is not str or not pattern.fullmatch(fields[name]):
            return f"its {name} is not in the form that receipts use"
    for name in _HASHES_OR_NONE:
        if fields[name] is not None and (type(fields[name]) is not str or not _HASH.fullmatch(fields[name])):
            return f"its {name} is no hash"
    for name in _TEXTS_OR_NONE:
        if fields[name] is not None and type(fields[name]) is not str:
            return f"its {name} is no text"
    if fields["risk"] is not None and fields["risk"] not in _RISKS:
        return "its risk is not one that tools have"
    return None if _is_moment(fields["timestamp"]) else "its timestamp is no moment"


def _is_moment(timestamp: str) -> bool:
    try:
        datetime.fromisoformat(timestamp[:-1])
    except ValueError:
        return False
    return True
