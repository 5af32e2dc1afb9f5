"""A sentence cut into clauses, and the words in them that say who, when and in which mood."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from coilclaw.evidence.grounding.grammar import Grammar
from coilclaw.evidence.grounding.languages.shared import ASKING, IS
from coilclaw.evidence.grounding.tokens import Token

__all__ = ["Clause", "Clauses"]

_BREAKS: Final = frozenset(",;:—–()|→•=[]/。，；：、")
_LONGEST: Final = 60
"""Tokens of a clause. What is said of a verb is looked for in its clause, for each verb of it."""


class Clause(NamedTuple):
    start: int
    end: int
    joined: str
    """What stands before it: a mark, a coordinator (`J`), a subordinator (`K`), or nothing."""


class Clauses:
    """The tokens of one sentence in one language, and the clauses that they form."""

    def __init__(self, tokens: list[Token], words: Grammar, *, is_question: bool, is_listed: bool) -> None:
        self.tokens = tokens
        self.words = words
        self.is_listed = is_listed
        self.clauses = list(self._clauses())
        self.asked_from = self._asked_from() if is_question else len(tokens)
        self.is_over: bool | None = None  # Whether a time that is over is named, once that was looked for.
        self.first_seen = False  # Whether the assistant was the subject of a verb.
        self.acted = False  # Whether somebody else was.
        self.last: tuple[str, str] | None = None  # Person and marks of the verb before.
        self.before: Clause | None = None  # The clause before the one that is read.

    def marks(self, at: int) -> str:
        token = self.tokens[at]
        if token.kind != "word":
            return ""
        if (
            token.text == "'s"
            and at
            and not set(self.marks(at - 1)) & set("PTW")
            and self.tokens[at - 1].text not in IS
        ):
            return ""  # A genitive.
        return self.words.marks.get(token.text, "")

    def _clauses(self) -> Iterator[Clause]:
        start, joined = 0, ""
        for at, token in enumerate(self.tokens):
            marks = self.marks(at)
            if at - start >= _LONGEST:
                yield Clause(start, at, joined)
                start, joined = at, ""
            if (token.kind == "mark" and (token.text in _BREAKS or token.text > "\u2100")) or (
                "J" in marks and (at > start or joined == ",")
            ):
                if at > start:
                    yield Clause(start, at, joined)
                start, joined = at + 1, f"J{token.text}" if "J" in marks else token.text
            elif (
                at > start
                and self.words.code != "de"
                and (
                    ("K" in marks and "D" not in marks and "P" not in marks and not set("Cc") & set(self.marks(at - 1)))
                    or (("C" in marks or "c" in marks) and self.words.code != "es")
                )
            ):
                yield Clause(start, at, joined)
                start, joined = at, "K"
        if start < len(self.tokens):
            yield Clause(start, len(self.tokens), joined)

    def _asked_from(self) -> int:
        for at, token in enumerate(self.tokens):
            if token.text == "¿":
                return at
        for clause in self.clauses:
            at = clause.start
            while at < clause.end - 1 and "A" in self.marks(at) and self.tokens[at].text not in ASKING:
                at += 1
            if self.tokens[at].text in ASKING:
                return at
        return 0

    def near(self, at: int, clause: Clause) -> tuple[str, int]:
        """The marks of auxiliaries, adverbs and negations right before a verb, and where the subject stands."""
        near = ""
        where = at - 1
        while where >= clause.start:
            marks = self.marks(where)
            if not set(marks) & set("HBSRMNAGXI") or (
                set(marks) & set("IYTP")
                and not set(marks) & set("AHX")
                and self.words.code != "es"
                and self.tokens[where].text != "ai"
            ):
                break
            if self.words.code == "fr" and self.tokens[where].text in ("je", "j'", "on"):
                break
            near += marks
            where -= 1
        return near, where
