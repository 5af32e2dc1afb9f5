"""Who is said to have acted, by the words around a verb."""

from __future__ import annotations

import re
from typing import Final

from coilclaw.evidence.grounding.clauses import Clause, Clauses
from coilclaw.evidence.grounding.grammar import Form, class_of_noun
from coilclaw.evidence.grounding.languages.shared import (
    AMBIGUOUS,
    INSTRUMENTS,
    LAST,
    NO_AGENT,
    OURSELVES,
    RECENT,
    TIMES,
    WEAK,
)

__all__ = ["person_of"]


def person_of(clauses: Clauses, at: int, form: Form, clause: Clause) -> tuple[str, str]:
    """Who is said to have acted, and the marks of how it is told.

    The person is `first` for the assistant, `other` for anybody else, `patient` for a passive, `none` for a verb
    without a subject, `adjective` for a participle that describes a thing. Marks, besides those of the tables: `p`
    passive, `b` by someone else, `r` in a relative clause, `h` without an auxiliary.
    """
    read = _german if clauses.words.code == "de" else _svo
    return read(clauses, at, form, clause)


def _around(clauses: Clauses, at: int, clause: Clause) -> str:
    """Marks that hold for a passive as a whole: an agent, a time that is over, a subordinate clause."""
    marks = ""
    words = clauses.tokens
    for where in range(clause.start, clause.end):
        mark = clauses.marks(where)
        if ("C" in mark or ("c" in mark and clauses.words.code != "es")) and where < at:
            marks += "C" if "C" in mark else "c"
        if "L" in mark:
            marks += "L"
    if any("N" in clauses.marks(where) for where in range(clause.start, at)):
        marks += "N"
    if clauses.is_over is None:
        clauses.is_over = any(_is_over(clauses, each) for each in clauses.clauses)
    if clauses.is_over:
        marks += "E"
    agents = {"en": ("by",), "de": ("von", "vom", "durch"), "es": ("por",), "fr": ("par",)}[clauses.words.code]
    for where in range(at + 1, min(clause.end, at + 8)):
        if words[where].text in agents and where + 1 < len(words) and _is_agent(clauses, where + 1, clause):
            marks += "b"
    if clauses.words.code == "de":
        for where in range(clause.start, at):
            if words[where].text in ("von", "vom") and _is_agent(clauses, where + 1, clause):
                marks += "b"
    return marks


_OVER: Final = re.compile(r"^(?:1\d|20)\d\d$")


def _is_over(clauses: Clauses, clause: Clause) -> bool:
    """Whether a clause names a time that is over, other than a moment ago."""
    texts = [token.text for token in clauses.tokens[clause.start : clause.end]]
    if not RECENT.isdisjoint(texts):
        return False
    for offset, text in enumerate(texts):
        at = clause.start + offset
        if "E" in clauses.marks(at):
            return True
        before = texts[offset - 1] if offset else ""
        if text in LAST and {*texts[max(0, offset - 2) : offset], *texts[offset + 1 : offset + 2]} & TIMES:
            return True
        if (
            clauses.tokens[at].kind == "number"
            and (before in ("in", "en", "im", "since", "anno", "seit") or clauses.words.code == "de")
            and _OVER.match(text.strip())
        ):
            return True
        if (
            text == "vor"
            and offset + 2 < len(texts)
            and texts[offset + 2]
            in ("tagen", "wochen", "monaten", "jahren", "stunden", "tag", "woche", "monat", "jahr", "stunde")
        ):
            return True
        if text == "il" and texts[offset + 1 : offset + 3] == ["y", "a"]:
            return True
    return False


def _is_agent(clauses: Clauses, at: int, clause: Clause) -> bool:
    if at >= clause.end:
        return False
    while at < clause.end - 1 and "D" in clauses.marks(at):
        at += 1
    token = clauses.tokens[at]
    if token.kind in ("number",) or token.text in OURSELVES or token.text in NO_AGENT or token.text.endswith("ing"):
        return False
    if clauses.words.code == "de":
        return (
            "Y" in clauses.marks(at)
            or "T" in clauses.marks(at)
            or (token.is_capital and not class_of_noun(token.text))
            or token.text == "ihnen"
        )
    if clauses.words.code == "es":
        return (
            token.kind == "word"
            and token.text not in ("favor", "completo", "error", "correo", "valor", "importe", "un", "la", "el")
            and "P" not in clauses.marks(at)
        )
    return token.kind in ("word", "place", "quote")


def _svo(clauses: Clauses, at: int, form: Form, clause: Clause) -> tuple[str, str]:
    """Person and marks of a verb in a language that puts its auxiliaries right before it."""
    near, where = clauses.near(at, clause)
    code = clauses.words.code
    if "G" in near and code == "en":
        near = "".join(letter for letter in near if letter not in "MBSH")
    if form.kind == "first" and code == "fr":
        return "first", "N" if "N" in near else ""
    if clauses.tokens[at - 1].text == "of" and at > clause.start:
        return "none", near
    texts = {clauses.tokens[each].text for each in range(where + 1, at)}
    if code == "es":
        if form.kind == "first":
            return "first", near.replace("M", "")
        if form.kind == "third":
            if "se" in texts:
                return "patient", near.replace("M", "") + "pB" + _around(clauses, at, clause)
            return "other", near
    first = "I" in near
    passive = "B" in near or ("S" in near and form.kind == "past") or (code == "es" and "se" in texts and "H" in near)
    if code == "en" and "H" in near and texts & {"had"} and "B" in near:
        return "other", near
    if code in ("es", "fr") and texts & {"había", "habían", "avait", "avaient"}:
        return "other", near
    if code == "fr" and "S" in near and "X" in near and texts & {"me", "m'", "suis"}:
        passive = False
    if where < clause.start:
        if first:
            return "first", near
        if passive:
            return "patient", near + "p" + _around(clauses, at, clause)
        if "H" in near and code != "en":
            return "other", near
        if set(near) <= set("AL~") and any(
            set(clauses.marks(each)) & set("HSBM") and "O" not in clauses.marks(each)
            for each in range(at + 1, clause.end)
        ):
            return "adjective", near  # `Deleted branches can be restored.`
        return "none", near + _around(clauses, at, clause)
    subject = clauses.marks(where)
    token = clauses.tokens[where]
    if passive:
        person = "first" if subject and token.text in ("i", "we") else "patient"
        relative = (
            "r"
            if "W" in subject
            and ((where > 0 and clauses.tokens[where - 1].kind == "word") or token.text not in ("that", "das"))
            else ""
        )
        return person, near + "p" + relative + _around(clauses, at, clause)
    if first or "I" in subject:
        return ("first", near) if token.text not in ("me", "us", "nous") or first else ("none", near)
    if "Y" in subject or "T" in subject or "W" in subject:
        return "other", near
    if "H" in near:
        return "other", near
    if token.text in INSTRUMENTS and not near:
        return "patient", near + "pB" + _around(clauses, at, clause)
    return _headline(clauses, at, where, clause, near)


def _headline(clauses: Clauses, at: int, where: int, clause: Clause, near: str) -> tuple[str, str]:
    """A participle right behind its noun: `Mail sent to Ana`, or `3 mails sent by Ana are unread`, or `Ana sent it`."""
    head = range(clause.start, where + 1)
    causative = any(
        clauses.tokens[each].text in ("have", "had", "got", "habe", "hemos", "he", "ai") for each in head
    ) and any("I" in clauses.marks(each) for each in head)
    if causative:
        return "first", near
    verbal = any(
        set(clauses.marks(each)) & set("IYTHSBM")
        and "D" not in clauses.marks(each)
        and clauses.tokens[each].text not in WEAK
        for each in head
    )
    after = at + 1
    tail = any(
        set(clauses.marks(each)) & set("HSBM") and "O" not in clauses.marks(each) for each in range(after, clause.end)
    )
    tail |= after < clause.end and clauses.tokens[after].text in ("se", "s'")  # `Los archivos eliminados se guardan …`
    if verbal or tail or set(clauses.marks(where)) == {"O"} or clauses.marks(where) in ("O~", "MO~"):
        return "adjective", near
    if clauses.tokens[where].text in ("here", "there", "below", "above", "aquí", "voici", "ici"):
        return "other", near
    if any("W" in clauses.marks(each) and "D" not in clauses.marks(each) for each in head) or clauses.tokens[
        where
    ].text in ("as", "als", "como", "comme"):
        return "adjective", near
    first = clauses.tokens[clause.start]
    if (
        not clauses.is_listed
        and first.kind == "word"
        and not (clauses.marks(clause.start) or class_of_noun(first.text) or first.is_capital)
    ):
        return "adjective", near  # `Correct the fields marked in red`.
    follower = clauses.tokens[after] if after < clause.end else None
    if follower is not None and (
        "D" in clauses.marks(after)
        or "P" in clauses.marks(after)
        or (
            follower.kind == "word"
            and not clauses.marks(after)
            and not class_of_noun(follower.text)
            and follower.text.isalpha()
            and not follower.is_capital
            and clauses.words.code == "en"
        )
    ):
        return "other", near
    known = any(
        class_of_noun(clauses.tokens[each].text) - {"contact", "text"}
        or clauses.tokens[each].kind in ("place", "quote")
        for each in head
    )
    if clauses.last is not None and clauses.last[0] == "patient" and clause.joined[:1] in ("J", ","):
        return "patient", near + "pB" + _around(clauses, at, clause)  # `The mail was sent and the file deleted.`
    if not known and not clauses.is_listed:
        return "adjective", near
    if clauses.tokens[at].text in AMBIGUOUS and not class_of_noun(clauses.tokens[where].text) and not clauses.is_listed:
        return "other", near  # `The training set`.
    return "patient", near + "pBh" + _around(clauses, at, clause)


def _german(clauses: Clauses, at: int, form: Form, clause: Clause) -> tuple[str, str]:
    """Person and marks of a participle, whose auxiliary stands anywhere in its clause."""
    marks = "".join(clauses.marks(each) for each in range(clause.start, clause.end) if each != at)
    texts = {clauses.tokens[each].text for each in range(clause.start, clause.end)}
    own = "".join(letter for letter in marks if letter in "MNCAGLR")
    if clauses.tokens[at].is_capital and at != clause.start:
        return "other", own
    if form.kind == "first":
        return ("first", own) if texts & {"ich", "wir"} else ("other", own)
    if "B" in marks:
        marks = own + "pB" + _around(clauses, at, clause)
        if texts & {"war", "waren"}:
            return "other", marks
        return ("other" if "R" in marks and "worden" not in texts else "patient"), marks
    if "R" in marks:
        return "other", own
    if texts & {"hat", "hatte", "hatten", "hast", "habt", "war", "waren"} and not texts & {"ich", "wir"}:
        return "other", own
    if "haben" in texts and "wir" not in texts:
        return "other", own
    if texts & {"ich", "wir", "habe", "hab"}:
        return "first", own
    if texts & {"ist", "sind"}:
        return "patient", own + "pS" + _around(clauses, at, clause)
    if texts & {"du", "er", "man"}:
        return "other", own
    after = clauses.tokens[at + 1] if at + 1 < clause.end else None
    if after is not None and after.kind == "word" and "O" not in clauses.marks(at + 1):
        return "other", own
    if at == clause.start:
        return "none", own
    if clause.joined[:1] in ("J", ",") and clauses.before is not None:
        before = "".join(clauses.marks(each) for each in range(clauses.before.start, clauses.before.end))
        if "R" in before and "B" not in before:
            return "other", own  # `… werden aufbewahrt und danach entfernt.`
        if clauses.first_seen or clauses.last is not None:
            return "none", own
    return "patient", own + "pBh" + _around(clauses, at, clause)
