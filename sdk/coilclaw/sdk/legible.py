"""Untrusted text made safe for a person to read.

Names, paths, arguments, diffs, diagnostics and model text all pass through here before anybody sees them. What
cannot be seen, looks like an ordinary blank, or controls a terminal is written out as JSON writes it, so that one
line stays one line and nothing hides in it.
"""

from __future__ import annotations

import json
import re
from typing import Final

__all__ = ["kind_of", "legible_lines", "one_line", "text_of"]

LONGEST_TEXT: Final = 4000
"""Characters of a foreign object's text that are worth keeping."""

_LONGEST_NAME: Final = 100

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
"""Where Python ends a line. `str.splitlines` knows more ends, and a text could use them to pass for two lines."""

_UNSEEN: Final = frozenset(
    chr(code)
    for first, last in (
        (0x034F, 0x034F),  # combining grapheme joiner
        (0x115F, 0x1160),  # Hangul fillers
        (0x17B4, 0x17B5),  # Khmer inherent vowels
        (0x180B, 0x180F),  # Mongolian variation selectors
        (0x2800, 0x2800),  # Braille blank
        (0x3164, 0x3164),  # Hangul filler
        (0xFE00, 0xFE0F),  # variation selectors
        (0xFFA0, 0xFFA0),  # half-width Hangul filler
        (0x16FE4, 0x16FE4),  # Khitan filler
        (0x1D159, 0x1D159),  # null note head
        (0xE0100, 0xE01EF),  # more variation selectors, in which whole texts have been hidden
    )
    for code in range(first, last + 1)
)
"""Python calls these printable, and yet nobody sees them."""


def one_line(text: str, longest: int | None = None) -> str:
    """Return the text as one line in which every character can be seen.

    JSON stays JSON of the same value, so that what is shown is what will be sent. With `longest`, the line is cut
    there and says how many characters the text has.
    """
    if longest is not None and len(text) > longest:
        return f"{one_line(text[:longest])}… ({len(text)} characters)"
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char.isprintable() and char not in _UNSEEN else json.dumps(char)[1:-1] for char in text)


def legible_lines(text: str) -> list[str]:
    """Split the text where Python ends a line, and return each line as `one_line` would, with its tabs kept."""
    return ["\t".join(one_line(part) for part in line.split("\t")) for line in _LINE_END.split(text)]


def text_of(value: object, longest: int = LONGEST_TEXT) -> str:
    """Return the text of a foreign object: valid Unicode, bounded, and never an exception.

    For whatever an author's code raised or returned where text was expected. The object's `__str__` may itself raise,
    return something else, or return megabytes.
    """
    try:
        text = value if type(value) is str else str(value)
        text = str.__str__(text)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        text = f"<{kind_of(value)} without a text>"
    if len(text) > longest:
        text = f"{text[:longest]}… ({len(text)} characters)"
    return text.encode("utf-8", "backslashreplace").decode()


def kind_of(value: object) -> str:
    """Return the name of a foreign object's class, whatever its author did to hide it: one line, and never long."""
    # The slot of `type` itself: a metaclass may answer for `__name__` with code of its own.
    name = type.__dict__["__name__"].__get__(type(value))
    return one_line(str.__str__(name)[:_LONGEST_NAME])
