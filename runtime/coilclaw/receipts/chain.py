"""How a draft becomes a link of the chain, and a stored link a receipt again."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any, Final, NamedTuple

from coilclaw.receipts.canonical import NotCanonical, canonical_json, digest, in_profile
from coilclaw.receipts.errors import DamagedReceipt, UnwritableReceipt
from coilclaw.sdk import Receipt, Risk

__all__ = ["FIELDS", "GENESIS", "Draft", "Link", "WrittenDraft", "export_line", "link", "now", "receipt_of", "written"]

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


class WrittenDraft(NamedTuple):
    """A draft as canonical JSON, in pieces: what depends on its place in the log goes between them."""

    run_id: str | None
    before_id: bytes
    payload: bytes
    before_seq: bytes
    behind_seq: bytes


class Link(NamedTuple):
    """A receipt as it is stored: `body` is the canonical JSON that `receipt_hash` is the hash of."""

    seq: int
    run_id: str | None
    body: bytes
    receipt_hash: str


def written(draft: Draft) -> WrittenDraft:
    """Write a draft out in `FIELDS` order, field by field. Raises UnwritableReceipt if it has no canonical form.

    A test holds the whole body equal to what `canonical_json` makes of the same receipt.
    """
    text = _text
    try:
        return WrittenDraft(
            draft.run_id,
            f'{{"args_hash":{text(draft.args_hash)},"conversation_id":{text(draft.conversation_id)},"id":'.encode(),
            canonical_json(in_profile(draft.payload)) if draft.payload else b"{}",
            (
                f'"result_hash":{text(draft.result_hash)},"risk":{text(draft.risk)},"run_id":{text(draft.run_id)},"seq":'
            ).encode(),
            (
                f',"status":{text(draft.status)},"timestamp":{text(draft.timestamp)},"tool":{text(draft.tool)},'
                f'"tool_call_id":{text(draft.tool_call_id)},"tool_version":{text(draft.tool_version)},'
                f'"type":{text(draft.type)}}}'
            ).encode(),
        )
    except (NotCanonical, UnicodeEncodeError, TypeError) as error:
        raise UnwritableReceipt(draft.type, str(error)) from None


def link(draft: WrittenDraft, *, log_id: str, seq: int, previous_hash: str) -> Link:
    """Give a draft its place in the log."""
    body = b'%b"receipt-%b-%d","payload":%b,"previous_hash":"%b",%b%d%b' % (
        draft.before_id,
        log_id.encode(),
        seq,
        draft.payload,
        previous_hash.encode(),
        draft.before_seq,
        seq,
        draft.behind_seq,
    )
    return Link(seq, draft.run_id, body, digest(body))


def _text(value: str | None) -> str:
    return "null" if value is None else encode_basestring(value)


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
