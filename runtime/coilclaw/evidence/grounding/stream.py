"""An answer that is checked while it arrives: no sentence is shown before the evidence was asked about it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from coilclaw.evidence.grounding.check import Checker
from coilclaw.evidence.grounding.labels import labelled
from coilclaw.evidence.grounding.sentences import Segmenter, Sentence
from coilclaw.evidence.grounding.values import Claim, Evidence, Grounding
from coilclaw.sdk.frozen import Frozen

__all__ = ["AnswerStream", "Released"]


class Released(Frozen):
    """A sentence that may be shown, with the claims it makes."""

    text: str
    """As the model wrote it; the texts of all released sentences, joined, are the answer."""
    claims: tuple[Claim, ...]

    @property
    def shown(self) -> str:
        """The text, with a label behind it if a claim of it has no support."""
        return labelled(self.text, self.claims)


class AnswerStream:
    """Holds the text of an answer back until it is a whole sentence, and that is supported.

    A sentence with a claim that nothing supports yet waits, with all that follow, until `add` brings evidence for it
    or `end` releases it with a label. So `Done.` is never seen before the call that it is about has succeeded.
    """

    def __init__(self, evidence: Iterable[Evidence] = ()) -> None:
        self._evidence = list(evidence)
        self._segmenter = Segmenter()
        self._checker = Checker(self._evidence)
        self._waiting: deque[Sentence] = deque()
        self._is_blocked = False
        self._released: list[Released] = []

    @property
    def released(self) -> tuple[Released, ...]:
        """All sentences released so far."""
        return tuple(self._released)

    @property
    def grounding(self) -> Grounding:
        """All claims released so far."""
        return Grounding(claims=tuple(claim for each in self._released for claim in each.claims))

    def feed(self, delta: str) -> list[Released]:
        """Take more text; return the sentences that may be shown now."""
        self._waiting += self._segmenter.feed(delta)
        return [] if self._is_blocked else self._release()

    def add(self, evidence: Iterable[Evidence]) -> list[Released]:
        """Take more evidence; return what may be shown now. A call that is known already gets its later state."""
        for each in evidence:
            known = next((at for at, old in enumerate(self._evidence) if _is_same(each, old)), None)
            if known is None:
                self._evidence.append(each)
            else:
                self._evidence[known] = each
        self._checker.renew(self._evidence)
        return self._release()

    def end(self) -> list[Released]:
        """End the answer; return the rest, with labels where there is no support."""
        self._waiting += self._segmenter.end()
        for sentence in self._waiting:
            self._checker.look_at(sentence)
        rest = [self._checked(sentence) for sentence in self._waiting]
        self._waiting.clear()
        rest = self._closed(rest)
        self._released += rest
        return rest

    def _release(self) -> list[Released]:
        found: list[Released] = []
        self._is_blocked = False
        while self._waiting:
            before = self._checker.mark()
            self._checker.look_at(self._waiting[0])
            released = self._checked(self._waiting[0])
            if not all(claim.is_supported for claim in released.claims):
                self._checker.restore(before)
                self._is_blocked = True
                break
            self._waiting.popleft()
            found.append(released)
        self._released += found
        return found

    def _checked(self, sentence: Sentence) -> Released:
        return Released(text=sentence.text, claims=tuple(self._checker.check(sentence)))

    def _closed(self, rest: list[Released]) -> list[Released]:
        """What the whole answer leaves unsaid is labelled at its last sentence, when others are shown already."""
        claims = [claim for each in (*self._released, *rest) for claim in each.claims]
        closed = self._checker.closed(list(claims))
        changed = [new for old, new in zip(claims, closed, strict=True) if new is not old]
        if not changed:
            return rest
        for at, each in enumerate(rest):
            if any(claim.text == changed[0].text for claim in each.claims):
                rest[at] = Released(text=each.text, claims=(*each.claims[:-1], changed[0]))
                return rest
        return [*rest, Released(text="", claims=(changed[0],))]


def _is_same(one: Evidence, other: Evidence) -> bool:
    if one.call_id is not None and other.call_id is not None:
        return one.call_id == other.call_id
    return one.receipt_ref is not None and one.receipt_ref == other.receipt_ref
