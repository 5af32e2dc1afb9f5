"""The tables of one language, made ready for look-ups when a text in that language is first read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import Final, Literal, NamedTuple, TypeAlias

__all__ = ["LATIN", "Form", "Grammar", "class_of_noun", "grammar", "sense_of"]

LATIN: Final = ("en", "de", "es", "fr")
Kind: TypeAlias = Literal["past", "first", "third", "base", "progress"]
"""`past` is a participle, or a past tense that fits every person; `first` and `third` are past tenses of one person."""


class Form(NamedTuple):
    sense: str
    kind: Kind


class Grammar(NamedTuple):
    """Words of one language, by what they tell a reader."""

    code: str
    marks: dict[str, str]
    """A word → letters for what it says about person, tense and mood."""
    forms: dict[str, Form]
    thinking: frozenset[str]
    """Past forms of verbs that need no tool."""
    nouns: dict[str, frozenset[str]]
    numbers: dict[str, int]
    phrases: dict[str, re.Pattern[str]]
    unknown: re.Pattern[str]
    """Words that look like a past form of a verb that is in no table."""


@lru_cache
def grammar(code: str) -> Grammar:
    table = import_module(f"coilclaw.evidence.grounding.languages.{code}")
    inflect = _INFLECTIONS[code]
    marks: dict[str, str] = {}
    for letter, words in table.MARKS.items():
        for word in words.split():
            marks[word] = marks.get(word, "") + letter
    forms: dict[str, Form] = {}
    for sense, verbs in _lines(table.VERBS):
        for verb in verbs:
            for form, kind in inflect(verb):
                forms.setdefault(form, Form(sense, kind))
    thinking = frozenset(
        form for verb in table.TEXTUAL.split() for form, kind in inflect(verb) if kind in ("past", "first")
    )
    nouns: dict[str, set[str]] = {}
    for name, words in _lines(table.NOUNS):
        for word in words:
            nouns.setdefault(word, set()).add(name)
    return Grammar(
        code=code,
        marks=marks,
        forms=forms,
        thinking=thinking - forms.keys(),
        nouns={word: frozenset(names) for word, names in nouns.items()},
        numbers={word: number for number, words in enumerate(table.NUMBERS.split()) for word in words.split("/")},
        phrases={name: re.compile(pattern, re.IGNORECASE) for name, pattern in table.PHRASES.items()},
        unknown=re.compile(table.UNKNOWN),
    )


def _lines(text: str) -> Iterator[tuple[str, list[str]]]:
    name = ""
    for line in text.strip().splitlines():
        head, colon, rest = line.partition(":")
        name, words = (head.strip(), rest) if colon and not line.startswith(" ") else (name, line)
        yield name, words.split()


def _english(verb: str) -> Iterator[tuple[str, Kind]]:
    base, *pasts = verb.replace("_", " ").split("/")
    base, _, particle = base.partition(" ")
    doubled = base.endswith("+")
    base = base.rstrip("+")
    stem = base + base[-1] if doubled else base
    if particle:
        return  # Told by its phrase.
    if not pasts:
        if base.endswith("e"):
            pasts = [base + "d"]
        elif base.endswith("y") and base[-2] not in "aeiou":
            pasts = [base[:-1] + "ied"]
        else:
            pasts = [stem + "ed"]
    for past in pasts:
        yield past, "past"
    if base not in pasts:
        yield base, "base"
        yield base + "s", "base"
    yield (base[:-1] if base.endswith("e") and not base.endswith("ee") else stem) + "ing", "progress"


def _german(verb: str) -> Iterator[tuple[str, Kind]]:
    """`senden/gesendet`: infinitive and participle; the past tense of weak verbs follows from the infinitive."""
    base, *pasts = verb.split("/")
    for past in pasts:
        yield past, "past"
    yield base, "base"
    stem = base.removesuffix("en").removesuffix("n")
    if pasts and pasts[0].endswith("t"):
        yield stem + ("ete" if stem.endswith(("t", "d")) else "te"), "first"
    yield base + "d", "progress"


def _spanish(verb: str) -> Iterator[tuple[str, Kind]]:
    base, *irregular = verb.split("/")
    stem, end = base[:-2], base[-2:]
    participle = irregular[0] if irregular else stem + ("ado" if end == "ar" else "ido")
    for tail in ("o", "a", "os", "as"):
        yield participle[:-1] + tail, "past"
    if len(irregular) > 1:
        first, third, plural = (irregular[1:] + irregular[-1:] * 2)[:3]
    elif end == "ar":
        soft = stem[:-1] + "qu" if stem.endswith("c") else stem + "u" if stem.endswith("g") else stem
        soft = stem[:-1] + "c" if stem.endswith("z") else soft
        first, third, plural = soft + "é", stem + "ó", stem + "aron"
    else:
        first, third, plural = stem + "í", stem + "ió", stem + "ieron"
    yield first, "first"
    yield third, "third"
    yield plural, "third"
    yield stem + ("amos" if end == "ar" else "imos"), "first"
    yield base, "base"
    yield stem + ("ando" if end == "ar" else "iendo"), "progress"


def _french(verb: str) -> Iterator[tuple[str, Kind]]:
    base, *irregular = verb.split("/")
    participle = irregular[0] if irregular else base[:-2] + ("é" if base.endswith("er") else "i")
    for tail in ("", "e", "s", "es"):
        if not (tail in ("s", "es") and participle.endswith("s") and tail == "s"):
            yield participle + tail, "past"
    yield base, "base"
    yield base[:-2] + "ant", "progress"


def _chinese(verb: str) -> Iterator[tuple[str, Kind]]:
    yield verb, "past"


_INFLECTIONS: Final[dict[str, Callable[[str], Iterator[tuple[str, Kind]]]]] = {
    "en": _english,
    "de": _german,
    "es": _spanish,
    "fr": _french,
    "zh": _chinese,
}


@lru_cache(maxsize=4096)
def sense_of(word: str, code: str | None = None) -> Form | None:
    """The sense and form of a verb, in one language or in the first that knows it."""
    for each in (code,) if code else LATIN:
        if (found := grammar(each).forms.get(word)) is not None:
            return found
    return None


_LONGEST_NOUN: Final = 60


@lru_cache(maxsize=4096)
def class_of_noun(word: str) -> frozenset[str]:
    """The classes of things that a noun names, in any of our languages; none for a noun that is not known."""
    found: frozenset[str] = frozenset()
    if len(word) > _LONGEST_NOUN:
        return found  # Its parts are tried one by one.
    for code in LATIN:
        nouns = grammar(code).nouns
        for ending in ("", "s", "es", "n", "en", "e", "er"):
            stem = word.removesuffix(ending)
            if len(stem) > 2 and stem in nouns and (stem != word or not ending):
                found |= nouns[stem]
                break
    if not found and len(word) > 8:
        nouns = grammar("de").nouns  # The one of our languages that writes compounds as one word.
        ends = [word[at:] for at in range(4, len(word) - 3)] + [word[:at] for at in range(len(word) - 3, 4, -1)]
        found = next((nouns[part] for part in ends if part in nouns), found)
    return found
