"""Whether the receipts of a call mention what a statement mentions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from coilclaw.evidence.grounding.calls import Call
from coilclaw.evidence.grounding.facts import Facts, stems_of
from coilclaw.evidence.grounding.normal_text import folded

__all__ = ["Support", "answers_of", "contrasts", "has_thing", "is_covered", "supports"]

Support: TypeAlias = Literal["yes", "no", "open"]
"""`open` if the receipts do not say."""


def supports(facts: Facts, call: Call) -> Support:
    """Whether everything that a statement mentions is in the receipts of one call; `open` if they do not say."""
    answers = answers_of(facts, call)
    if "no" in answers or contrasts(facts, call):
        return "no"
    return "yes" if "yes" in answers or not answers else "open"


def answers_of(facts: Facts, call: Call) -> list[Support]:
    miss: Support = "open" if call.is_bare else "no"
    return [
        *(
            "yes" if _has_name(name, call) else miss if name[0].isascii() or call.has_people else "open"
            for name in facts.names
        ),
        *("yes" if _has_place(place, call) else miss for place in facts.places),
        *("yes" if _has_text(quote, call) else miss for quote in facts.quotes),
        *(
            "yes" if number in call.numbers or number * 100 in call.numbers else (miss if call.has_figures else "open")
            for number in facts.numbers
        ),
        *("yes" if each in call.dates else ("no" if call.dates else "open") for each in facts.dates),
        *("yes" if each in call.months else ("no" if call.months else "open") for each in facts.months),
        *("yes" if each in call.days else ("no" if call.days else "open") for each in facts.days),
        *("yes" if _has_time(each, call) else ("no" if call.times else "open") for each in facts.times),
        *(
            "yes" if number in call.numbers else "no" if unit in call.words else "open"
            for number, unit in facts.measures
        ),
        *_answers_by_choice(facts, call),
    ]


def _answers_by_choice(facts: Facts, call: Call) -> list[Support]:
    """For each kind: `no` if the call has another value of it and none of those that the statement has."""
    its = {kind for kind, _ in call.choices}
    return [
        "open"
        if kind not in its
        else "yes"
        if any((kind, value) in call.choices for name, value in facts.choices if name == kind)
        else "no"
        for kind in sorted({kind for kind, _ in facts.choices})
    ]


def contrasts(facts: Facts, call: Call) -> bool:
    """Whether a call was about another one of a kind: `the water bill`, and `{"bill": "electricity"}`."""
    return any(kind in call.roles and not stems_of([word]) & call.words for kind, word in facts.roles)


def has_thing(facts: Facts, call: Call) -> bool:
    """Whether a call mentions one of the addresses, files or codes of a statement."""
    return any(_has_place(place, call) for place in facts.places)


def is_covered(facts: Facts, calls: Sequence[Call]) -> bool:
    """Whether several calls together have all that a statement mentions."""
    every = [answers_of(facts, call) for call in calls]
    return (
        len(calls) > 1
        and all("yes" in column or "no" not in column for column in zip(*every, strict=True))
        and not all(contrasts(facts, call) for call in calls)
    )


def _has_name(name: tuple[str, ...], call: Call) -> bool:
    if "".join(name) in call.words:
        return True
    matched = [each for each in name if _has_word(each, call)]
    if not matched:
        return False
    if len(matched) == len(name):
        return True
    before = " ".join(name[: name.index(matched[-1]) + 1])
    rest = re.search(re.escape(before) + r" ([^\W\d_]{3,})", call.text)  # `Maple Court` may go on otherwise.
    return rest is None or rest.group(1) in name or rest.group(1) not in _capitals(call)


def _has_word(word: str, call: Call) -> bool:
    """Whether a name is mentioned, as it is, as a genitive, behind an initial (`agarcia@`), or as a code (`OSL`)."""
    if word in call.words:
        return True
    if len(word) < 4:
        return False
    return (
        word.removesuffix("s") in call.words
        or any(other[1:] == word and other[0] != word[0] for other in call.words)
        or re.search(rf"\b{re.escape(word[:3].upper())}\b", call.raw) is not None
    )


def _capitals(call: Call) -> frozenset[str]:
    return frozenset(folded(word) for word in re.findall(r"[A-ZÀ-Þ][^\W\d_]+", call.raw))


def _has_place(place: str, call: Call) -> bool:
    bare = folded(place.strip("#@`").rstrip("/.,;:"))
    if place.startswith("#") and not bare.isdigit():
        return bool(re.search(rf'#{re.escape(bare)}(?![\w-])|"{re.escape(bare)}"', call.text))
    spelled = re.sub(r"(?<=[^\W\d_])(?=\d)", "[ -]?", re.escape(bare))  # `LH1830` is `LH 1830`.
    if not bare or re.search(rf"(?<![\w-]){spelled}(?![\w-])", call.text):
        return True
    if bare.isalnum() and bare in call.words:
        return True
    base = re.split(r"[/\\]", bare)[-1]
    return (len(base) > 2 and "." in base and base in call.text) or (not bare.isascii() and bare in call.text)


def _has_text(quote: str, call: Call) -> bool:
    plain = folded(quote).strip(" .,!?")
    if plain in call.text or (quote.islower() and quote.isalpha() and quote.isascii()):
        return True
    words = re.findall(r"[^\W_]+", plain)
    return (len(words) > 2 and sum(word in call.words for word in words) >= 0.7 * len(words)) or len(words) > 12


def _has_time(time: tuple[int, int], call: Call) -> bool:
    hour, minute = time
    return time in call.times or (hour < 13 and ((hour + 12) % 24, minute) in call.times)
