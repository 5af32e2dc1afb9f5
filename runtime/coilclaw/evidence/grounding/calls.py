"""Calls of the evidence, indexed by what they did and by everything that their receipts mention."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

from coilclaw.evidence.grounding.facts import choices_in, pairs_of, stems_of
from coilclaw.evidence.grounding.figures import (
    DAY,
    dates_in,
    days_in_chinese,
    months_in,
    numbers_in,
    times_in,
    years_in,
)
from coilclaw.evidence.grounding.grammar import LATIN, Form, class_of_noun, grammar, sense_of
from coilclaw.evidence.grounding.languages.shared import NOUN_SENSE, words
from coilclaw.evidence.grounding.normal_text import folded, has_chinese, normal
from coilclaw.evidence.grounding.statements import language_of
from coilclaw.evidence.grounding.tokens import tokens_of
from coilclaw.evidence.grounding.values import Evidence

__all__ = ["Call", "calls_of"]

_PART: Final = re.compile(r"[A-Z]?[a-zà-ÿß]+|[A-Z]+(?![a-z])|\d+|[\u3400-\u9fff]+")
_WORD: Final = re.compile(r"[^\W_]+")
_READING: Final = words("""
list get read search find fetch query show check look view lookup describe count status balance inspect browse
history load track tracking now preview slots availability available info details summary transcribe recent
find_one select head ls cat grep stat exists diff logs whoami ping validate test consultar listar leer
buscar ver voir lire lister chercher consulter lesen suchen anzeigen prüfen abrufen forecast weather time quote
calc calculate report inbox directory ocr extract parse analyze analyse panier estado events reflog compare
transcript historial pricing schedule_x
""")
_WRITING: Final = words("""
send create delete update write post put set add remove book pay transfer cancel submit publish deploy run
execute buy order move rename upload share reply schedule draft archive insert close merge push commit install
start stop restart enable disable approve sign place
""")
_NOUNS: Final = words("""
text mail email message file order book page list plan card record post call bill invoice note link tag label
issue sync copy share check test build release star
""") - {"sync", "share", "book", "copy", "label", "test", "build", "release", "star", "order"}
_ALONE: Final = re.compile(r"(?<![A-Za-z0-9_.:#*/+-])(?<!\d,)\d{1,7}(?![A-Za-z0-9_:/-]|[.,]\d)")
_AMOUNT: Final = re.compile(r"(?<![A-Za-z0-9_.:#*/+-])(?<!\d,)(\d{1,7})(?= ?[^\W\d_])")
_YEAR_MONTH: Final = re.compile(r"(?<!\d)20\d\d-(0[1-9]|1[0-2])(?!\d)")
_COMMANDS: Final = {
    word: sense
    for sense, names in {
        "delete": "rm rmdir unlink delete drop truncate",
        "create": "mkdir touch insert",
        "move": "mv",
        "save": "cp rsync scp tee tar",
        "update": "sed chmod update alter put patch complete mark upgrade zip",
        "send": "curl aviso notifications notification",
        "cancel": "kill",
        "push": "push",
        "commit": "commit",
        "merge": "merge",
        "join": "join",
        "pay": "place checkout",
        "set": "off on",
        "draft": "draft",
        "run": "pytest",
        "start": "restart",
    }.items()
    for word in names.split()
}
"""Names of methods, programs and statements that are no verbs, or other ones."""
_OPEN: Final = words("""
shell bash exec execute sql http script code python run call invoke request webhook action api task workflow
browser
""")


_TRIAL: Final = re.compile(
    r"\bdry[ _-]?run|simulat|simulier|simulaci|simulé|\bprobelauf|\btestlauf|\bà blanc|\bwhat_if|试运行|模拟|演练"
    r"|\bwould (?:be \w+ed|have|delete|remove|send|update|create|write|change)\b",
    re.IGNORECASE,
)
"""Words of calls that only show what would be done."""
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)')
"""Arguments in a summary. They name things, and never say what was done to them."""


class Call:
    """One call of the evidence."""

    def __init__(self, evidence: Evidence, number: int = 0) -> None:
        self.evidence = evidence
        self.number = number
        parts = re.split(r"[./:]", normal(evidence.tool_id))
        self.name = [part.lower() for part in _PART.findall(normal(evidence.tool_id))]
        self.method = [part.lower() for part in _PART.findall(" ".join(parts[1:]))] or self.name or [""]
        self.summary = normal(evidence.summary)
        self.given = _text_of(evidence.arguments)
        self.raw = f"{evidence.tool_id} {self.summary} {self.given} {_text_of(evidence.result)}"
        self.text = folded(self.raw)
        self.template = _QUOTED.sub(" ", self.summary)
        self._told = folded(f"{self.summary} {self.given}")

    @property
    def succeeded(self) -> bool:
        return self.evidence.status == "succeeded"

    @cached_property
    def kind(self) -> str:
        """`read`, `write`, or nothing if neither the tool's contract nor its name says."""
        if self.evidence.risk == "read" or self.is_trial:
            return "read"
        named = self._named_kind()
        return "" if named == "read" and self.evidence.risk is not None else named

    @cached_property
    def is_trial(self) -> bool:
        """Whether it only showed what it would do."""
        given = self.evidence.arguments or {}
        asked = any(_TRIAL.search(str(name)) and value not in (False, "false", 0) for name, value in given.items())
        return asked or _TRIAL.search(self.template) is not None

    def _named_kind(self) -> str:
        """What the tool's name says: its first word that is a verb decides."""
        for word in (self.method[-1], *self.method):
            if word in _READING and not (word == self.method[-1] and self.method[0] in _WRITING):
                return "read"
            if word in _WRITING or word in _COMMANDS or (word in NOUN_SENSE and not word.endswith("s")):
                return "write"
            form = None if word in _NOUNS or word.endswith("s") else sense_of(word)
            if form is not None and form.sense != "do":
                return "read" if form.sense == "read" else "write"
        if self.is_open:
            return "read" if self.given.lower().lstrip('{"sqlmdcoan: ').startswith("select") else "write"
        is_plural = re.search(r"[^s]s$", self.method[-1]) and not self._forms(_WORD.findall(self.summary.lower())[:6])
        return "read" if is_plural or not _READING.isdisjoint(self.name) else ""

    @property
    def is_read(self) -> bool:
        """Whether it only looks. A call of which nothing says so counts as one that may change things."""
        return self.kind == "read"

    @property
    def acts(self) -> bool:
        """Whether it is known to change something."""
        return self.kind == "write"

    @staticmethod
    def _forms(words: Iterable[str]) -> list[Form]:
        return [form for word in words if word not in _NOUNS and (form := sense_of(word)) is not None]

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word that its receipts contain; of Chinese, every two characters."""
        return frozenset(stems_of([*_WORD.findall(self.text), *map(folded, self.name)]) | pairs_of(self.text))

    @cached_property
    def senses(self) -> frozenset[str]:
        """The senses of verbs in the tool's name and in the summary of the call."""
        told = [word.lower() for word in self._told_words() if not (word.isupper() and len(word) > 1)]
        found = {form.sense for form in self._forms([*self.method, *(told if self.succeeded else ())])}
        if self.method[0] in _NOUNS and len(self.method) > 1 and (form := sense_of(self.method[0])) is not None:
            found.add(form.sense)  # `post_message`.
        found |= {NOUN_SENSE[word] for word in self.method if word in NOUN_SENSE}
        found |= {
            _COMMANDS[word]
            for word in [
                *self.method,
                *(
                    word
                    for word in map(str.lower, self._told_words())
                    if word in ("aviso", "notifications", "notification")
                ),
            ]
            if word in _COMMANDS
        }
        if self.is_open:
            found |= {_COMMANDS[word] for word in _WORD.findall(self.given.lower()) if word in _COMMANDS}
        if not self.summary.isascii():
            from coilclaw.evidence.grounding.chinese import senses_in  # Few summaries are in Chinese.

            found |= senses_in(self.template)
        return frozenset(found)

    @cached_property
    def _shown(self) -> str:
        """What the tool answered, but for what it repeats of its arguments."""
        text = _text_of(self.evidence.result)
        for each in _texts_in(self.evidence.arguments):
            text = text.replace(normal(each), " ")
        return text

    @cached_property
    def shown_senses(self) -> frozenset[str]:
        """The senses of verbs in what the tool answered, but for what it repeats of its arguments."""
        text = self._shown
        found = {form.sense for form in self._forms(_WORD.findall(text.lower()))}
        if not text.isascii():
            from coilclaw.evidence.grounding.chinese import senses_in

            found |= senses_in(text)
        return frozenset(found)

    @cached_property
    def tells_past(self) -> bool:
        """Whether it tells of something that was done, other than by its arguments: `Delivered on Monday`."""
        told = [*self._told_words(), *_WORD.findall(self._shown)[:80]]
        forms = [form for word in told if (form := sense_of(word.lower())) is not None]
        return any(form.kind in ("past", "first", "third") for form in forms) or "已" in self.template

    @cached_property
    def given_dates(self) -> frozenset[tuple[int, int]]:
        return frozenset(dates_in(self.given))

    def _told_words(self) -> list[str]:
        """The words of its summary that are not from its arguments."""
        given = frozenset(_WORD.findall(self.given))
        return [word for word in _WORD.findall(self.template)[:80] if word not in given]

    @cached_property
    def language(self) -> str:
        """The language of its summary."""
        if has_chinese(self.summary):
            return "zh"
        return language_of(tokens_of(self.summary))

    @cached_property
    def is_open(self) -> bool:
        """Whether the tool's name leaves open what it does, as that of a shell."""
        return not _OPEN.isdisjoint(self.name)

    @cached_property
    def classes(self) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for word in [*self.name, *_WORD.findall(self.template.lower())[:80]]:
            found |= class_of_noun(word)
        if not self.raw.isascii():
            from coilclaw.evidence.grounding.chinese import classes_in

            found |= classes_in(self.raw)
        return found

    @cached_property
    def numbers(self) -> frozenset[float]:
        return frozenset(numbers_in(self.raw) | set(map(float, _sizes(self.evidence.arguments))))

    @cached_property
    def has_figures(self) -> bool:
        """Whether it gives a number that is neither a part of a name nor of a date: one that others differ from."""
        return _ALONE.search(f"{self.summary} {self.given} {_text_of(self.evidence.result)}") is not None

    @cached_property
    def counts(self) -> frozenset[int]:
        """Numbers that the call itself gives for things it handled at once."""
        words = _WORD.findall(self.summary.lower())
        spelled = {grammar(code).numbers[word] for word in words for code in LATIN if word in grammar(code).numbers}
        told = {int(each) for each in _ALONE.findall(self.summary)}
        if told:
            return frozenset(spelled | told | set(_sizes(self.evidence.arguments)))
        return frozenset(
            spelled
            | set(_sizes(self.evidence.arguments))
            | set(_integers(self.evidence.arguments))
            | set(_integers(self.evidence.result))
            | set(_sizes(self.evidence.result))
        )

    @cached_property
    def amounts(self) -> frozenset[int]:
        """Those of its counts that say of what they are: `3 files`, and the lengths of lists."""
        told = {int(each) for each in _AMOUNT.findall(self.summary)}
        sizes = set(_sizes(self.evidence.arguments))
        return frozenset(told | sizes if told else sizes | set(_integers(self.evidence.arguments)))

    @cached_property
    def details(self) -> frozenset[str]:
        """Its words without those of the tool's name but for the last part."""
        return frozenset(stems_of([*_WORD.findall(self._told), *map(folded, self.method)]) | pairs_of(self._told))

    @cached_property
    def roles(self) -> frozenset[str]:
        """Names of its arguments that are one word, and prepositions that stand before such a word in its summary."""
        given = self.evidence.arguments or {}
        named = {name: value for name, value in given.items() if isinstance(value, str) and value.isalpha()}
        values = {value for value in named.values() if value.islower()}
        found = re.findall(r"\b(in|on|from|for) (?:the )?([^\W\d_]+)", self.summary)
        return frozenset([*named, *(before for before, word in found if word in values)])

    @cached_property
    def has_people(self) -> bool:
        """Whether it names a person in Chinese."""
        if self.raw.isascii():
            return False
        from coilclaw.evidence.grounding.chinese import people_in

        return any(people_in(text) for text in (self.summary, *_texts_in(self.evidence.arguments)))

    @cached_property
    def choices(self) -> frozenset[tuple[str, int]]:
        """Its values of kinds of which one excludes the other."""
        return choices_in([*map(folded, self.name), *re.findall(r"[^\W_]+|[€$£]", self.text)], self.text)

    @cached_property
    def dates(self) -> frozenset[tuple[int, int]]:
        return frozenset(dates_in(self.raw))

    @cached_property
    def months(self) -> frozenset[int]:
        numbered = {int(each) for each in _YEAR_MONTH.findall(self.raw)}
        return frozenset(months_in(self.raw) | {month for month, _ in self.dates} | numbered)

    @cached_property
    def days(self) -> frozenset[int]:
        named = {DAY[word] for word in _WORD.findall(self.raw.lower()) if word in DAY}
        return frozenset({each.weekday() for each in years_in(self.raw)} | named | days_in_chinese(self.raw))

    @cached_property
    def times(self) -> frozenset[tuple[int, int]]:
        return frozenset(times_in(re.sub(r"T(?=\d\d:)", " ", self.raw)))

    @cached_property
    def is_bare(self) -> bool:
        """Whether its receipts mention nothing that could differ from what an answer says."""
        return not self.given and len(self.words) <= len(self.name) + 4


def _text_of(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return normal(value)
    return normal(json.dumps(value, ensure_ascii=False, default=str)[:20_000])


def _texts_in(value: Any) -> Iterable[str]:
    """The texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(each)


def _sizes(value: Any) -> Iterable[int]:
    """The lengths of all lists in a value, of lists within texts too."""
    if isinstance(value, dict):
        for each in value.values():
            yield from _sizes(each)
    elif isinstance(value, list | tuple):
        yield len(value)
        for each in value:
            yield from _sizes(each)
    elif isinstance(value, str) and "," in value and len(value) < 2_000:
        yield value.count(",") + 1


def _integers(value: Any) -> Iterable[int]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _integers(each)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value


def calls_of(evidence: Iterable[Evidence]) -> list[Call]:
    return [Call(each, number) for number, each in enumerate(evidence)]
