"""Finding tools by words: ranked search."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from coilclaw.bridge.registry import Registry
from coilclaw.sdk import Tool

__all__ = ["LONGEST_QUERY", "Match", "search_tools", "tools_below"]

_WHOLE: Final = re.compile(r"[^\W_]+")
_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_A-Za-z]+")
_SMALL_WORDS: Final = frozenset(
    {
        "a",
        "an",
        "and",
        "at",
        "by",
        "do",
        "for",
        "from",
        "how",
        "i",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "the",
        "to",
        "with",
    }
)
LONGEST_QUERY: Final = 200
_MOST_WORDS: Final = 10
_LONGEST_DESCRIPTION: Final = 2000
_ALIKE: Final = 0.78
_EXACT: Final = 100.0
_ID, _ALIAS, _ARGUMENT, _DESCRIPTION = 8.0, 8.0, 3.0, 2.0


@dataclass(frozen=True)
class Match:
    """A tool that fits a query, and how well."""

    tool: Tool
    score: float


def search_tools(registry: Registry, query: str) -> list[Match]:
    """The tools a query may mean, best first: those that know most of its words, then those that are named so.

    Words are those of ids, aliases, argument names and descriptions. A word that nothing knows is taken
    for a misspelling of what it is most like. The same registry and query always give the same order.
    """
    query = query[:LONGEST_QUERY]
    wanted = _words(query)
    wanted = [word for word in wanted if word not in _SMALL_WORDS] or wanted
    named = registry.resolve(query.strip().removeprefix("tools."))
    weights = {tool.id: _weights(tool) for tool in registry.tools.values()}
    vocabulary = sorted({word for words in weights.values() for word in words})
    meanings = [_meanings(word, vocabulary) for word in wanted[:_MOST_WORDS]]
    found: list[tuple[int, Match]] = []
    for tool in registry.tools.values():
        points = [_points(meaning, weights[tool.id]) for meaning in meanings]
        score = round(sum(points) + (_EXACT if tool is named else 0), 6)
        if score:
            found.append(
                (-sum(1 for each in points if each) - (len(meanings) if tool is named else 0), Match(tool, score))
            )
    found.sort(key=lambda each: (each[0], -each[1].score, each[1].tool.id))
    return [match for _, match in found]


def tools_below(registry: Registry, path: str) -> list[Tool]:
    """The tools of an integration or of one of its resources; of all, for the path `tools`."""
    before = "" if path == "tools" else f"{path}."
    return [tool for tool_id, tool in registry.tools.items() if tool_id.startswith(before)]


def _words(text: str) -> list[str]:
    """Words as they are written (`table7`, `getUsers`), and the parts they are made of."""
    whole = _WHOLE.findall(text)
    parts = [part for word in whole for part in _PART.findall(word)]
    return list(dict.fromkeys(_stem(word.lower()) for word in [*whole, *parts]))


def _stem(word: str) -> str:
    """Without the `s` of a plural."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _weights(tool: Tool) -> dict[str, float]:
    """Each word a tool is known by, with the weight of the most telling place it stands in."""
    weights: dict[str, float] = {}
    places: list[tuple[float, Iterable[str]]] = [
        (_ID, _words(tool.id)),
        (_ALIAS, _words(" ".join(tool.aliases))),
        (_ARGUMENT, _words(" ".join(tool.parameters)[:_LONGEST_DESCRIPTION])),
        (_DESCRIPTION, _words(tool.description[:_LONGEST_DESCRIPTION])),
    ]
    for weight, words in places:
        for word in words:
            weights.setdefault(word, weight)
    return weights


def _meanings(word: str, vocabulary: list[str]) -> dict[str, float]:
    """The known words that this word may mean, each with a share of the weight."""
    meant: dict[str, float] = {}
    for known in vocabulary:
        if known == word:
            meant[known] = 1.0
        elif len(word) >= 3 and known.startswith(word):
            meant[known] = 0.7
        elif len(known) >= 4 and word.startswith(known):
            meant[known] = 0.5
    if not meant:
        for known in difflib.get_close_matches(word, vocabulary, n=3, cutoff=_ALIKE if len(word) > 4 else 0.7):
            meant[known] = 0.4
    return meant


def _points(meaning: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return max((share * weights[word] for word, share in meaning.items() if word in weights), default=0.0)
