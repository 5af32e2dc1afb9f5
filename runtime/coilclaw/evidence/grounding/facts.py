"""Names, numbers, dates, times and places that a text mentions, in a form that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from coilclaw.evidence.grounding.figures import DAY, ISO, MONTH, dates_in, months_in, number_of, times_in
from coilclaw.evidence.grounding.grammar import Grammar, class_of_noun, grammar
from coilclaw.evidence.grounding.languages.choices import CHOICES
from coilclaw.evidence.grounding.languages.shared import words
from coilclaw.evidence.grounding.normal_text import folded, has_chinese
from coilclaw.evidence.grounding.tokens import Token

__all__ = ["Facts", "choices_in", "facts_in", "pairs_of", "stems_of"]

_HAN: Final = re.compile(r"[\u3400-\u9fff]{2,}")
_CURRENCY: Final = re.compile(r"[€$£¥]|EUR|USD|GBP|CHF|CNY|euros?\b|dollars?\b|pounds?\b|元|块")
_SPANS: Final = words("""
hour hours minute minutes day days week weeks month months year years night nights second seconds stunde stunden
minuten tag tage tagen woche wochen monat monate hora horas minuto minutos día días semana semanas mes meses
heure heures jour jours semaine semaines mois ans años working business
""")


@lru_cache
def _choices() -> dict[str, frozenset[tuple[str, int]]]:
    """A word → the kinds of which it is a value, and which."""
    found: dict[str, set[tuple[str, int]]] = {}
    for line in CHOICES.strip().splitlines():
        kind, _, values = line.partition(":")
        for number, value in enumerate(values.split("|")):
            for word in value.split():
                found.setdefault(folded(word), set()).add((kind, number))
    return {word: frozenset(values) for word, values in found.items()}


@lru_cache
def _han_choices() -> dict[str, frozenset[tuple[str, int]]]:
    return {word: values for word, values in _choices().items() if has_chinese(word)}


def choices_in(given: Iterable[str], text: str) -> frozenset[tuple[str, int]]:
    """The values that words stand for of which one excludes the other; Chinese ones are looked for in a text."""
    table = _choices()
    found = [table[word] for word in given if word in table]
    if has_chinese(text):
        found += [values for word, values in _han_choices().items() if word in text]
    return frozenset().union(*found)


class Facts(NamedTuple):
    """What a statement says besides its verb."""

    names: tuple[tuple[str, ...], ...] = ()
    places: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    dates: tuple[tuple[int, int], ...] = ()
    days: tuple[int, ...] = ()
    months: tuple[int, ...] = ()
    times: tuple[tuple[int, int], ...] = ()
    classes: frozenset[str] = frozenset()
    is_all: bool = False
    """Whether it is said of everything there was to do."""
    cited: tuple[str, ...] = ()
    measures: tuple[tuple[float, str], ...] = ()
    """Numbers with a unit, which calls are compared with that use the same unit."""
    roles: tuple[tuple[str, str], ...] = ()
    """Words that say which one is meant, with the kind or the preposition: `customers` of `the customers table`."""
    choices: frozenset[tuple[str, int]] = frozenset()
    """Values of kinds of which one excludes the other: `production`, `unlocked`."""

    @property
    def is_empty(self) -> bool:
        return not (
            self.names
            or self.places
            or self.quotes
            or self.numbers
            or self.counts
            or self.dates
            or self.days
            or self.months
            or self.times
            or self.measures
            or self.choices
        )


def stems_of(given: Iterable[str]) -> set[str]:
    """Words, and the beginnings of long ones, by which their inflections are found."""
    found = set(given)
    return found | {f"{word[:5]}~" for word in found if len(word) > 5 and word.isalpha()}


def pairs_of(text: str) -> set[str]:
    """Every two neighbouring Chinese characters of a text, which stand in for its words."""
    if text.isascii():
        return set()
    return {run[at : at + 2] for run in _HAN.findall(text) for at in range(len(run) - 1)}


def facts_in(text: str, tokens: Sequence[Token], span: range, verb: int, code: str) -> Facts:
    """The facts among the tokens of a span. `text` is the sentence that they are from."""
    language = grammar(code)
    chosen = [at for at in span if at != verb]
    part = text[tokens[span.start].start : tokens[span.stop - 1].end] if len(span) else ""
    dates, times = dates_in(part), times_in(part)
    names: list[tuple[str, ...]] = []
    places, quotes, cited = [], [], []
    numbers: list[float] = []
    counts: list[int] = []
    days: list[int] = []
    classes: set[str] = set()
    roles: list[tuple[str, str]] = []
    is_all = False
    for at in chosen:
        token = tokens[at]
        if code == "en" and at - 1 in span and at - 1 != verb and (role := _role(at, tokens, language)) is not None:
            roles.append(role)
        if token.kind == "place":
            bare = token.raw.strip("`[]")
            if token.raw.startswith("[") or re.fullmatch(r"(?:receipt|call)[-_][\w-]+", bare):
                cited.append(bare)
            elif (
                any(map(str.isalnum, bare))
                and not ISO.search(bare)
                and not re.fullmatch(r"\d{1,2}[-–]\d{1,2}|\d+-[a-zà-ÿ]+", bare)
            ):
                places.append(bare)
        elif token.kind == "quote":
            quotes.append(token.raw[1:-1])
        elif token.kind == "number":
            _note_number(token, at, tokens, part, dates, times, numbers, counts)
        elif token.kind == "word":
            if token.text in DAY and (token.text not in ("mon", "sat", "sun", "mar") or token.is_capital):
                days.append(DAY[token.text])
            elif token.text in language.numbers and language.numbers[token.text] != 1:
                follower = tokens[at + 1].text if at + 1 < len(tokens) else ""
                if _CURRENCY.match(follower):
                    numbers.append(float(language.numbers[token.text]))
                elif follower not in _SPANS and not _is_total(at, tokens) and tokens[at - 1].text not in _DESCRIBING:
                    counts.append(language.numbers[token.text])
            elif token.text in ("both", "beide", "beiden", "ambos", "ambas") or (
                token.text in ("deux",) and code == "fr"
            ):
                counts.append(2)
            elif token.text in (
                "all",
                "every",
                "everything",
                "alle",
                "alles",
                "sämtliche",
                "todo",
                "todos",
                "todas",
                "tous",
                "toutes",
                "tout",
                "each",
                "jede",
                "chacun",
                "chaque",
            ):
                is_all = True
            elif (
                token.raw.isupper()
                and 1 < len(token.raw) < 4
                and at + 1 < len(tokens)
                and tokens[at + 1].kind == "number"
            ):
                places.append(f"{token.raw}{tokens[at + 1].raw.strip()}")
            elif _is_name(token, at, tokens, language) and not (at + 1 < len(tokens) and tokens[at + 1].text == "'s"):
                _note_name(names, token, at, tokens)
            found = class_of_noun(token.text)
            if found:
                classes |= found
    return Facts(
        names=tuple(names),
        places=tuple(places),
        quotes=tuple(quotes),
        numbers=tuple(numbers),
        counts=tuple(counts),
        dates=tuple(dates),
        days=tuple(days),
        months=() if dates else tuple(months_in(part)),
        times=tuple(times),
        classes=frozenset(classes),
        is_all=is_all,
        cited=tuple(cited),
        measures=tuple(
            (number, tokens[at + 1].text)
            for at in chosen
            if tokens[at].kind == "number"
            and at + 1 in span
            and tokens[at + 1].text in UNITS
            and (number := number_of(tokens[at].raw)) is not None
        ),
        roles=tuple(roles),
        choices=choices_in((folded(tokens[at].text) for at in span), ""),
    )


def _note_number(
    token: Token,
    at: int,
    tokens: Sequence[Token],
    part: str,
    dates: set[tuple[int, int]],
    times: set[tuple[int, int]],
    numbers: list[float],
    counts: list[int],
) -> None:
    number = number_of(token.raw)
    if number is None:
        return
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    before = tokens[at - 1].text if at else ""
    following = after.text if after else ""
    if before in _OLD and following in _NEW:
        return  # `from 2 to 5`: the value before.
    if following == "-" and at + 2 < len(tokens) and tokens[at + 2].kind == "word":
        return  # `15-minute`.
    money = (
        _CURRENCY.search(token.raw)
        or (after and _CURRENCY.match(after.raw))
        or before in ("€", "$", "£", "¥", "eur", "usd", "chf", "gbp")
    )
    if not money:
        if (
            following in _SPANS
            or following in UNITS
            or following in ("am", "pm", "uhr", "h", "heures", "o'clock")
            or (":" in token.raw and times)
        ):
            return
        if (
            any(number in each for each in dates)
            or any(number == each[0] or number == each[0] % 12 for each in times)
            or _OVER.match(token.raw.strip())
        ):
            return
        if (
            after
            and after.kind == "word"
            and not grammar("en").marks.get(following)
            and following.isalpha()
            and number == int(number)
            and before not in ("#", "version", "v", "room", "page")
        ):
            if _is_total(at, tokens):
                return
            if class_of_noun(following) or (
                len(following) > 3 and following.endswith(("s", "en", "e", "n")) and not after.is_capital
            ):
                counts.append(int(number))
                return
    numbers.append(number)


_ANY_ONE: Final = words("""
new old main right correct whole entire same other existing corresponding relevant affected respective single current
first second third last next former original short long big small full own latest recent
""")
_BESIDE: Final = words("in on from for")


def _role(at: int, tokens: Sequence[Token], language: Grammar) -> tuple[str, str] | None:
    """The word before a noun, with the noun; or a noun by itself with its preposition: `in the kitchen`."""
    token, before = tokens[at], tokens[at - 1]
    if token.kind != "word" or language.marks.get(token.text) or token.is_capital:
        return None
    if _is_specific(before, language):
        return token.text, folded(before.text)
    follows = at + 1 == len(tokens) or tokens[at + 1].kind == "mark" or language.marks.get(tokens[at + 1].text)
    if before.text in ("the", "your") and at > 1 and tokens[at - 2].text in _BESIDE and follows:
        return tokens[at - 2].text, folded(token.text)
    return None


def _is_specific(token: Token, language: Grammar) -> bool:
    """Whether a word before a noun may say which one is meant."""
    return (
        token.kind == "word"
        and not language.marks.get(token.text)
        and token.text not in _ANY_ONE
        and token.text not in language.numbers
        and token.text not in language.forms
        and not token.text.endswith(("ing", "ed", "ly", "ous", "ful", "able", "ive", "al", "ic"))
    )


UNITS: Final = words("kb mb gb tb ms s sec km kg cm mm")
"""Units of measures, which say how large a thing is and not which."""
_DESCRIBING: Final = words("chapter section version with mit con avec")
"""Words before a number that is not one of things that something was done to: `an apology with two dates`."""
_OLD: Final = words("from von de desde du")
_NEW: Final = words("to auf a à up down zu")


def _is_total(at: int, tokens: Sequence[Token]) -> bool:
    """Whether a number is that of all there are: `two of the three`."""
    before = [token.text for token in tokens[max(0, at - 3) : at]]
    if any(
        token.text in ("all", "every", "each", "alle", "todos", "todas", "tous", "toutes")
        for token in tokens[max(0, at - 4) : at]
    ):
        return False
    if before and before[-1] in ("the", "los", "las", "les", "den", "your", "mes", "vos", "tus", "sus", "my"):
        before.pop()
    return bool(before) and before[-1] in ("of", "der", "von", "de", "des", "sur", "parmi", "entre", "out", "aus")


_OVER: Final = re.compile(r"(?:19|20)\d\d$")
_SERVICES: Final = words("""
gmail outlook google calendar excel word powerpoint markdown pdf python api html csv json utc cet gmt q1 q2 q3
q4 id ok nda crm sms url vpn ceo hr it pr cc tv pst est webp windows linux macos android ios chrome firefox
slack whatsapp sql kb mb gb tb join mr mrs ms dr mme mlle sr sra dra prof herr frau herrn english german spanish french
chinese
""")


def _is_name(token: Token, at: int, tokens: Sequence[Token], language: Grammar) -> bool:
    if (
        not token.is_capital
        or token.text in language.marks
        or token.text in MONTH
        or token.text in DAY
        or token.text in _SERVICES
        or len(token.text) < 2
    ):
        return False
    if class_of_noun(token.text) or token.text in language.forms:
        return False
    before = tokens[at - 1] if at else None
    if before is not None and before.text == ":" and (at + 1 == len(tokens) or tokens[at + 1].text in (",", "(")):
        return True
    if before is None or before.text in (".", "!", "?", ":", "✅", "-", "•", "*", "|", "¡", "¿"):
        return at + 1 < len(tokens) and tokens[at + 1].text == "'s"
    if language.code == "de":
        return before.text in (
            "an",
            "mit",
            "für",
            "bei",
            "von",
            "frau",
            "herr",
            "herrn",
            "und",
        ) and not token.text.endswith(("ung", "heit", "keit", "ion", "tät", "schaft", "ungen", "en", "liste", "team"))
    return True


def _note_name(names: list[tuple[str, ...]], token: Token, at: int, tokens: Sequence[Token]) -> None:
    name = folded(token.raw.rstrip("'"))
    previous = tokens[at - 1]
    if names and previous.is_capital and names[-1][-1] == folded(previous.raw):
        names[-1] = (*names[-1], name)
    else:
        names.append((name,))
