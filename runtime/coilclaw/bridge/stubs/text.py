"""Text of others inside Python source: bounded, and unable to end the comment, string or docstring it stands in.

Descriptions, names and values come from whoever wrote a tool, or from a server. What is not
printable (control characters, direction marks, invisible tags) is written out, so that what a
person reads is what a model reads.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, Final

__all__ = ["comment", "docstring", "first_sentence", "literal", "words"]

_SPACES: Final = re.compile(r"[ \t\r\n]+")
_SENTENCE: Final = re.compile(r"(.+?[.!?])(?:\s|$)", re.DOTALL)
_IN_DOCSTRING: Final = {"\\": "\\\\", "\n": "\n", "\t": " ", "\r": ""}
_IN_STRING: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
_MOST_LINES: Final = 16
_DEEPEST: Final = 6
_MOST_DIGITS: Final = 40


def comment(text: str, longest: int) -> str:
    """One line, to stand behind a `#`."""
    return _bounded(_SPACES.sub(" ", text[: longest * 8]).strip(), longest, {})


def docstring(text: str, longest: int) -> list[str]:
    """The lines of a docstring, without its quotes; none can end the string, but the last may end in a quote."""
    bounded = _bounded(text.strip()[: longest * 8], longest, _IN_DOCSTRING)
    lines = [line.strip().replace('""', '"\\"') for line in bounded.split("\n")]
    kept = [line for number, line in enumerate(lines) if line or (number and lines[number - 1])]
    return kept if len(kept) <= _MOST_LINES else [*kept[:_MOST_LINES], "…"]


def first_sentence(text: str, longest: int) -> str:
    """The beginning of a description, on one line."""
    start = text.strip()[: longest * 8].split("\n\n", 1)[0]
    found = _SENTENCE.match(start)
    bounded = comment(found[1] if found else start, longest)
    if bounded.endswith("…") and (space := bounded.rfind(" ", longest // 2)) > 0:
        return f"{bounded[:space]} …"
    return bounded


def literal(value: Any, longest: int) -> str | None:
    """A JSON value as Python writes it, or None when it is too long, too deep, or no such value."""
    try:
        text = _written(value, longest, 0)
    except ValueError:
        return None
    return text if len(text) <= longest else None


def words(names: Iterable[str], longest: int) -> str:
    """As many names as fit, and how many there are beyond."""
    shown: list[str] = []
    known = list(names)
    for name in known:
        if sum(map(len, shown)) + 2 * len(shown) + len(name) > longest:
            break
        shown.append(name)
    left = len(known) - len(shown)
    return ", ".join(shown) + (f"{', ' if shown else ''}… {left} more" if left else "")


def _written(value: Any, longest: int, depth: int) -> str:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        if abs(value) >= 10**_MOST_DIGITS:
            raise ValueError("too many digits")
        return int.__repr__(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("not a JSON number")
        return float.__repr__(value)
    if isinstance(value, str):
        if len(value) > longest:
            raise ValueError("too long")
        return '"' + "".join(_character(char, _IN_STRING) for char in value) + '"'
    if isinstance(value, list | tuple):
        return _joined("[", (_written(each, longest, depth + 1) for each in value), "]", longest)
    if isinstance(value, dict):
        pairs = (
            f"{_written(str(key), longest, depth + 1)}: {_written(each, longest, depth + 1)}"
            for key, each in value.items()
        )
        return _joined("{", pairs, "}", longest)
    raise ValueError("no JSON value")


def _joined(opening: str, parts: Iterable[str], closing: str, longest: int) -> str:
    text = opening
    for part in parts:
        text += part if text == opening else f", {part}"
        if len(text) > longest:
            raise ValueError("too long")
    return text + closing


def _character(char: str, known: dict[str, str]) -> str:
    if char in known:
        return known[char]
    return char if char.isprintable() else char.encode("unicode_escape", "backslashreplace").decode()


def _bounded(text: str, longest: int, known: dict[str, str]) -> str:
    parts: list[str] = []
    room = longest
    for char in text:
        part = _character(char, known)
        room -= len(part)
        if room < 0:
            return "".join(parts) + "…"
        parts.append(part)
    return "".join(parts)
