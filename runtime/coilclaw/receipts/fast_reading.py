"""Stored receipts, read by their bytes.

Parsing every receipt takes longer than checking it. A body has its fields in the order of `chain.FIELDS`, and a quote
inside a value is escaped, so that places in it can be found without parsing: only `payload` holds nested keys, and it
comes before `previous_hash`. Behind the last `"previous_hash":"` every quote is structure, and so it is before
`payload`. A field that is added to receipts has to be thought of here.
"""

from __future__ import annotations

from typing import Any, Final

from coilclaw.sdk.quick_json import from_json, to_json

__all__ = [
    "PREVIOUS",
    "args_hash_of",
    "behind_payload",
    "continues",
    "conversation_field",
    "ends_of",
    "payload_hash",
    "request_facts",
    "result_hash_of",
    "run_field",
    "run_of",
    "second_of",
    "text_field",
    "type_field",
]

_ARGS_HASH: Final = len('{"args_hash":"')
_PAYLOAD: Final = b'"payload":'
PREVIOUS: Final = b'"previous_hash":"'
_RESULT: Final = len(PREVIOUS) + 64 + len('","result_hash":"')
_RUN: Final = b'"run_id":'
_SEQ: Final = b',"seq":'
_TIMESTAMP: Final = b'"timestamp":"'
_TOOL: Final = b'"tool":'
_TYPE: Final = b',"type":"'


def type_field(kind: str) -> bytes:
    """The end of every receipt of a type."""
    return b',"type":"%b"}' % kind.encode()


def run_field(run_id: str | None) -> bytes:
    """A field that the receipts of a run have behind their payloads, and no others."""
    return _RUN + to_json(run_id) + _SEQ


def conversation_field(conversation: str) -> bytes:
    """A field that the receipts of a conversation have; one in a payload may look the same."""
    return b'"conversation_id":%b,"id":' % to_json(conversation)


def run_of(body: bytes, at: int) -> str | None:
    """The run of a receipt; `at` is where the fields behind its payload begin."""
    starts = body.find(_RUN, at) + len(_RUN)
    run_id: str | None = from_json(body[starts : body.find(_SEQ, starts)])
    return run_id


def behind_payload(body: bytes) -> int:
    """Where the fields behind the payload begin."""
    return body.rfind(PREVIOUS)


def continues(body: bytes, *, id_field: bytes, seq_field: bytes, previous_field: bytes) -> bool:
    """Whether a stored body stands at this place."""
    at = body.rfind(PREVIOUS)
    return body.startswith(previous_field, at) and body.find(seq_field, at) > 0 and 0 < body.find(id_field) < at


def ends_of(body: bytes) -> tuple[bytes, bytes]:
    """The type field, and the fields before it, which name tool, call and version alike in all receipts of a call."""
    ends = body.rfind(_TYPE)
    return body[ends:], body[body.rfind(_TOOL) : ends]


def request_facts(body: bytes, at: int, named: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The payload, and what `named` says of tool, call and version, both parsed."""
    payload = body[body.find(_PAYLOAD) + len(_PAYLOAD) : at - 1]
    facts, names = from_json(b"[%b,{%b}]" % (payload, named))
    return facts, names


def args_hash_of(body: bytes) -> str | None:
    """The hash of the arguments, if the receipt has one."""
    return _hash_at(body, _ARGS_HASH)


def result_hash_of(body: bytes, at: int) -> str | None:
    """The hash of the result, if the receipt has one."""
    return _hash_at(body, at + _RESULT)


def text_field(name: str) -> bytes:
    """The beginning of a text with this name. Inside another text its quotes would be escaped."""
    return b'"%b":"' % name.encode()


def payload_hash(body: bytes, field: bytes) -> str | None:
    """The hash that the payload has in this `text_field`."""
    at = body.find(field)
    return None if at < 0 else _hash_at(body, at + len(field))


def second_of(body: bytes) -> bytes:
    """The time of a receipt up to its second. Times sort as they follow one another."""
    at = body.rfind(_TIMESTAMP) + len(_TIMESTAMP)
    return body[at : at + 19]


def _hash_at(body: bytes, at: int) -> str | None:
    if body[at - 1 : at] != b'"':  # It is null.
        return None
    return body[at : at + 64].decode("ascii", "replace")
