"""Untrusted text made safe for a person to read.

Names, paths, arguments, diffs, diagnostics and model text all pass through here before anybody sees them. What
cannot be seen, looks like an ordinary blank, or controls a terminal is written out as JSON writes it, so that one
line stays one line and nothing hides in it. Long runs of blanks are counted: `⟦2100 blanks⟧`. The brackets and the
sign for a tab stand for nothing else, because a text that contains them has them written out as `⟦U+27E6⟧`.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Final

__all__ = [
    "as_name",
    "cells",
    "kind_of",
    "legible_line",
    "legible_lines",
    "one_line",
    "quoted",
    "text_of",
    "visible",
    "visible_block",
]

LONGEST_TEXT: Final = 4000
"""Characters of a foreign object's text that are worth keeping."""

_LONGEST_NAME: Final = 100

MOST_BLANKS: Final = 16
"""Blanks in a row that are shown as they are."""

MOST_INDENT: Final = 40
"""Blanks at the beginning of a line of text that are shown as they are: code is indented deeply at times."""

MOST_MARKS: Final = 4
"""Combining characters on one base. More of them make a stack that covers the lines around it."""

_TAB: Final = "⇥   "
_RUN: Final = " " * (MOST_BLANKS + 1)
_RESERVED: Final = re.compile(r"[⟦⟧⇥]")
_REPEATED: Final = re.compile(rf"([^\x21-\x7e])\1{{{MOST_BLANKS},}}", re.DOTALL)

_CHARACTER: Final = re.compile(r"\\u[0-9a-f]{4}|\\[^u]|[^\\]")
_QUOTES: Final = re.compile("[“”„‟″‶〝〞\uff02ʺ˝]")

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
        (0x2D7F, 0x2D7F),  # Tifinagh consonant joiner
        (0x3164, 0x3164),  # Hangul filler
        (0xFE00, 0xFE0F),  # variation selectors
        (0xFFA0, 0xFFA0),  # half-width Hangul filler
        (0x1107F, 0x1107F),  # Brahmi number joiner
        (0x11A47, 0x11A47),  # Zanabazar subjoiner
        (0x11A99, 0x11A99),  # Soyombo subjoiner
        (0x11F42, 0x11F42),  # Kawi conjoiner
        (0x13441, 0x13446),  # Egyptian blanks and lost signs
        (0x16FE4, 0x16FE4),  # Khitan filler
        (0x1BC9D, 0x1BC9D),  # Duployan letter selector
        (0x1D159, 0x1D159),  # null note head
        (0xE0000, 0xE0FFF),  # tags and more variation selectors, in which whole texts have been hidden
    )
    for code in range(first, last + 1)
)
"""Python calls these printable, and yet nobody sees them."""


def visible(text: str) -> str:
    """Return the text as one line without anything that is invisible or controls a terminal.

    This is the least that any output goes through, layout and all: doing it twice changes nothing. A single value that
    somebody else chose goes through `one_line` or `as_name` first.
    """
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    marks = MOST_MARKS  # Nothing to sit on yet.
    for char in text:
        form, is_mark = _form(char)
        if is_mark:
            marks += 1
            shown.append(char if marks <= MOST_MARKS else _written_out(char))
        else:
            marks = 0 if form == char and char.isalnum() else MOST_MARKS  # Never on a quotation mark of ours.
            shown.append(form)
    return "".join(shown)


def visible_block(text: str) -> str:
    """Return the text with its newlines and tabs, and otherwise as `visible` returns each line."""
    if text.isascii() and text.isprintable():
        return text
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))


def one_line(text: str, longest: int | None = None) -> str:
    """Return the text as one line in which every character can be seen and long runs of blanks are counted.

    With `longest`, the line is cut there and says how many characters the text has.
    """
    if longest is not None and len(text) > longest:
        return f"{one_line(text[:longest])}… ({len(text)} characters)"
    if text.isascii() and text.isprintable() and _RUN not in text:
        return text
    return visible(_counted(text))


def as_name(text: str, longest: int | None = None) -> str:
    """Return a name as it is, or quoted when it has something in it that could pass for more than a name."""
    if longest is not None and len(text) > longest:
        return f"{as_name(text[:longest])}… ({len(text)} characters)"
    if text and text.isascii() and text.isprintable() and " " not in text and '"' not in text:
        return text
    shown = one_line(text)
    if shown and shown == text and " " not in text and '"' not in text:
        return text
    return one_line(json.dumps(text, ensure_ascii=False))


def legible_line(line: str) -> str:
    """Return one line of a text: like `one_line`, with indentation kept, tabs as `⇥`, and blanks at its end counted."""
    if line.isascii() and line.isprintable() and _RUN not in line and not line.endswith(" "):
        return line
    body = line.lstrip(" ")
    indent = line[: len(line) - len(body)]
    if not body:
        return f"⟦{_blanks(len(indent))}⟧" if indent else ""
    if len(indent) > MOST_INDENT:
        indent, body = "", line
    inner = body.rstrip(" ")
    shown = _TAB.join(map(visible, _counted(inner).split("\t")))
    end = f"⟦{_blanks(len(body) - len(inner))}⟧" if len(inner) < len(body) else ""
    return f"{indent}{shown}{end}"


def legible_lines(text: str) -> list[str]:
    """Split the text where Python ends a line, and return each line as `legible_line` does."""
    return [legible_line(line) for line in _LINE_END.split(text)]


def cells(text: str) -> int:
    """Return how many columns of a terminal the text takes, once it is visible."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


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


def _counted(text: str) -> str:
    """Replace what our own marks are made of, and then long runs of one character that is not seen."""
    text = _RESERVED.sub(lambda found: f"⟦U+{ord(found[0]):04X}⟧", text)
    return _REPEATED.sub(_count, text)


def _count(found: re.Match[str]) -> str:
    char, number = found[1], len(found[0])
    if char == " ":
        return f"⟦{_blanks(number)}⟧"
    return found[0] if _form(char) == (char, False) else f"⟦{number} times {_written_out(char)}⟧"


def _blanks(number: int) -> str:
    return "1 blank" if number == 1 else f"{number} blanks"


def _written_out(char: str) -> str:
    return json.dumps(char)[1:-1]


@lru_cache(maxsize=8192)
def _form(char: str) -> tuple[str, bool]:
    """Return how a character is shown, and whether it sits on the one before it."""
    if not char.isprintable() or char in _UNSEEN:
        return _written_out(char), False
    if char.isascii():
        return char, False
    import unicodedata  # Most text is ASCII, and most commands never need it.

    return char, unicodedata.category(char)[0] == "M"


@lru_cache(maxsize=8192)
def _columns(char: str) -> int:
    import unicodedata

    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def quoted(json_text: str, longest: int) -> str:
    """JSON in one bounded line, in which no text can end its quotation: what it says is told from what is said of it.

    A cut closes the quotation that it falls into, and quotation marks that look like JSON's are written out.
    """
    text = _QUOTES.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text)
    if len(text) <= longest:
        return text
    whole = _CHARACTER.findall(text[:longest])  # No half of an escape.
    return "".join(whole) + ('…"' if whole.count('"') % 2 else "…")
