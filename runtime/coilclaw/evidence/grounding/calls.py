"""Calls of the evidence, indexed by what they did and by everything that their receipts mention."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

from coilclaw.evidence.grounding.facts import DAY, dates_in, numbers_in, times_in, years_in
from coilclaw.evidence.grounding.grammar import class_of_noun, grammar, sense_of
from coilclaw.evidence.grounding.normal_text import folded, normal
from coilclaw.evidence.grounding.values import Evidence

__all__ = ["Call", "calls_of"]

_PART: Final = re.compile(r"[A-Z]?[a-zà-ÿß]+|[A-Z]+(?![a-z])|\d+|[\u3400-\u9fff]+")
_WORD: Final = re.compile(r"[^\W_]+")
_READING: Final = frozenset(
    "list get read search find fetch query show check look view lookup describe count status balance inspect browse history load track tracking now "
    "preview slots availability available info details summary transcribe recent find_one select head ls cat grep stat exists diff log logs whoami ping validate test "
    "consultar listar leer buscar ver voir lire lister chercher consulter lesen suchen anzeigen prüfen abrufen forecast weather time quote calc calculate "
    "report inbox directory resolve translate ocr extract parse analyze analyse panier estado".split()
)
_WRITING: Final = frozenset(
    "send create delete update write post put set add remove book pay transfer cancel submit publish deploy run execute buy order move rename upload share reply schedule draft "
    "archive insert close merge push commit install start stop restart enable disable approve sign book place".split()
)
_COMMANDS: Final = {
    "rm": "delete", "rmdir": "delete", "unlink": "delete", "mkdir": "create", "touch": "create", "mv": "move", "cp": "save", "rsync": "save", "scp": "save",
    "sed": "update", "tee": "save", "curl": "send", "git": "push", "chmod": "update", "kill": "cancel", "delete": "delete", "drop": "delete", "insert": "create",
    "update": "update", "alter": "update", "truncate": "delete", "push": "push", "commit": "push", "merge": "push", "put": "update", "patch": "update",
    "join": "join", "place": "pay", "complete": "do", "mark": "update", "off": "set", "on": "set", "invite": "send", "draft": "draft",
}  # fmt: skip
_OPEN: Final = frozenset("shell bash exec execute sql http script code python run call invoke request webhook action api task workflow browser".split())


class Call:
    """One call of the evidence."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.name = [part.lower() for part in _PART.findall(normal(evidence.tool_id))]
        self.summary = normal(evidence.summary)
        self.given = _text_of(evidence.arguments)
        self.text = folded(" ".join((self.summary, self.given, _text_of(evidence.result))))

    @property
    def succeeded(self) -> bool:
        return self.evidence.status == "succeeded"

    @cached_property
    def is_read(self) -> bool:
        if not _WRITING.isdisjoint(self.name[1:] or self.name):
            return False
        return not _READING.isdisjoint(self.name) or self.evidence.tool_id.lower().endswith(("http.get", "get"))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset([*_WORD.findall(self.text), *(folded(part) for part in self.name)])

    @cached_property
    def senses(self) -> frozenset[str]:
        """The senses of verbs in the tool's name and in the summary of the call."""
        found = set()
        for word in [*self.name, *_WORD.findall(self.summary.lower())[:6]]:
            if word in _COMMANDS:
                found.add(_COMMANDS[word])
            if (form := sense_of(word)) is not None and word not in ("text", "mail", "email", "message"):
                found.add(form.sense)
        if self.is_open:
            found |= {_COMMANDS[word] for word in _WORD.findall(self.given.lower()) if word in _COMMANDS}
        from coilclaw.evidence.grounding.chinese import senses_in  # Few summaries are in Chinese.

        return frozenset(found | senses_in(self.summary))

    @cached_property
    def is_open(self) -> bool:
        """Whether the tool's name leaves open what it does, as that of a shell."""
        return not _OPEN.isdisjoint(self.name)

    @cached_property
    def classes(self) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for word in [*self.name, *_WORD.findall(self.summary.lower())]:
            found |= class_of_noun(word)
        return found

    @cached_property
    def numbers(self) -> frozenset[float]:
        return frozenset(numbers_in(f"{self.summary} {self.given} {_text_of(self.evidence.result)}") | set(map(float, _sizes(self.evidence.arguments))))

    @cached_property
    def counts(self) -> frozenset[int]:
        """Numbers that the call itself gives, for things it handled at once."""
        words = _WORD.findall(self.summary.lower())
        spelled = {grammar(code).numbers[word] for word in words for code in ("en", "de", "es", "fr") if word in grammar(code).numbers}
        return frozenset({int(number) for number in self.numbers if number == int(number) and number < 1e9} | spelled)

    @cached_property
    def dates(self) -> frozenset[tuple[int, int]]:
        return frozenset(dates_in(f"{self.summary} {self.given} {_text_of(self.evidence.result)}"))

    @cached_property
    def days(self) -> frozenset[int]:
        text = f"{self.summary} {self.given} {_text_of(self.evidence.result)}"
        return frozenset({each.weekday() for each in years_in(text)} | {DAY[word] for word in _WORD.findall(text.lower()) if word in DAY})

    @cached_property
    def times(self) -> frozenset[tuple[int, int]]:
        return frozenset(times_in(re.sub(r"T(?=\d\d:)", " ", f"{self.summary} {self.given} {_text_of(self.evidence.result)}")))

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


def calls_of(evidence: Iterable[Evidence]) -> list[Call]:
    return [Call(each) for each in evidence]
