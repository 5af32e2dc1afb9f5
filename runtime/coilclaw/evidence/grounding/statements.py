"""What a sentence says was done: by whom, when, and in which mood.

Each verb that names an action is looked at in its clause. Only a few words around it matter: those that say who acted,
whether it is over, and whether it is told as a fact. A statement is left when the assistant, or nobody in particular,
is said to have done something, or not to have done it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from coilclaw.evidence.grounding.clauses import Clause, Clauses
from coilclaw.evidence.grounding.grammar import LATIN, Form, grammar
from coilclaw.evidence.grounding.languages.shared import BUT, NOR, NOW, WEAK, WITHOUT
from coilclaw.evidence.grounding.persons import person_of
from coilclaw.evidence.grounding.tokens import Token
from coilclaw.evidence.grounding.verbs import verb_at

__all__ = ["Mood", "Statement", "language_of", "languages_of", "statements_in"]

Mood: TypeAlias = Literal["done", "undone", "state", "read", "progress", "failed"]


class Statement(NamedTuple):
    """One action that a sentence tells of, in the words of its tokens from `start` to `end`."""

    mood: Mood
    sense: str
    verb: int
    """The token that names the action."""
    start: int
    end: int
    is_first: bool
    """Whether the assistant says `I`."""
    is_generic: bool = False
    """Whether it only says that things are done, not which."""
    is_refusal: bool = False
    """Whether the verb may also tell that something was refused: `the card was blocked`."""
    is_headline: bool = False
    """Whether it has no verb but the participle: `Mail sent`."""
    is_perfect: bool = False
    """Whether it is told as something that has just been done: `has been sent`."""
    clause: range = range(0)


def languages_of(tokens: list[Token]) -> list[str]:
    """Our languages in Latin letters whose common words occur in a sentence, the most frequent one first."""
    found: dict[str, int] = {}
    for code in LATIN:
        marks = grammar(code).marks
        found[code] = sum(1 + ("~" in marks[token.text]) for token in tokens if token.text in marks)
    main = language_of(tokens)
    return [main, *(code for code, count in found.items() if code != main and count * 10 > found[main] * 6 > 0)]


def language_of(tokens: list[Token]) -> str:
    """The one of our languages that is written in Latin letters whose common words occur most."""
    best, most = "en", 0
    for code in LATIN:
        read = grammar(code)
        common = sum(
            1 + 2 * ("~" in read.marks[token.text])
            for token in tokens
            if token.kind == "word" and token.text in read.marks
        )
        known = sum(token.text in read.forms or token.text in read.nouns for token in tokens)
        if 2 * common + 3 * known > most:
            best, most = code, 2 * common + 3 * known
    return best


class _Reader(Clauses):
    """Reads one sentence in one language; words of other languages are looked up in theirs."""

    def statements(self) -> Iterator[Statement]:
        for number, clause in enumerate(self.clauses):
            carried = ""
            self.before = self.clauses[number - 1] if number else None
            if number and clause.joined.startswith("J"):
                previous = self.clauses[number - 1]
                carried = "".join(self.marks(at) for at in range(previous.start, previous.end) if "C" in self.marks(at))
                carried = "C" if "C" in carried else ""
                negated = any("N" in self.marks(at) for at in range(previous.start, previous.end))
                if clause.joined[1:] in NOR or (clause.joined[1:] in ("or", "oder", "o", "ou") and negated):
                    carried += "N"
            seen = False
            reach: int | None = None
            for at in range(clause.start, clause.end):
                if at >= self.asked_from:
                    break
                found = verb_at(self, at, clause)
                if found is None:
                    continue
                statement = self._statement(at, found, clause, carried)
                seen = True
                if statement is not None:
                    reach = self._reach(number) if reach is None else reach  # The same for all verbs of a clause.
                    yield statement._replace(end=reach)
            if not seen:
                self._note_subject(clause)

    def _note_subject(self, clause: Clause) -> None:
        """Remember who a clause without a known verb is about, for verbs that follow without a subject."""
        if any(self.tokens[at].text in self.words.thinking for at in range(clause.start + 1, clause.end)) and not any(
            "I" in self.marks(at) for at in range(clause.start, clause.end)
        ):
            self.last = ("other", "")
        for at in range(clause.start, clause.end):
            marks = self.marks(at)
            if "I" in marks and self.tokens[at].text not in ("me", "us", "mir", "uns", "nous"):
                self.first_seen = True
            elif ("Y" in marks or "T" in marks) and at == clause.start and clause.joined != "K":
                self.last = ("other", "")

    def _reach(self, number: int) -> int:
        """Behind the last clause that belongs to the verb of this one: those that follow and have no verb."""
        end = self.clauses[number].end
        for clause in self.clauses[number + 1 :]:
            if (
                clause.joined in ("K", ";", *BUT)
                or self.tokens[clause.start].text in NOW
                or any(self._is_verbal(at, clause) for at in range(clause.start, clause.end))
            ):
                break
            end = clause.end
        return end

    def _is_verbal(self, at: int, clause: Clause) -> bool:
        """Whether a word shows that its clause has a subject or a verb of its own."""
        token = self.tokens[at]
        if token.kind != "word":
            return False
        if token.text in self.words.thinking or verb_at(self, at, clause) is not None:
            return True
        if token.text in WITHOUT:
            return False
        return bool(set(self.marks(at)) & set("IYTHBSMCWNF")) and (
            token.text not in WEAK or (token.text == "a" and self.words.code == "fr")
        )

    def _is_inverted(self, clause: Clause) -> bool:
        """`Had it been sent, …`, `Hätte er …`: a condition without a word for it."""
        return (
            clause.start == 0
            and self.tokens[0].text
            in ("had", "were", "should", "hätte", "hätten", "wäre", "wären", "sollte", "wurde", "wurden", "wird", "ist")
            and (
                self.tokens[0].text not in ("wurde", "wurden", "wird", "ist", "had", "were")
                or any(token.text == "," for token in self.tokens)
            )
        )

    def _is_denied(self, clause: Clause, at: int) -> bool:
        """`It is not true that …`."""
        before = [token.text for token in self.tokens[max(0, clause.start - 5) : at]]
        return "that" in before and "not" in before and not {"true", "case", "correct"}.isdisjoint(before)

    def _is_answered_no(self, clause: Clause) -> bool:
        """`Approved: no`."""
        after = [token.text for token in self.tokens[clause.end : clause.end + 2]]
        return (
            len(after) == 2
            and after[0] in (":", "|")
            and after[1] in ("no", "nein", "non", "❌", "not", "nicht", "failed")
        )

    def _statement(self, at: int, form: Form, clause: Clause, carried: str) -> Statement | None:
        person, marks = person_of(self, at, form, clause)
        if any("C" in self.marks(each) for each in range(clause.start, at)) or self._is_inverted(clause):
            marks += "C"
        if self._is_denied(clause, at) or self._is_answered_no(clause) or self.tokens[clause.start].text in NOR:
            marks += "N"
        if form.sense == "refuse" and person != "first":
            return None
        if person == "none":
            if self.first_seen and not (self.last is not None and self.last[0] == "patient"):
                person = "first"
            elif self.last is None and clause.joined.startswith("J") and clause.start > 2:
                person = "other"  # `Kofi rolled it back and informed them`: a subject with a verb that is not known.
            elif self.last is not None:
                person, marks = self.last[0], marks + (self.last[1] if "p" in self.last[1] else "")
        elif person == "first":
            self.first_seen = True
        marks += carried
        self.last = (person, marks)
        self.acted |= person == "other"
        mood = _mood(person, marks, form)
        if mood is None:
            return None
        if form.sense == "read" and mood in ("done", "state"):
            mood = "read"
        return Statement(
            mood, form.sense, at, clause.start, clause.end,
            is_first=person == "first" or (person == "none" and "p" not in marks and not self.is_listed),
            is_generic=form.sense == "do", is_refusal="F" in self.marks(at) and "p" in marks, is_headline="h" in marks,
            is_perfect="H" in marks,
            clause=range(clause.start, clause.end),
        )  # fmt: skip


def _mood(person: str, marks: str, form: Form) -> Mood | None:
    """Marks: `p` passive, `b` by someone else, `r` in a relative clause, `n` negated, besides those of the tables."""
    if "C" in marks or "R" in marks or person in ("other", "adjective"):
        return None
    if "M" in marks and "G" not in marks:
        return None
    if form.kind == "progress":
        return "progress" if person == "first" and "N" not in marks else None
    if "p" in marks:
        if "L" in marks or "b" in marks or "E" in marks or "r" in marks or "c" in marks or person == "first":
            return None
        if "N" in marks:
            return "undone"
        return "state" if "S" in marks and "B" not in marks else "done"
    if "N" in marks:
        return "undone"
    if person == "none" and ("E" in marks or "b" in marks):
        return None
    return "done"


def statements_in(
    tokens: list[Token], code: str, *, is_question: bool, is_listed: bool
) -> tuple[list[Statement], bool]:
    """The statements of one sentence about actions, in the order of their verbs; and whether others act in it."""
    reader = _Reader(tokens, grammar(code), is_question=is_question, is_listed=is_listed)
    return list(reader.statements()), reader.acted
