"""What a turn is made of, brought into the form in which it is kept: redacted, bounded, and valid text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from coilclaw.memory.errors import BadTurn

__all__ = [
    "LARGEST_DOCUMENT",
    "LARGEST_PENDING",
    "LONGEST_CONTENT",
    "Redact",
    "cut_text",
    "dump",
    "kept_content",
    "kept_list",
    "kept_object",
    "load",
    "redacted",
    "texts_in",
    "valid_text",
    "with_short_texts",
]

Redact: TypeAlias = Callable[[str], str]
"""Replaces secrets in a text."""

LONGEST_CONTENT: Final = 256 * 1024
"""Characters of a turn's content."""
LARGEST_DOCUMENT: Final = 1024 * 1024
"""Characters of a turn's tool calls, of its tool results and of its metadata: each as JSON."""
LARGEST_PENDING: Final = 16 * 1024 * 1024
"""Characters of what a suspended turn waits with, as JSON."""
_DEEPEST: Final = 100
"""Levels of a document, so that whoever walks through it later comes to its end."""
_CUTS: Final = (128 * 1024, 8 * 1024, 256)
"""Lengths that texts in a document are cut to, one after the other, until it fits."""
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def cut_text(text: str, longest: int) -> str:
    """Return the text, or its beginning and how much was left out."""
    if len(text) <= longest:
        return text
    mark = f" … [cut: {len(text) - longest} more characters]"
    return text[:longest] + mark


def valid_text(text: str) -> str:
    """Return the text with a mark in place of what no database can hold: halves of surrogate pairs."""
    return _SURROGATES.sub("\ufffd", text)


def kept_content(text: str, redact: Redact) -> str:
    """Return a turn's content as it is kept."""
    return cut_text(valid_text(redact(text)), LONGEST_CONTENT)


def kept_list(value: Any, redact: Redact, *, name: str) -> str:
    """Return tool calls or tool results as JSON. In what is too large, long texts are cut, and say so."""
    if not isinstance(value, list | tuple):
        raise BadTurn(f"`{name}` of a turn is a list")
    try:
        kept = _redacted(list(value), redact, name)
    except RecursionError:  # Whatever a tool may have returned: the turn is worth more than this.
        return dump([{"cut": f"{len(value)} entries that were nested too deep"}])
    text = dump(kept)
    for longest in _CUTS:
        if len(text) <= LARGEST_DOCUMENT:
            return text
        text = dump(with_short_texts(kept, longest))
    return text if len(text) <= LARGEST_DOCUMENT else dump([{"cut": f"{len(value)} entries that were too large"}])


def kept_object(value: Any, redact: Redact, *, name: str, largest: int = LARGEST_DOCUMENT) -> str:
    """Return a JSON object as text. Raises BadTurn if it is too large: without a part of it, it would be another."""
    if not isinstance(value, Mapping):
        raise BadTurn(f"`{name}` is a JSON object")
    try:
        text = dump(_redacted(dict(value), redact, name))
    except RecursionError:
        raise BadTurn(f"`{name}` is nested deeper than {_DEEPEST} levels") from None
    if len(text) > largest:
        raise BadTurn(f"`{name}` is larger than {largest} characters of JSON")
    return text


def dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def load(text: Any, kind: type) -> Any:
    """Return the value of JSON that was kept, or an empty one if somebody wrote something else over it."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return kind()
    return value if isinstance(value, kind) else kind()


def with_short_texts(value: Any, longest: int) -> Any:
    """Return the same JSON with every text cut to so many characters."""
    return _mapped(value, lambda text: cut_text(text, longest))


def texts_in(value: Any) -> Iterator[str]:
    """Every text of a JSON value, but for the names of its fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)


def redacted(value: Any, redact: Redact) -> Any:
    """Return the same JSON without secrets; text that says so in place of what is nested too deep."""
    try:
        return _mapped(value, redact)
    except RecursionError:
        return f"[CoilClaw] This was nested deeper than {_DEEPEST} levels."


def _redacted(value: Any, redact: Redact, name: str) -> Any:
    try:
        return _mapped(json.loads(json.dumps(value)), lambda text: valid_text(redact(text)))
    except (TypeError, ValueError):
        raise BadTurn(f"`{name}` of a turn is not JSON") from None


def _mapped(value: Any, change: Callable[[str], str], level: int = 0) -> Any:
    if level > _DEEPEST:
        raise RecursionError
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _mapped(each, change, level + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_mapped(each, change, level + 1) for each in value]
    return value
