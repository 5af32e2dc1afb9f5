"""A sentence made ready for checking: its tokens, its language, and what its phrases say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from coilclaw.evidence.grounding.facts import stems_of
from coilclaw.evidence.grounding.grammar import Grammar
from coilclaw.evidence.grounding.languages.shared import WEAK
from coilclaw.evidence.grounding.normal_text import folded
from coilclaw.evidence.grounding.statements import Statement
from coilclaw.evidence.grounding.tokens import Token

__all__ = ["Reading"]


@dataclass(frozen=True)
class Reading:
    """A sentence, made ready for checking. What holds for all of it is looked for once."""

    text: str
    plain: str
    tokens: list[Token]
    language: str
    words: Grammar
    is_question: bool
    is_listed: bool
    _found: dict[str, re.Match[str] | None] = field(default_factory=dict, init=False)

    @cached_property
    def texts(self) -> frozenset[str]:
        """The texts of its tokens."""
        return frozenset(token.text for token in self.tokens)

    @cached_property
    def whole_content(self) -> frozenset[str]:
        return self.content(range(len(self.tokens)))

    @cached_property
    def says_i(self) -> bool:
        return any(token.text in ("i", "we", "ich", "wir", "yo", "je", "j'") for token in self.tokens)

    def plain_part(self) -> Reading | None:
        """The clauses that tell something as a fact, and about nobody; None if there are none."""
        parts: list[list[Token]] = [[]]
        for token in self.tokens:
            if (token.text in (",", ";", "—", "–") and token.kind == "mark") or "J" in self.words.marks.get(
                token.text, ""
            ):
                parts.append([])
            parts[-1].append(token)
        kept = [token for part in parts if not any(self._is_beside(token) for token in part) for token in part]
        return replace(self, tokens=kept) if len(kept) > 3 else None

    def _is_beside(self, token: Token) -> bool:
        return (
            token.kind == "word"
            and bool(set(self.words.marks.get(token.text, "")) & set("CNMYIT"))
            and token.text not in WEAK
        )

    def is_reached(self, name: tuple[str, ...]) -> bool:
        """Whether something is said to have come to somebody: `The contract went to Julia`."""
        for before, token in pairwise(self.tokens):
            if token.is_capital and folded(token.text) == name[0] and before.text in ("to", "an", "a", "à"):
                return True
        return False

    def is_pronoun(self, at: int) -> bool:
        """Whether a word stands for a thing that was named before; one before another noun is an article."""
        marks = set(self.words.marks.get(self.tokens[at].text, ""))
        follows = at + 1 < len(self.tokens) and self.tokens[at + 1].is_capital and self.language == "de"
        return bool(marks & set("PX")) and not ("D" in marks and follows)

    def part_around(self, found: re.Match[str]) -> range:
        """The tokens between the marks before and behind a phrase."""
        start = max(self.plain.rfind(mark, 0, found.start()) for mark in ",;:—")
        ends = [end for mark in ",;—" if (end := self.plain.find(mark, found.end())) >= 0]
        stop = min(ends, default=len(self.plain))
        part = [at for at, token in enumerate(self.tokens) if start < token.start < stop]
        return range(part[0], part[-1] + 1) if part else range(0)

    def is_unreal(self, part: range) -> bool:
        """Whether a part of the sentence denies what it says, or does not tell it as a fact."""
        tokens = (self.tokens[at] for at in part)
        return any(
            set(self.words.marks.get(token.text, "")) & set("CNM") and token.text not in WEAK for token in tokens
        )

    def has(self, phrase: str) -> re.Match[str] | None:
        if phrase not in self._found:
            self._found[phrase] = self.words.phrases[phrase].search(self.plain.lower())
        return self._found[phrase]

    @cached_property
    def _first_act(self) -> int:
        forms = (self.words.forms.get(token.text) for token in self.tokens)
        acts = (at for at, form in enumerate(forms) if form is not None and form.kind in ("past", "first"))
        return next(acts, len(self.tokens))

    def acts_before(self, statement: Statement) -> bool:
        """Whether another action stands before it in the sentence, which facts there belong to."""
        return self._first_act < statement.start

    def left_of(self, statement: Statement) -> int:
        """Where the noun of a statement without a subject may begin: clauses before it that have no verb."""
        at = statement.start
        while at > 0 and (statement.verb == statement.start or self.is_listed):
            token = self.tokens[at - 1]
            if (
                set(self.words.marks.get(token.text, "")) & set("IYTHBSMC")
                or token.text in self.words.forms
                or token.text in (";", "!", "?")
            ):
                break
            at -= 1
        return at

    def content(self, span: Iterable[int]) -> frozenset[str]:
        """The words of a span that are about things, without case and accents."""
        words = (
            folded(token.text)
            for token in (self.tokens[at] for at in span)
            if token.kind == "word" and not self.words.marks.get(token.text) and len(token.text) > 2
        )
        return frozenset(stems_of(words))
