"""Reading and writing JSON that the runtime itself made: texts, integers, true, false, null, lists and objects.

pydantic's functions are several times as quick as the standard library's, and take as long to load as a short run
takes. So they are used once they are loaded, which they are as soon as a tool is called. What a snippet or a tool
made is read and written by pydantic's functions alone: the two differ in what they refuse and how they write floats.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, Final

__all__ = ["compact_encoder", "from_json", "to_json"]


def compact_encoder(*, ensure_ascii: bool = True, sort_keys: bool = False) -> Callable[[Any], str]:
    """Return a function that writes compact JSON as `json.JSONEncoder` does, but makes no encoder for every value.

    It refuses what is not finite, and does not look for values that contain themselves.
    """
    text = json.encoder.encode_basestring_ascii if ensure_ascii else json.encoder.encode_basestring
    refuse = json.JSONEncoder().default
    chunks = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
        None, refuse, text, None, ":", ",", sort_keys, False, False
    )
    return lambda value: "".join(chunks(value, 0))


_encode: Final = compact_encoder(ensure_ascii=False)


def from_json(data: str | bytes) -> Any:
    """Return what JSON says. Raises ValueError if it is not JSON."""
    read = getattr(sys.modules.get("pydantic_core"), "from_json", None)
    if read is not None:
        return read(data)
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def to_json(value: Any) -> bytes:
    """Return compact JSON in the order of the value. Raises ValueError for a text that has no bytes."""
    write = getattr(sys.modules.get("pydantic_core"), "to_json", None)
    return _encode(value).encode() if write is None else write(value)
