"""Words that name an action, told as past, as under way, or as something that someone managed to do."""

from __future__ import annotations

from typing import Final

from coilclaw.evidence.grounding.clauses import Clause, Clauses
from coilclaw.evidence.grounding.grammar import LATIN, Form, grammar
from coilclaw.evidence.grounding.languages.shared import AMBIGUOUS, JUST, LIGHT, NOUN_SENSE, words

__all__ = ["verb_at"]


def verb_at(clauses: Clauses, at: int, clause: Clause) -> Form | None:
    """The action that a word names as past, under way, or as one that someone managed to do."""
    token = clauses.tokens[at]
    if token.kind != "word":
        return None
    form = clauses.words.forms.get(token.text)
    if (
        token.text in LIGHT
        and (form is None or form.kind in ("past", "first", "base"))
        and (noun := _light(clauses, at, clause))
    ):
        form = Form(noun, "past" if form is None else form.kind)
    if (
        form is None
        and token.text in ("told", "asked", "let")
        and (_is_to_others(clauses, at) or "B" in clauses.near(at, clause)[0])
    ):
        return Form("send", "past")
    if form is None and token.text in _HANDED and _is_to_a_person(clauses, at, clause):
        return Form("send", "past")
    if token.text == "got" and _is_for_you(clauses, at):
        return Form("book", "past")
    if token.text == "let" and any(each.text == "know" for each in clauses.tokens[at + 1 : at + 6]):
        near, subject = clauses.near(at, clause)
        return (
            Form("send", "past")
            if "H" in near or (subject >= clause.start and clauses.tokens[subject].text == "i")
            else None
        )
    if form is None and token.text not in clauses.words.thinking and token.text not in clauses.words.marks:
        form = _foreign(token.text, clauses.words.code)
        if form is None and _is_unknown_verb(clauses, at, clause):
            return Form("any", "past")
    if form is None or _is_adjective(clauses, at, clause):
        return None
    near = clauses.near(at, clause)[0]
    if form.kind == "base":
        before = [token.text for token in clauses.tokens[max(clause.start, at - 6) : at]]
        if before[-1:] in (["de"], ["d'"]) and not JUST.isdisjoint(before):
            return Form(form.sense, "first")
        if "G" in near or "did" in before[-3:]:
            return Form(form.sense, "past")
        if clauses.words.code == "de" and {"konnte", "konnten"} & {
            token.text for token in clauses.tokens[clause.start : clause.end]
        }:
            return Form(form.sense, "past")
        return None
    if token.text == "did" and not _is_main_did(clauses, at):
        return None
    if form.kind == "progress":
        led = [token.text for token in clauses.tokens[max(clause.start, at - 2) : at]]
        if led in (["liberty", "of"], ["succeeded", "in"]):
            return Form(form.sense, "past")
        return (
            form if (led[-1:] and led[-1] in ("am", "finished", "done", "completed")) or led == ["am", "now"] else None
        )
    if clauses.words.code == "en" and form.kind == "past" and token.text in AMBIGUOUS and not set(near) & set("HBS"):
        subject = clauses.near(at, clause)[1]
        goes_on = clauses.first_seen and clause.joined[:1] in ("J", ",")
        if (subject < clause.start and not goes_on) or "Y" in clauses.marks(max(0, subject)) or token.text == "run":
            return None
    return form


def _is_adjective(clauses: Clauses, at: int, clause: Clause) -> bool:
    """`the cleaned list`, and verbs that mean something else with the word behind them."""
    after = clauses.tokens[at + 1] if at + 1 < clause.end else None
    text = clauses.tokens[at].text
    if text in ("stopped", "ended") and (after is None or clauses.marks(at + 1)[:1] in ("C", "c", "K", "O", "A")):
        return True
    if text == "put" and after is not None and after.text == "together":
        return True
    if text in ("ran", "run", "came", "turned") and after is not None and after.text in ("into", "out", "across"):
        return True
    if clauses.words.code != "en" or at == clause.start or after is None or after.kind != "word":
        return False
    before = clauses.marks(at - 1)
    return "D" in before and not set(before) & set("IYTAP") and not clauses.marks(at + 1)


def _light(clauses: Clauses, at: int, clause: Clause) -> str | None:
    """What a verb that says little by itself was done to: `made a payment`, `no transfer was made`."""
    for where in [*range(at + 1, min(at + 6, clause.end)), *range(at - 1, clause.start - 1, -1)]:
        word = clauses.tokens[where].text
        if (noun := NOUN_SENSE.get(word)) is not None:
            return noun
        form = clauses.words.forms.get(word)
        if (
            form is not None
            and form.kind == "base"
            and where > clause.start
            and set("DN") & set(clauses.marks(where - 1))
        ):
            return form.sense  # A verb with an article is a noun: `No charge was made`.
    return None


def _is_for_you(clauses: Clauses, at: int) -> bool:
    """`got you two tickets`."""
    after = clauses.tokens[at + 1 : at + 3]
    if len(after) < 2 or after[0].text not in ("you", "us"):
        return False
    return after[1].kind == "number" or after[1].text in clauses.words.numbers or "D" in clauses.marks(at + 2)


_HANDED: Final = words("donné dit demandé dado dicho pedido dije di pedí gave")
"""Verbs that say nothing of an action unless somebody else is told or given something."""


def _is_to_a_person(clauses: Clauses, at: int, clause: Clause) -> bool:
    """Whether something was told or given to somebody else: `à Andréa`."""
    for where in range(at + 1, clause.end - 1):
        if clauses.tokens[where].text in ("à", "a", "to") and clauses.tokens[where + 1].is_capital:
            return True
    return False


def _is_to_others(clauses: Clauses, at: int) -> bool:
    after = clauses.tokens[at + 1] if at + 1 < len(clauses.tokens) else None
    return after is not None and (
        after.text in ("them", "him", "her", "anyone", "everyone", "everybody") or after.is_capital
    )


def _is_main_did(clauses: Clauses, at: int) -> bool:
    after = clauses.tokens[at + 1].text if at + 1 < len(clauses.tokens) else ""
    return (
        not after
        or after in (":", ".", "!")
        or after in ("it", "that", "this", "so", "everything", "as", "all", "what")
    )


def _is_unknown_verb(clauses: Clauses, at: int, clause: Clause) -> bool:
    token = clauses.tokens[at]
    if token.is_capital or not clauses.words.unknown.fullmatch(token.text):
        return False
    if clauses.words.code == "de":
        return at >= clause.end - 2 and any(
            set("IB") & set(clauses.marks(each)) for each in range(clause.start, clause.end) if each != at
        )
    near, subject = clauses.near(at, clause)
    if "B" in near and ("H" in near or clauses.tokens[at - 1].text == "se"):
        return True
    if "S" in near or "B" in near:
        return False
    if clauses.words.code == "en":
        return (subject >= clause.start and clauses.tokens[subject].text in ("i", "we")) or (
            subject < clause.start and clauses.first_seen and clause.joined[:1] in ("J", ",")
        )
    return "I" in near


def _foreign(word: str, code: str) -> Form | None:
    """A past form of another language, which is not a word of this one."""
    if len(word) < 4:
        return None
    for other in LATIN:
        if other != code and (form := grammar(other).forms.get(word)) is not None and form.kind in ("past", "first"):
            return None if other == "en" and word in AMBIGUOUS else form
    return None
