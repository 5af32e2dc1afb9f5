"""Contents that receipts stand for, looked for in the store: what a receipt has a hash of must still be there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from coilclaw.sdk.quick_json import from_json

__all__ = ["Promises"]

_AT_ONCE: Final = 4096
_ARGS_HASH: Final = b'{"args_hash":"'
_PREVIOUS: Final = b'"previous_hash":"'
_RESULT: Final = len(_PREVIOUS) + 64 + len('","result_hash":"')
_REQUESTED: Final = b',"type":"tool.call.requested"}'
_LATER: Final = b'"arguments_bytes":'
"""Says in a request that its arguments are too large to be kept before it is decided about them."""
_DECIDED: Final = (b',"type":"tool.call.started"}', b',"type":"tool.call.pending"}')
_RUNS_HASH: Final = b'"runs_hash":"'
"""Of what a person was shown that a call would run. Inside a text its quotes would be escaped."""
_SUCCEEDED: Final = b',"type":"tool.call.succeeded"}'
_OTHERS: Final = tuple(
    b',"type":"%b"}' % kind
    for kind in (
        b"run.started",
        b"run.finished",
        b"run.suspended",
        b"run.diverged",
        b"tool.module.loaded",
        b"tool.module.trusted",
    )
)
_ABSENT: Final = "SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM contents WHERE hash = value)"

Read = Callable[..., Iterable[tuple[Any, ...]]]
Stored = tuple[int, str | None, bytes, str]
"""Number, run, body and hash of a receipt."""


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
            self._note_hash(seq, body, len(_ARGS_HASH))
        elif body.endswith(_SUCCEEDED):
            self._note_hash(seq, body, body.rfind(_PREVIOUS) + _RESULT)
        elif body.endswith(_OTHERS):
            for name in _named(body):
                self._noted.setdefault(name, seq)
        if (at := body.find(_RUNS_HASH)) >= 0:
            self._note_hash(seq, body, at + len(_RUNS_HASH))
        if len(self._noted) >= _AT_ONCE:
            self._look()

    def _note_hash(self, seq: int, body: bytes, at: int) -> None:
        if body[at - 1 : at] == b'"':  # Otherwise it is null.
            self._noted.setdefault(body[at : at + 64].decode("ascii", "replace"), seq)

    def _look(self) -> None:
        noted, self._noted = self._noted, {}
        if noted:
            self._absent += [(noted[name], name) for (name,) in self._read(_ABSENT, (json.dumps(list(noted)),))]


def _named(body: bytes) -> list[str]:
    """Hashes in a payload. A direct call has no source: its code is the tool's name."""
    try:
        payload = from_json(body)["payload"]
        names = ["content_hash", "inputs_hash"] + (["code_hash"] if payload.get("kind") == "snippet" else [])
        names += [f"{name}_hash" for name in payload.get("kept", ())]  # Of the end of a run, as far as it had room.
        return [payload[name] for name in names if isinstance(payload.get(name), str)]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []  # That it is no receipt is found elsewhere.
