"""An answer cut into sentences while it arrives, each with the kind of block that it stands in.

The texts of all sentences, joined, are the answer. A sentence is cut when its end is certain: behind a mark that ends
one, at the end of a paragraph, an item, a heading or a row. Nothing is cut inside quotation marks. A sentence is at
most twice `LONGEST`, and what lies beyond `MOST_READ` is one sentence that nobody reads: so no text takes long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from coilclaw.evidence.grounding.languages.shared import words
from coilclaw.sdk.frozen import Frozen

__all__ = ["Segmenter", "Sentence", "sentences_of"]

Kind: TypeAlias = Literal["prose", "item", "heading", "row", "quote", "code", "unread"]

LONGEST: Final = 2_000
"""Characters after which a text is cut although no sentence ended."""
MOST_READ: Final = 100_000
"""Characters of an answer that are cut into sentences. What follows cannot be verified."""

_PAIRS: Final = {
    '"': '"',
    "“": "”",
    "„": '“”"',
    "«": "»",
    "»": "«",
    "「": "」",
    "『": "』",
    "‹": "›",
    "”": "”",
    "`": "`",
}
_STOP: Final = re.compile(r"[.!?…。！？；\n\"“„«「『‹`]|：\n")
_FENCE: Final = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_BLOCK: Final = re.compile(
    r"[ \t]{0,12}(?:(?P<item>[-*+•·▪◦‣–—]\s|\(?\d{1,3}[.)、]\s?|[a-z][.)]\s|[✅☑✔✓❌✗✘⏳⚠🟢🔴🟡])"
    r"|(?P<heading>#{1,6}\s)|(?P<row>\|)|(?P<quote>>))"
)
_RULE: Final = re.compile(r"[-:| \t]*\n?")
_SHORT: Final = words("""
mr mrs ms dr prof st vs etc eg ie z.b d.h u.a bzw ca nr no approx sr sra dra srta ud uds p.ej pág m mm mme mlle
e.g i.e a.m p.m am pm inc ltd co jan feb mar apr jun jul aug sep sept oct nov dec fig vol str tel abs art usw
evtl ggf inkl max min
""") - {"am", "no", "co"}
_BEFORE: Final = re.compile(r"[\w.]{1,8}$")


class Sentence(Frozen):
    """A sentence, or what stands for one: an item, a heading, a row of a table, a line of code."""

    text: str
    kind: Kind
    opens: bool = False
    """Whether a block begins with it."""


class Segmenter:
    """Cuts the text that it is fed into sentences."""

    def __init__(self) -> None:
        self._held = ""
        self._at = 0  # Up to here nothing ends a sentence.
        self._kind: Kind = "prose"
        self._line_start = True  # Whether the held text begins a line.
        self._fence: str | None = None
        self._opens = True
        self._room = MOST_READ
        self._unread: list[str] = []

    @property
    def held(self) -> str:
        return self._held

    def feed(self, text: str) -> list[Sentence]:
        read, unread = text[: self._room], text[self._room :]
        self._room -= len(read)
        if unread:
            self._unread.append(unread)
        found: list[Sentence] = []
        for start in range(0, len(read), LONGEST):  # In pieces, so that no cut copies the rest of a long text.
            self._held += read[start : start + LONGEST]
            found += self._cut(final=False)
        return found

    def end(self) -> list[Sentence]:
        unread = "".join(self._unread)
        return [*self._cut(final=True), *([Sentence(text=unread, kind="unread")] if unread else [])]

    def _cut(self, *, final: bool) -> Iterator[Sentence]:
        while self._held:
            end = self._next_end(final)
            if end is None:
                if len(self._held) < LONGEST and not final:
                    return
                end = _border(self._held)
            elif end == 0:
                return
            text, self._held = self._held[:end], self._held[end:]
            self._at = 0
            yield Sentence(text=text, kind=self._kind, opens=self._opens)
            self._opens = self._line_start = text.endswith("\n")

    def _next_end(self, final: bool) -> int | None:
        """Where the held text can be cut; None if nothing ends yet, 0 if more must be seen first."""
        held = self._held
        if self._line_start:
            line_end = held.find("\n")
            if line_end < 0 and not final and len(held.lstrip(" \t")) < 8 and len(held) < 24:
                return 0  # What kind of line it is shows in its first characters.
            if self._fence is not None or _FENCE.match(held):
                return self._code_line(line_end, final)
            self._line_start = False
            block = _BLOCK.match(held)
            self._kind = "prose" if block is None else block.lastgroup  # type: ignore[assignment]
            self._at = block.end() if block else 0
            self._opens = True
        elif self._at == 0:
            self._opens = False
        if self._kind in ("row", "quote"):
            end = held.find("\n", self._at)
            self._at = len(held) if end < 0 else end
            if self._kind == "row" and end >= 0:
                below = held.find("\n", end + 1)
                if below < 0 and not final and _RULE.fullmatch(held, end + 1):
                    return 0  # It may become the line below the head of a table.
                below = len(held) if below < 0 else below + 1
                if "-" in held[end + 1 : below] and _RULE.fullmatch(held, end + 1, below):
                    self._kind = "code"  # The head names columns and claims nothing.
                    return below
            return end + 1 or None
        return self._sentence_end(final)

    def _code_line(self, line_end: int, final: bool) -> int | None:
        if line_end < 0 and not final:
            return None
        line = self._held if line_end < 0 else self._held[: line_end + 1]
        self._kind = "code"
        mark = line.strip()[:3]
        if self._fence is None:
            self._fence = mark
        elif mark == self._fence and not line.strip().strip("`~"):
            self._fence = None
        return len(line)

    def _sentence_end(self, final: bool) -> int | None:
        held = self._held
        while (found := _STOP.search(held, self._at)) is not None:
            at, mark = found.start(), found.group()[0]
            if mark in _PAIRS:
                if (close := self._closing(at, mark, final)) is None:
                    return 0 if len(held) < LONGEST else None
                self._at = close
                continue
            end = self._line_break(at, final) if mark == "\n" else self._full_stop(at, mark, final)
            if end is None:
                self._at = at
                return 0 if len(held) < LONGEST else None
            if end:
                return end
            self._at = at + 1
        self._at = len(held)
        return None

    def _closing(self, at: int, mark: str, final: bool) -> int | None:
        """Behind the quotation that opens here; behind the mark if it opens none; None if that is not known yet."""
        held = self._held
        before = held[at - 1] if at else " "
        if mark == '"' and (before.isdigit() or before.isalpha()):
            return at + 1  # Inches, or the end of a quotation that was not seen to open.
        closers = _PAIRS[mark]
        limit = held.find("\n\n", at)
        ends = [end for closer in closers if (end := held.find(closer, at + 1)) >= 0 and (limit < 0 or end < limit)]
        if ends:
            return min(ends) + 1
        if limit >= 0 or final or len(held) - at > LONGEST:
            return at + 1
        self._at = at
        return None

    def _line_break(self, at: int, final: bool) -> int | None:
        """Behind the break if a sentence ends there, 0 if not, None if that is not known yet."""
        held = self._held
        rest = held[at + 1 : at + 25]
        if not final and len(rest.lstrip(" \t")) < 8 and len(rest) < 24 and "\n" not in rest:
            return None
        if self._kind in ("item", "heading") and not rest.startswith("  "):
            return at + 1
        before = held[:at].rstrip()
        if not before:
            return at + 1
        if not rest.strip() or rest.startswith("\n") or _BLOCK.match(rest) or _FENCE.match(rest):
            return at + 1
        if before[-1] in ":：":
            return at + 1
        first = rest.lstrip()[:1]
        return 0 if first.islower() or ("一" <= first <= "鿿" and "一" <= before[-1] <= "鿿") else at + 1

    def _full_stop(self, at: int, mark: str, final: bool) -> int | None:
        held = self._held
        if mark in "。！？；":
            end = at + 1
            while end < len(held) and held[end] in '。！？”’」』）)】 "':
                end += 1
            return end if end < len(held) or final else None
        end = at + 1
        while end < len(held) and held[end] in ".!?…\"”’'»)]*_`~“":
            end += 1
        if end >= len(held):
            return end if final else None
        if not held[end].isspace():
            cjk = "一" <= held[end] <= "鿿" or (not held[end].isascii() and not held[end].isalpha())
            return end if cjk or (mark in "!?" and held[end].isalpha()) else 0
        if held[end] == "\n":
            return end + 1
        end += 1
        if mark == "." and end == at + 2:
            found = _BEFORE.search(held, max(0, at - 8), at)
            word = found.group() if found else ""
            short = word.lower()
            if short in _SHORT or (len(word) == 1 and word.isupper()):
                return 0
            if short.isdigit() and len(short) < 3 and len(held) < end + 3 and not final:
                return None
            if (
                short.isdigit()
                and len(short) < 3
                and end < len(held)
                and (held[end].islower() or held[end : end + 3].title() in _MONTHS)
            ):
                return 0  # An ordinal number.
        if mark == "…" or held[at : at + 2] == "..":
            if end >= len(held):
                return end if final else None
            return 0 if held[end].islower() else end
        return end


_MONTHS: Final = words("""
Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez
""")


def _border(held: str) -> int:
    """Where a text without the end of a sentence is cut: behind its last clause, or else its last word, that fits."""
    if len(held) <= LONGEST:
        return len(held)
    half = held[LONGEST // 2 : LONGEST]
    at = max(half.rfind(mark) for mark in ",;:|，；：、")
    at = at if at >= 0 else half.rfind(" ")
    return LONGEST // 2 + at + 1 if at >= 0 else LONGEST


def sentences_of(text: str) -> list[Sentence]:
    """All sentences of a whole text."""
    segmenter = Segmenter()
    return [*segmenter.feed(text), *segmenter.end()]
