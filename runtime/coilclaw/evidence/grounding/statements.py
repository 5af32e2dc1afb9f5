"""What a sentence says was done: by whom, when, and in which mood.

Each verb that names an action is looked at in its clause. Only a few words around it matter: those that say who acted,
whether it is over, and whether it is told as a fact. A statement is left when the assistant, or nobody in particular,
is said to have done something, or not to have done it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from coilclaw.evidence.grounding.grammar import LATIN, Form, Grammar, class_of_noun, grammar
from coilclaw.evidence.grounding.tokens import Token

__all__ = ["Mood", "Statement", "language_of", "statements_in"]

Mood: TypeAlias = Literal["done", "undone", "state", "read", "progress", "failed"]
_BREAKS: Final = frozenset(",;:—–()|→•=[]/。，；：、")  # noqa: RUF001
_ASKING: Final = frozenset(
    "did do does have has is are was were shall should can could would will want what which who when where why how anything ok "
    "okay right may haben hast habe ist sind wurde wurden soll sollen kann können darf möchten wollen was wer wie wo wann warum hat "
    "quieres puedo has ha qué quién cómo debo necesitas desea voulez avez souhaitez dois puis est-ce avez-vous faut qui que".split()
)


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


class _Clause(NamedTuple):
    start: int
    end: int
    joined: str
    """What stands before it: a mark, a coordinator (`J`), a subordinator (`K`), or nothing."""


def language_of(tokens: list[Token]) -> str:
    """The one of our languages that is written in Latin letters whose common words occur most."""
    best, most = "en", 0
    for code in LATIN:
        marks = grammar(code).marks
        count = sum("~" in marks.get(token.text, "") for token in tokens if token.kind == "word")
        if count > most:
            best, most = code, count
    if most == 0:
        for code in LATIN:
            if any(token.text in grammar(code).forms or token.text in grammar(code).nouns for token in tokens):
                return code
    return best


class _Reader:
    """Reads one sentence in one language; words of other languages are looked up in theirs."""

    def __init__(self, tokens: list[Token], words: Grammar, *, is_question: bool, is_listed: bool) -> None:
        self.tokens = tokens
        self.words = words
        self.is_listed = is_listed
        self.clauses = list(self._clauses())
        self.asked_from = self._asked_from() if is_question else len(tokens)
        self.first_seen = False
        self.last: tuple[str, str] | None = None  # Person and marks of the verb before.

    def marks(self, at: int) -> str:
        return self.words.marks.get(self.tokens[at].text, "") if self.tokens[at].kind == "word" else ""

    def _clauses(self) -> Iterator[_Clause]:
        start, joined = 0, ""
        for at, token in enumerate(self.tokens):
            marks = self.marks(at)
            if (token.kind == "mark" and token.text in _BREAKS) or ("J" in marks and at > start):
                if at > start:
                    yield _Clause(start, at, joined)
                start, joined = at + 1, f"J{token.text}" if "J" in marks else token.text
            elif at > start and (("K" in marks and "D" not in marks and "P" not in marks) or ("C" in marks or "c" in marks) and self.words.code != "es" ):
                yield _Clause(start, at, joined)
                start, joined = at, "K"
        if start < len(self.tokens):
            yield _Clause(start, len(self.tokens), joined)

    def _asked_from(self) -> int:
        for at, token in enumerate(self.tokens):
            if token.text == "¿":
                return at
        for clause in self.clauses:
            at = clause.start
            while at < clause.end - 1 and "A" in self.marks(at) and self.tokens[at].text not in _ASKING:
                at += 1
            if self.tokens[at].text in _ASKING:
                return at
        return 0

    def statements(self) -> Iterator[Statement]:
        for number, clause in enumerate(self.clauses):
            carried = ""
            if number and clause.joined.startswith("J"):
                previous = self.clauses[number - 1]
                carried = "".join(self.marks(at) for at in range(previous.start, previous.end) if "C" in self.marks(at))
                carried = "C" if "C" in carried else ""
                if clause.joined[1:] in _NOR or (clause.joined[1:] in _OR and self.last and "N" in self.last[1]):
                    carried += "N"
            seen = False
            for at in range(clause.start, clause.end):
                if at >= self.asked_from:
                    break
                found = self._verb(at, clause)
                if found is None:
                    continue
                statement = self._statement(at, found, clause, carried)
                seen = True
                if statement is not None:
                    yield statement._replace(end=self._reach(number))
            if not seen:
                self._note_subject(clause)

    def _note_subject(self, clause: _Clause) -> None:
        """Remember who a clause without a known verb is about, for verbs that follow without a subject."""
        for at in range(clause.start, clause.end):
            marks = self.marks(at)
            if "I" in marks and self.tokens[at].text not in ("me", "us", "mir", "uns", "nous"):
                self.first_seen = True
            elif ("Y" in marks or "T" in marks) and at == clause.start and clause.joined != "K":
                self.last = ("other", "")

    def _reach(self, number: int) -> int:
        """Behind the last clause that belongs to the verb of this one: those that follow without a verb of their own."""
        end = self.clauses[number].end
        for clause in self.clauses[number + 1 :]:
            if clause.joined in ("K", ";") or any(self._is_verbal(at, clause) for at in range(clause.start, clause.end)):
                break
            end = clause.end
        return end

    def _is_verbal(self, at: int, clause: _Clause) -> bool:
        """Whether a word shows that its clause has a subject or a verb of its own."""
        token = self.tokens[at]
        if token.kind != "word":
            return False
        if token.text in self.words.thinking or self._verb(at, clause) is not None:
            return True
        return bool(set(self.marks(at)) & set("IYTHBSMCW")) and (token.text not in _WEAK or (token.text == "a" and self.words.code == "fr"))

    def _verb(self, at: int, clause: _Clause) -> Form | None:
        """The action that a word names as past, under way, or as one that someone managed to do."""
        token = self.tokens[at]
        if token.kind != "word":
            return None
        form = self.words.forms.get(token.text)
        if form is not None and form.kind in ("past", "first") and (noun := self._light(at, clause)):
            form = Form(noun, form.kind)
        if form is None and token.text in ("told", "asked", "let") and self._is_to_others(at):
            return Form("send", "past")
        if form is None and token.text not in self.words.thinking and token.text not in self.words.marks:
            form = _foreign(token.text, self.words.code)
            if form is None and self._is_unknown_verb(at, clause):
                return Form("any", "past")
        if form is None:
            return None
        near = self._near(at, clause)[0]
        if form.kind == "base":
            before = [token.text for token in self.tokens[max(clause.start, at - 6) : at]]
            if "G" in near or "did" in before[-3:] or (before[-1:] in (["de"], ["d'"]) and not _JUST.isdisjoint(before)):
                return Form(form.sense, "past")
            if self.words.code == "de" and {"konnte", "konnten"} & {token.text for token in self.tokens[clause.start : clause.end]}:
                return Form(form.sense, "past")
            return None
        if token.text == "did" and not self._is_main_did(at):
            return None
        if form.kind == "progress":
            before = self.tokens[at - 1].text if at > clause.start else ""
            if before in ("am", "finished", "done", "completed") or (before == "now" and at - 1 > clause.start and self.tokens[at - 2].text == "am"):
                return form
            return None
        if self.words.code == "en" and form.kind == "past" and token.text in _AMBIGUOUS and not set(near) & set("HBS"):
            subject = self._near(at, clause)[1]
            if subject < clause.start or "Y" in self.marks(subject) or token.text == "run":
                return None
        return form

    def _light(self, at: int, clause: _Clause) -> str | None:
        """What a verb that says little by itself was done to: `made a payment`, `no transfer was made`."""
        if self.tokens[at].text not in _LIGHT:
            return None
        for where in [*range(at + 1, min(at + 6, clause.end)), *range(at - 1, clause.start - 1, -1)]:
            if (noun := NOUN_SENSE.get(self.tokens[where].text)) is not None:
                return noun
        return None

    def _is_to_others(self, at: int) -> bool:
        after = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        return after is not None and (after.text in ("them", "him", "her", "anyone", "everyone", "everybody") or after.is_capital)

    def _is_inverted(self, clause: _Clause) -> bool:
        """`Had it been sent, …`, `Hätte er …`: a condition without a word for it."""
        return clause.start == 0 and self.tokens[0].text in ("had", "were", "should", "hätte", "hätten", "wäre", "wären", "sollte", "wurde", "wurden", "wird", "ist") and (
            self.tokens[0].text not in ("wurde", "wurden", "wird", "ist", "had", "were") or any(token.text == "," for token in self.tokens)
        )

    def _is_denied(self, clause: _Clause) -> bool:
        """`It is not true that …`."""
        before = [token.text for token in self.tokens[max(0, clause.start - 5) : clause.start + 1]]
        return "that" in before and "not" in before and not {"true", "case", "correct"}.isdisjoint(before)

    def _is_main_did(self, at: int) -> bool:
        after = self.tokens[at + 1].text if at + 1 < len(self.tokens) else ""
        return not after or after in (":", ".", "!") or after in ("it", "that", "this", "so", "everything", "as", "all", "what")

    def _is_unknown_verb(self, at: int, clause: _Clause) -> bool:
        token = self.tokens[at]
        if token.is_capital or not self.words.unknown.fullmatch(token.text):
            return False
        if self.words.code == "de":
            return at >= clause.end - 2 and any("I" in self.marks(each) for each in range(clause.start, at))
        near, subject = self._near(at, clause)
        if "S" in near or "B" in near:
            return False
        if self.words.code == "en":
            return subject >= clause.start and self.tokens[subject].text in ("i", "we") or (
                subject < clause.start and self.first_seen and clause.joined[:1] in ("J", ",")
            )
        return "I" in near

    def _near(self, at: int, clause: _Clause) -> tuple[str, int]:
        """The marks of auxiliaries, adverbs and negations right before a verb, and where the subject stands."""
        near = ""
        where = at - 1
        while where >= clause.start:
            marks = self.marks(where)
            if not set(marks) & set("HBSRMNAGXI") or (set(marks) & set("IYTP") and not set(marks) & set("AHX") and self.words.code != "es" and self.tokens[where].text != "ai"):
                break
            if self.words.code == "fr" and self.tokens[where].text in ("je", "j'", "on"):
                break
            near += marks
            where -= 1
        return near, where

    def _statement(self, at: int, form: Form, clause: _Clause, carried: str) -> Statement | None:
        read = _german if self.words.code == "de" else _svo
        person, marks = read(self, at, form, clause)
        if any("C" in self.marks(each) for each in range(clause.start, at)) or self._is_inverted(clause):
            marks += "C"
        if (clause.start and self._is_denied(clause)) or self.tokens[clause.start].text in _NOR:
            marks += "N"
        if "F" in self.marks(at) and "p" in marks or form.sense == "refuse" and person != "first":
            return None
        if person == "none":
            if self.first_seen:
                person = "first"
            elif self.last is not None:
                person, marks = self.last[0], marks + (self.last[1] if "p" in self.last[1] else "")
        elif person == "first":
            self.first_seen = True
        marks += carried
        self.last = (person, marks)
        mood = _mood(person, marks, form)
        if mood is None:
            return None
        if form.sense == "read" and mood in ("done", "state"):
            mood = "read"
        return Statement(mood, form.sense, at, clause.start, clause.end, person == "first", is_generic=form.sense == "do")


_WEAK: Final = frozenset("to a de d' zu für for para por pour me us nous mir uns die der das den dem que".split())
_LIGHT: Final = frozenset(
    "made done performed carried placed conducted completed processed did gemacht vorgenommen durchgeführt getätigt hecho hecha hechos hechas hice realizado realizada realizados "
    "realizadas realicé efectuado efectuada efectué fait faite faits faites effectué effectuée effectués effectuées réalisé réalisée".split()
)
NOUN_SENSE: Final = {
    noun: sense
    for sense, nouns in {
        "update": "change changes edit edits modification modifications adjustment adjustments änderung änderungen anpassung cambio cambios modificación modifications changement changements",
        "pay": "payment payments transfer transfers purchase order orders refund refunds wire zahlung überweisung bestellung kauf pago pagos transferencia compra pedido paiement paiements virement virements achat commande",
        "book": "booking bookings reservation reservations appointment buchung reservierung reserva cita réservation",
        "call": "call calls anruf llamada appel",
        "delete": "deletion deletions löschung eliminación suppression",
        "cancel": "cancellation stornierung kündigung cancelación annulation",
        "save": "backup backups copy copies sicherung copia respaldo sauvegarde copie",
        "deploy": "deployment deploy rollout despliegue déploiement",
    }.items()
    for noun in nouns.split()
}
_NOR: Final = frozenset("nor ni noch neither weder".split())
_OR: Final = frozenset("or oder o ou und y et".split())
_JUST: Final = frozenset("acabo acabamos viens venons".split())
_AMBIGUOUS: Final = frozenset("set put read shut reset run overwrite split hit cut".split())


def _foreign(word: str, code: str) -> Form | None:
    """A past form of another language, which is not a word of this one."""
    if len(word) < 4:
        return None
    for other in LATIN:
        if other != code and (form := grammar(other).forms.get(word)) is not None and form.kind in ("past", "first"):
            return None if other == "en" and word in _AMBIGUOUS else form
    return None


def _mood(person: str, marks: str, form: Form) -> Mood | None:
    """Marks: `p` passive, `b` by someone else, `r` in a relative clause, `n` negated, besides those of the tables."""
    if "C" in marks or "R" in marks or person == "other":
        return None
    if "M" in marks and "G" not in marks:
        return None
    if form.kind == "progress":
        return "progress" if person == "first" and "N" not in marks else None
    if "p" in marks:
        if "b" in marks or "E" in marks or "r" in marks or "c" in marks or person == "first":
            return None
        if "N" in marks:
            return "undone"
        return "state" if "S" in marks and "B" not in marks else "done"
    if "N" in marks:
        return "undone"
    if person == "none" and ("E" in marks or "b" in marks):
        return None
    return "done"


def _around(reader: _Reader, at: int, clause: _Clause) -> str:
    """Marks that hold for a passive as a whole: an agent, a time that is over, a subordinate clause."""
    marks = ""
    words = reader.tokens
    for where in range(clause.start, clause.end):
        mark = reader.marks(where)
        if ("C" in mark or ("c" in mark and reader.words.code != "es")) and where < at:
            marks += "C" if "C" in mark else "c"
        if "L" in mark:
            marks += "L"
    if any("N" in reader.marks(where) for where in range(clause.start, at)):
        marks += "N"
    if _is_over(reader, clause):
        marks += "E"
    agents = {"en": ("by",), "de": ("von", "vom", "durch"), "es": ("por",), "fr": ("par",)}[reader.words.code]
    for where in range(at + 1, min(clause.end, at + 8)):
        if words[where].text in agents and where + 1 < len(words) and _is_agent(reader, where + 1, clause):
            marks += "b"
    if reader.words.code == "de":
        for where in range(clause.start, at):
            if words[where].text in ("von", "vom") and _is_agent(reader, where + 1, clause):
                marks += "b"
    return marks


_RECENT: Final = frozenset("moment moments second seconds minute minutes momento instante minuto minutos segundos instant minutes sekunden minuten minute augenblick".split())
_OVER: Final = re.compile(r"^(?:1[5-9]|20)\d\d$")


def _is_over(reader: _Reader, clause: _Clause) -> bool:
    """Whether a clause names a time that is over, other than a moment ago."""
    texts = [token.text for token in reader.tokens[clause.start : clause.end]]
    if not _RECENT.isdisjoint(texts):
        return False
    for offset, text in enumerate(texts):
        at = clause.start + offset
        if "E" in reader.marks(at):
            return True
        before = texts[offset - 1] if offset else ""
        if reader.tokens[at].kind == "number" and before in ("in", "en", "im", "since", "anno", "seit") and _OVER.match(text.strip()):
            return True
        if text == "vor" and offset + 2 < len(texts) and texts[offset + 2] in ("tagen", "wochen", "monaten", "jahren", "stunden", "tag", "woche", "monat", "jahr", "stunde"):
            return True
        if text == "il" and texts[offset + 1 : offset + 3] == ["y", "a"]:
            return True
    return False


_OURSELVES: Final = frozenset("me us mir uns mí nosotros moi nous assistant agent bot tool assistent assistant system ".split())
_NO_AGENT: Final = frozenset("email e-mail mail phone mistake default accident hand text sms post itself chat telefon sms correo teléfono email erreur courriel téléphone error "
    "monday tuesday wednesday thursday friday saturday sunday tomorrow today noon then now adding removing using setting von vom dem".split())


def _is_agent(reader: _Reader, at: int, clause: _Clause) -> bool:
    if at >= clause.end:
        return False
    while at < clause.end - 1 and "D" in reader.marks(at):
        at += 1
    token = reader.tokens[at]
    if token.kind in ("number",) or token.text in _OURSELVES or token.text in _NO_AGENT or token.text.endswith("ing"):
        return False
    if reader.words.code == "de":
        return "Y" in reader.marks(at) or "T" in reader.marks(at) or (token.is_capital and not class_of_noun(token.text)) or token.text == "ihnen"
    if reader.words.code == "es":
        return token.kind == "word" and token.text not in ("favor", "completo", "error", "correo", "valor", "importe", "un", "la", "el") and "P" not in reader.marks(at)
    return token.kind in ("word", "place", "quote")


def _svo(reader: _Reader, at: int, form: Form, clause: _Clause) -> tuple[str, str]:
    """Person and marks of a verb in a language that puts its auxiliaries right before it."""
    near, where = reader._near(at, clause)
    code = reader.words.code
    texts = {reader.tokens[each].text for each in range(where + 1, at)}
    if code == "es":
        if form.kind == "first":
            return "first", near.replace("M", "") if "G" not in near else near
        if form.kind == "third":
            if "se" in texts:
                return "patient", near.replace("M", "") + "pB" + _around(reader, at, clause)
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
            return "patient", near + "p" + _around(reader, at, clause)
        if "H" in near and code != "en":
            return "other", near
        if not near and at == clause.start and any(set(reader.marks(each)) & set("HSBM") and "O" not in reader.marks(each) for each in range(at + 1, clause.end)):
            return "other", near  # `Deleted branches can be restored.`
        return "none", near + _around(reader, at, clause)
    subject = reader.marks(where)
    token = reader.tokens[where]
    if passive:
        person = "first" if subject and token.text in ("i", "we") else "patient"
        relative = "r" if "W" in subject and (where > 0 and reader.tokens[where - 1].kind == "word" or token.text not in ("that", "das")) else ""
        return person, near + "p" + relative + _around(reader, at, clause)
    if first or "I" in subject:
        return ("first", near) if token.text not in ("me", "us", "nous") or first else ("none", near)
    if "Y" in subject or "T" in subject or "W" in subject:
        return "other", near
    if "H" in near:
        return "other", near
    return _headline(reader, at, where, clause, near)


def _headline(reader: _Reader, at: int, where: int, clause: _Clause, near: str) -> tuple[str, str]:
    """A participle right behind its noun: `Mail sent to Ana`, or `3 mails sent by Ana are unread`, or `Ana sent it`."""
    head = range(clause.start, where + 1)
    causative = any(reader.tokens[each].text in ("have", "had", "got", "habe", "hemos", "he", "ai") for each in head) and any("I" in reader.marks(each) for each in head)
    if causative:
        return "first", near
    verbal = any(set(reader.marks(each)) & set("IYTHSBM") and "D" not in reader.marks(each) for each in head)
    after = at + 1
    tail = any(set(reader.marks(each)) & set("HSBM") and "O" not in reader.marks(each) for each in range(after, clause.end))
    if verbal or tail:
        return "other", near
    if reader.tokens[where].text in ("here", "there", "below", "above", "aquí", "voici", "ici"):
        return "other", near
    if any("W" in reader.marks(each) or "O" == reader.marks(each) and reader.tokens[each].text in ("of",) and False for each in head):
        return "other", near
    follower = reader.tokens[after] if after < clause.end else None
    if follower is not None and ("D" in reader.marks(after) or "P" in reader.marks(after) or (follower.kind == "word" and not reader.marks(after) and not class_of_noun(follower.text) and follower.text.isalpha() and not follower.is_capital and reader.words.code == "en")):
        return "other", near
    known = any(class_of_noun(reader.tokens[each].text) - {"contact"} or reader.tokens[each].kind in ("place", "quote") for each in head)
    if not known and not reader.is_listed:
        return "other", near
    if reader.tokens[at].text in _AMBIGUOUS and not class_of_noun(reader.tokens[where].text) and not reader.is_listed:
        return "other", near  # `The training set`.
    return "patient", near + "pB" + _around(reader, at, clause)


def _german(reader: _Reader, at: int, form: Form, clause: _Clause) -> tuple[str, str]:
    """Person and marks of a participle, whose auxiliary stands anywhere in its clause."""
    marks = "".join(reader.marks(each) for each in range(clause.start, clause.end) if each != at)
    texts = {reader.tokens[each].text for each in range(clause.start, clause.end)}
    own = "".join(letter for letter in marks if letter in "MNCAGLR")
    if reader.tokens[at].is_capital and at != clause.start:
        return "other", own
    if form.kind == "first":
        return ("first", own) if texts & {"ich", "wir"} else ("other", own)
    if "B" in marks:
        marks = own + "pB" + _around(reader, at, clause)
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
        return "patient", own + "pS" + _around(reader, at, clause)
    if texts & {"du", "er", "man"}:
        return "other", own
    after = reader.tokens[at + 1] if at + 1 < clause.end else None
    if after is not None and after.kind == "word" and "O" not in reader.marks(at + 1):
        return "other", own
    if at == clause.start:
        return "none", own
    if clause.joined[:1] in ("J", ",") and (reader.first_seen or reader.last is not None):
        return "none", own
    return "patient", own + "pB" + _around(reader, at, clause)


def statements_in(tokens: list[Token], code: str, *, is_question: bool, is_listed: bool) -> list[Statement]:
    """The statements of one sentence about actions, in the order of their verbs."""
    return list(_Reader(tokens, grammar(code), is_question=is_question, is_listed=is_listed).statements())
