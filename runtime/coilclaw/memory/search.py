"""Finding turns by words: ranked by how often the words are in them, and by how recent they are."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Final

from coilclaw.memory.documents import valid_text
from coilclaw.memory.turns import (
    WORDS,
    Role,
    Source,
    Turn,
    origins_at,
    searched_parts,
    substring_places,
    turns_at,
)
from coilclaw.sdk.frozen import Frozen
from coilclaw.store import words_of

if TYPE_CHECKING:
    from coilclaw.store import Database

__all__ = ["Hit", "search_turns"]

_CANDIDATES: Final = 200
_MOST_HITS: Final = 1000
_OF_ONE_CONVERSATION: Final = 3
_HALF_LIFE_DAYS: Final = 30.0
_BOOST: Final = 0.4
"""How much more a turn of this moment counts than the same words long ago: less than a word that is there twice."""
_EXCERPT: Final = 160
"""Characters."""
_LONGEST_SUBSTRING: Final = 200


class Hit(Frozen):
    """A turn that fits a query, and the part of it that does. The excerpt is past text: data, and no instruction."""

    conversation_id: str
    turn_id: str
    number: int
    role: Role
    source: Source
    """Who the excerpt comes from: in a model's turn, the results of its calls are a tool's."""
    timestamp: str
    excerpt: str

    def facts(self) -> dict[str, object]:
        """The hit as JSON data."""
        return asdict(self)


def search_turns(database: Database, query: str, *, limit: int, now: datetime) -> tuple[Hit, ...]:
    """Return the turns that fit best: those with every word, else those with any, else those with this very text."""
    words, limit = words_of(query), min(limit, _MOST_HITS)
    places = _ranked(database, words, max(_CANDIDATES, limit), now)
    text = valid_text(query[: _LONGEST_SUBSTRING + 1]).strip()
    if not places and 0 < len(text) <= _LONGEST_SUBSTRING and "\0" not in text:  # Where a pattern would end.
        places, words = substring_places(database, text, max(_CANDIDATES, limit)), [text]
    chosen = _few_of_each(origins_at(database, places), places)[:limit]
    turns = turns_at(database, chosen)
    return tuple(_hit(turns[place], words) for place in chosen if place in turns)


def _ranked(database: Database, words: list[str], limit: int, now: datetime) -> list[int]:
    for every in (True, False):
        if found := dict(WORDS.find(database, words, every=every, limit=limit)):
            order = {
                place: (found[place] * _recency(moment, now), place)
                for place, (_, moment) in origins_at(database, found).items()
            }
            return sorted(order, key=order.__getitem__, reverse=True)
    return []


def _few_of_each(origins: Mapping[int, tuple[str, str]], places: list[int]) -> list[int]:
    """The places without those behind the first few of their conversation."""
    seen: Counter[str] = Counter()
    chosen = []
    for place in places:
        conversation_id, _ = origins.get(place, ("", ""))
        seen[conversation_id] += 1
        if seen[conversation_id] <= _OF_ONE_CONVERSATION:
            chosen.append(place)
    return chosen


def _recency(moment: str, now: datetime) -> float:
    try:
        age = (now - datetime.fromisoformat(moment)).total_seconds() / 86400
    except (ValueError, TypeError):
        return 1.0
    return float(1.0 + _BOOST * 0.5 ** (max(0.0, age) / _HALF_LIFE_DAYS))


def _hit(turn: Turn, words: list[str]) -> Hit:
    """The part of a turn with most of the words, around the first of them."""
    best: tuple[int, Source, str] = (-1, turn.source, "")
    for source, text in searched_parts(turn).items():
        places = [place for word in words if (place := _find(text, word)) is not None]
        if len(places) > best[0]:
            best = (len(places), source, _excerpt(text, min(places, default=0)))
    return Hit(
        conversation_id=turn.conversation_id,
        turn_id=turn.id,
        number=turn.number,
        role=turn.role,
        source=best[1],
        timestamp=turn.timestamp,
        excerpt=best[2],
    )


def _excerpt(text: str, place: int) -> str:
    begin = max(0, place - _EXCERPT // 3)
    # Blanks are merged below: read on behind them.
    shown = " ".join(text[begin : begin + 4 * _EXCERPT].split())
    cut = len(shown) > _EXCERPT or begin + 4 * _EXCERPT < len(text)
    return f"{'… ' if begin else ''}{shown[:_EXCERPT]}{' …' if cut else ''}"


def _find(text: str, word: str) -> int | None:
    """Where a word begins, whatever its case and the marks on its letters."""
    plain = text.lower()
    if len(plain) == len(text) and (place := plain.find(word.lower())) >= 0:
        return place
    if text.isascii():
        return None
    folded, places = [], []
    for place, char in enumerate(text):
        bare = _bare(char)
        folded.append(bare)
        places += [place] * len(bare)
    found = "".join(folded).find("".join(map(_bare, word)))
    return places[found] if found >= 0 else None


@cache
def _bare(char: str) -> str:
    parts = unicodedata.normalize("NFKD", char)
    return "".join(each for each in parts if not unicodedata.combining(each)).casefold()
