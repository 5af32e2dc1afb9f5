"""A model's text on its way to a person: each sentence is released once its claims are checked.

A sentence whose claims no receipt supports is held back, and so is everything behind it, until the model has had one
chance to put it right. What it then still claims is released with a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from coilclaw.evidence.grounding.check import Checker
from coilclaw.evidence.grounding.sentences import Segmenter, sentences_of
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.evidence.grounding import Claim, Evidence
    from coilclaw.evidence.grounding.sentences import Sentence

__all__ = ["Grounded", "GroundedText"]

LABEL: Final = "(could not verify completion)"
SUMMARY: Final = "I could not verify completion of everything that I was about to say. The receipts show what was done."


class Grounded(Frozen):
    """A text after its check: what was released, and what it claims."""

    released: str
    claims: tuple[Claim, ...] = ()
    """Of what was released."""
    unsupported: tuple[Claim, ...] = ()
    """Claims that were held back because no receipt supports them."""


class GroundedText:
    """Checks text as it comes, and releases what may be shown."""

    def __init__(
        self,
        evidence: Iterable[Evidence],
        release: Callable[[str], None],
        *,
        labels: bool = False,
        after: Grounded | None = None,
    ) -> None:
        """With `labels`, claims that nothing supports are released with a label. The text continues `after`."""
        self._checker = Checker(evidence)
        self._segments = Segmenter()
        self._release = release
        self._labels = labels
        self._released = "" if after is None else after.released
        self._claims = [] if after is None else list(after.claims)
        self._unsupported: list[Claim] = []
        self._is_empty = True
        for sentence in sentences_of(self._released):
            self._checker.check(sentence)  # What follows is read in its light.

    def feed(self, text: str) -> None:
        """Take some more text."""
        for sentence in self._segments.feed(text):
            self._take(sentence)

    def end(self) -> Grounded:
        """Release what is left, as far as it may be; nothing is fed any more."""
        for sentence in self._segments.end():
            self._take(sentence)
        return self.summary() if self._labels and self._is_empty else self._grounded()

    def summary(self) -> Grounded:
        """End with a sentence of code instead of what the model has left unsaid."""
        self._show(f"{'' if not self._released or self._released[-1].isspace() else ' '}{SUMMARY}")
        return self._grounded()

    def _take(self, sentence: Sentence) -> None:
        claims = self._checker.check(sentence)
        self._is_empty = self._is_empty and not sentence.text.strip()
        unsupported = [claim for claim in claims if not claim.is_supported]
        if not self._labels and (unsupported or self._unsupported):
            self._unsupported += unsupported
            return
        self._claims += claims
        self._show(_labelled(sentence.text) if unsupported else sentence.text)

    def _show(self, text: str) -> None:
        self._released += text
        self._release(text)

    def _grounded(self) -> Grounded:
        return Grounded(released=self._released, claims=tuple(self._claims), unsupported=tuple(self._unsupported))


def _labelled(text: str) -> str:
    said = text.rstrip()
    return f"{said} {LABEL}{text[len(said) :]}"
