"""How a draft becomes a link of the chain, and a stored link a receipt again."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any, Final, NamedTuple, TypeAlias

from coilclaw.receipts.canonical import NotCanonical, canonical_json, digest, in_profile
from coilclaw.receipts.errors import DamagedReceipt, UnwritableReceipt
from coilclaw.sdk import Receipt, Risk

__all__ = ["FIELDS", "GENESIS", "CheckedDraft", "Draft", "Link", "checked", "export_line", "link", "now", "receipt_of"]

GENESIS: Final = "0" * 64

FIELDS: Final = (
    "args_hash",
    "conversation_id",
    "id",
    "payload",
    "previous_hash",
    "receipt_hash",
    "result_hash",
    "risk",
    "run_id",
    "seq",
    "status",
    "timestamp",
    "tool",
    "tool_call_id",
    "tool_version",
    "type",
)
"""Every receipt has exactly these, in this order; the hash covers all but `receipt_hash`."""

_KINDS: Final = {"seq": int, "payload": dict} | dict.fromkeys(
    ("id", "timestamp", "type", "status", "previous_hash"), str
)

_MOST_TEXTS: Final = 1000
_second: tuple[int, str] = (0, "")


def now() -> str:
    """UTC with microseconds, in the form receipts use."""
    global _second  # The text of the current second, which many receipts share; a race only recomputes it.
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    known, text = _second
    if known != seconds:
        text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        _second = (seconds, text)
    return f"{text}.{rest // 1000:06d}Z"


class Draft(NamedTuple):
    """An event that happened and is not yet in the log. A tuple, because every call makes several."""

    type: str
    status: str
    timestamp: str
    run_id: str | None = None
    conversation_id: str | None = None
    tool_call_id: str | None = None
    tool: str | None = None
    tool_version: str | None = None
    risk: str | None = None
    args_hash: str | None = None
    result_hash: str | None = None
    payload: Mapping[str, Any] = {}


CheckedDraft: TypeAlias = tuple[Draft, str]
"""A draft that can be written, and its payload as canonical JSON. A plain tuple, because every call makes several."""


class Link(NamedTuple):
    """A receipt as it is stored: `body` is the canonical JSON that `receipt_hash` is the hash of."""

    seq: int
    run_id: str | None
    body: bytes
    receipt_hash: str


def checked(draft: Draft) -> CheckedDraft:
    """Write the payload out. Raises UnwritableReceipt if the draft has no canonical form."""
    try:
        payload = canonical_json(in_profile(draft.payload)).decode() if draft.payload else "{}"
        text = "".join([field for field in draft[:-1] if field is not None])
        if not text.isascii():
            text.encode()  # There may be a lone surrogate, which has no bytes.
        return draft, payload
    except (NotCanonical, UnicodeEncodeError, TypeError) as error:
        raise UnwritableReceipt(draft.type, str(error)) from None


def link(draft: CheckedDraft, *, log_id: str, seq: int, previous_hash: str) -> Link:
    """Give a draft its place in the log.

    The body is written out in `FIELDS` order, field by field; a test holds it equal to what
    `canonical_json` makes of the same receipt.
    """
    fields, payload = draft
    kind, status, moment, run_id, conversation, call_id, tool, version, risk, args_hash, result_hash, _ = fields
    text = _texts
    body = (
        f'{{"args_hash":{text[args_hash]},"conversation_id":{text[conversation]},"id":"receipt-{log_id}-{seq}",'
        f'"payload":{payload},"previous_hash":"{previous_hash}","result_hash":{text[result_hash]},'
        f'"risk":{text[risk]},"run_id":{text[run_id]},"seq":{seq},"status":{text[status]},"timestamp":{encode_basestring(moment)},'
        f'"tool":{text[tool]},"tool_call_id":{text[call_id]},"tool_version":{text[version]},"type":{text[kind]}}}'
    ).encode()
    return Link(seq, run_id, body, digest(body))


class _Texts(dict[str | None, str]):
    """Fields as JSON, kept for a while: the receipts of a call, and those of a run, have most of them in common."""

    def __missing__(self, field: str | None) -> str:
        if len(self) >= _MOST_TEXTS:
            self.clear()
        text = self[field] = "null" if field is None else encode_basestring(field)
        return text


_texts: Final = _Texts()


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
