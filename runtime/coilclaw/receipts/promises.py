"""Contents that receipts stand for, looked for in the store: what a receipt has a hash of must still be there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from coilclaw.receipts.contents import absent_contents
from coilclaw.receipts.fast_reading import (
    args_hash_of,
    behind_payload,
    payload_hash,
    result_hash_of,
    text_field,
    type_field,
)
from coilclaw.sdk.quick_json import from_json

if TYPE_CHECKING:
    from coilclaw.receipts.receipt_table import Read, Stored

__all__ = ["Promises"]

_AT_ONCE: Final = 4096
_REQUESTED: Final = type_field("tool.call.requested")
_LATER: Final = b'"arguments_bytes":'
"""Marks a request whose arguments are too large to be stored before the call is decided."""
_DECIDED: Final = (type_field("tool.call.started"), type_field("tool.call.pending"))
_RUNS_HASH: Final = text_field("runs_hash")
"""Of what a person was shown that a call would run."""
_WITH_RESULT: Final = (type_field("tool.call.succeeded"), type_field("tool.call.reused"))
_OTHERS: Final = tuple(
    type_field(kind)
    for kind in (
        "run.queued",
        "run.started",
        "run.finished",
        "run.suspended",
        "run.diverged",
        "tool.module.loaded",
        "tool.module.trusted",
    )
)


class Promises:
    """Takes note of the contents that receipts promise, while they pass; `absent` tells which are not kept.

    Nothing removes contents, so whatever is absent was taken away. Arguments are kept when a call is requested, or, if
    they are large, when it is asked about or started: those of a large call that was refused never were.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._noted: dict[str, int] = {}
        self._absent: list[tuple[int, str]] = []

    def passing(self, rows: Iterable[Stored]) -> Iterator[Stored]:
        """The same rows, each looked at on its way."""
        for row in rows:
            self._note(row[0], row[2] or b"")
            yield row

    def absent(self) -> list[tuple[int, str]]:
        """Numbers of receipts, each with the hash of something that it promises and that is not there."""
        self._look()
        return self._absent

    def _note(self, seq: int, body: bytes) -> None:
        if body.endswith(_DECIDED) or (body.endswith(_REQUESTED) and _LATER not in body):
            self._note_hash(seq, args_hash_of(body))
        elif body.endswith(_WITH_RESULT):
            self._note_hash(seq, result_hash_of(body, behind_payload(body)))
        elif body.endswith(_OTHERS):
            for name in _named(body):
                self._noted.setdefault(name, seq)
        self._note_hash(seq, payload_hash(body, _RUNS_HASH))
        if len(self._noted) >= _AT_ONCE:
            self._look()

    def _note_hash(self, seq: int, name: str | None) -> None:
        if name is not None:
            self._noted.setdefault(name, seq)

    def _look(self) -> None:
        noted, self._noted = self._noted, {}
        if noted:
            self._absent += [(noted[name], name) for name in absent_contents(self._read, list(noted))]


def _named(body: bytes) -> list[str]:
    """Hashes in a payload. A direct call has no source: its code is the tool's name."""
    try:
        payload = from_json(body)["payload"]
        names = ["content_hash", "inputs_hash"] + (["code_hash"] if payload.get("kind") == "snippet" else [])
        names += [f"{name}_hash" for name in payload.get("kept", ())]  # Of the end of a run, as far as it had room.
        return [payload[name] for name in names if isinstance(payload.get(name), str)]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []  # That it is no receipt is found elsewhere.
