"""A model's text on its way to a person: each sentence is released once its claims are checked.

A sentence whose claims no receipt supports is held back, and so is everything behind it, until the model has had one
chance to put it right. What it then still claims is released with a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Final

from coilclaw.evidence import AnswerStream
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.evidence import Claim, Evidence, Released

__all__ = ["Grounded", "GroundedText"]

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
        self._evidence = evidence
        self._release = release
        self._labels = labels
        self._released = "" if after is None else after.released
        self._claims = [] if after is None else list(after.claims)
        self._shown_before = len(self._released)
        self._is_empty = True

    @cached_property
    def _stream(self) -> AnswerStream:
        """Made when there is a word to check: many replies only ask for tools."""
        made = AnswerStream(self._evidence)
        self._take(made.feed(self._released))  # What follows is read in its light.
        return made

    def feed(self, text: str) -> None:
        """Take some more text."""
        if text:
            self._is_empty = self._is_empty and not text.strip()
            self._take(self._stream.feed(text))

    def end(self) -> Grounded:
        """Release what is left, as far as it may be; nothing is fed any more."""
        if self._is_empty:
            return self.summary() if self._labels else self._grounded()
        rest = self._stream.end()
        unsupported = [claim for each in rest for claim in each.claims if not claim.is_supported]
        if unsupported and not self._labels:
            return Grounded(released=self._released, claims=tuple(self._claims), unsupported=tuple(unsupported))
        self._take(rest)
        return self._grounded()

    def cut(self) -> Grounded:
        """End here, without what is not released yet."""
        return self._grounded()

    def summary(self) -> Grounded:
        """End with a sentence of code instead of what the model has left unsaid."""
        self._show(f"{'' if not self._released or self._released[-1].isspace() else ' '}{SUMMARY}")
        return self._grounded()

    def _take(self, sentences: Iterable[Released]) -> None:
        for each in sentences:
            if self._shown_before >= len(each.text) > 0:
                self._shown_before -= len(each.text)
                continue
            self._claims += each.claims
            self._show(each.shown[self._shown_before :])
            self._shown_before = 0

    def _show(self, text: str) -> None:
        self._released += text
        self._release(text)

    def _grounded(self) -> Grounded:
        return Grounded(released=self._released, claims=tuple(self._claims))
