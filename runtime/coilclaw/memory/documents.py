"""What a turn is made of, brought into the form in which it is kept: redacted, bounded, and valid text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from coilclaw.memory.errors import BadTurn

__all__ = [
    "LARGEST_DOCUMENT",
    "LARGEST_PENDING",
    "LONGEST_CONTENT",
    "Redact",
    "cut_text",
    "dump",
    "is_kept_whole",
    "kept_calls",
    "kept_content",
    "kept_object",
    "kept_results",
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
"""Characters of what a suspended exchange waits with, as JSON."""
_DEEPEST: Final = 100
"""Levels of a document, so that whoever walks through it later comes to its end."""
_CUTS: Final = (128 * 1024, 8 * 1024, 256)
"""Lengths that texts in a document are cut to, one after the other, until it fits."""
_OWN: Final = frozenset(
    ("request", "run_id", "run_ids", "handles", "found", "status", "state", "process", "claim", "usage")
)
"""Fields of a document that hold ids and words of our own, which a secret that occurs in them must not change."""
_FIELDS: Final = _OWN | {"id", "name", "arguments", "problem", "echo", "text", "is_error", "altered", "cut"}
"""Names of fields of our own."""
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


def kept_calls(value: Any, redact: Redact) -> str:
    """Return tool calls as JSON. One that could not be kept as it was made says so: it is `altered`."""
    return _kept_entries(value, redact, "tool_calls", lambda made, kept: kept if made == kept else _altered(kept))


def kept_results(value: Any, redact: Redact) -> str:
    """Return tool results as JSON. In what is too large, long texts are cut, and say so."""
    return _kept_entries(value, redact, "tool_results", lambda made, kept: kept)


def kept_object(value: Any, redact: Redact, *, name: str, largest: int = LARGEST_DOCUMENT) -> str:
    """Return a JSON object as text. Raises BadTurn if it is too large: without a part of it, it would be another."""
    if not isinstance(value, Mapping):
        raise BadTurn(f"`{name}` is a JSON object")
    try:
        text = dump(_entry(_plain(dict(value), name), _redacting(redact), names=False))
    except RecursionError:
        raise BadTurn(f"`{name}` is nested deeper than {_DEEPEST} levels") from None
    if len(text) > largest:
        raise BadTurn(f"`{name}` is larger than {largest} characters of JSON")
    return text


def is_kept_whole(entry: Any, largest: int) -> bool:
    """Whether an entry of a turn's tool calls is neither nested too deep nor larger than so many characters of JSON."""
    try:
        return len(dump(_mapped(entry, str, 1))) <= largest
    except RecursionError:
        return False


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


def _kept_entries(value: Any, redact: Redact, name: str, mark: Callable[[Any, Any], Any]) -> str:
    if not isinstance(value, list | tuple):
        raise BadTurn(f"`{name}` of a turn is a list")
    made, redacted = [], []
    for each in value:
        try:
            plain = _plain(each, name)
            redacted.append(_entry(plain, _redacting(redact)))
        except RecursionError:  # Whatever a tool may have returned: the turn is worth more than this.
            plain = _left_out(each, "was nested too deep")
            redacted.append(plain)
        made.append(plain)
    kept = redacted
    for longest in (*_CUTS, None):
        text = dump(list(map(mark, made, kept)))
        if len(text) <= LARGEST_DOCUMENT:
            return text
        kept = [
            _left_out(each, "was too large") if longest is None else _entry(each, partial(cut_text, longest=longest))
            for each in redacted
        ]
    text = dump(kept)
    return text if len(text) <= LARGEST_DOCUMENT else dump([{"cut": f"{len(value)} entries that were too large"}])


def _altered(kept: Any) -> Any:
    return {**kept, "altered": True} if isinstance(kept, dict) else None


def _left_out(entry: Any, why: str) -> dict[str, Any]:
    own = {name: each for name, each in entry.items() if name in _OWN} if isinstance(entry, dict) else {}
    return {"cut": f"an entry that {why}", **own}


def _redacting(redact: Redact) -> Callable[[str], str]:
    return lambda text: valid_text(redact(text))


def _plain(value: Any, name: str) -> Any:
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        raise BadTurn(f"`{name}` of a turn is not JSON") from None


def _entry(entry: Any, change: Callable[[str], str], *, names: bool = True) -> Any:
    """Change the texts of an entry, but neither the names of our own fields nor what is ours alone in them."""
    if not isinstance(entry, dict):
        return _mapped(entry, change, 1)
    return {
        change(name) if names and name not in _FIELDS else name: (
            each if name in _OWN else _mapped(each, change, 2, names=names)
        )
        for name, each in entry.items()
    }


def _mapped(value: Any, change: Callable[[str], str], level: int = 0, *, names: bool = True) -> Any:
    if level > _DEEPEST:
        raise RecursionError
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {
            change(key) if names else key: _mapped(each, change, level + 1, names=names) for key, each in value.items()
        }
    if isinstance(value, list):
        return [_mapped(each, change, level + 1, names=names) for each in value]
    return value
