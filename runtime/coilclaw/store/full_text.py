"""An index of words over the rows of a table. SQLite spells it FTS5; PostgreSQL would use a column of type tsvector.

The index keeps words and no text. Whoever owns the table adds to it and clears it in the transactions of the table.
Scripts that put no blanks between words are indexed by the character, so that any part of a sentence is found.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from coilclaw.store.database import Database

__all__ = ["FoundRow", "FullTextIndex", "words_of"]

_MOST_WORDS: Final = 32
_LONGEST_QUERY: Final = 1000
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Characters of Chinese, Japanese, Korean, Thai, Lao, Burmese and Khmer."""


class FoundRow(NamedTuple):
    """A row that fits a query."""

    place: int
    relevance: float
    """More is better; only to be compared within one query."""


class FullTextIndex:
    """The index called `name`. Rows are known by whole numbers, their places."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create(self, connection: Any) -> None:
        connection.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {self._name} USING fts5("
            "words, content = '', prefix = '2 3', tokenize = 'unicode61 remove_diacritics 2')"
        )

    def add(self, connection: Any, place: int, text: str) -> None:
        connection.execute(
            f"INSERT INTO {self._name} (rowid, words) VALUES (?, ?)",  # noqa: S608
            (place, _spaced(text)),
        )

    def clear(self, connection: Any) -> None:
        connection.execute(f"INSERT INTO {self._name} ({self._name}) VALUES ('delete-all')")  # noqa: S608

    def find(self, database: Database, words: list[str], *, every: bool, limit: int) -> list[FoundRow]:
        """Return rows with every word, or with any: the most relevant and the latest, so many of each.

        A word stands for all that begin with it. Nothing in a word is an operator.
        """
        phrases = [f'"{_spaced(word).strip()}" *' for word in words]
        if not phrases:
            return []
        query = (" AND " if every else " OR ").join(phrases)
        found: dict[int, float] = {}
        for order in ("rank", "rowid DESC"):
            sql = f"SELECT rowid, -rank FROM {self._name} WHERE {self._name} MATCH ? ORDER BY {order} LIMIT ?"  # noqa: S608
            found.update(database.read(sql, (query, limit)))
        return [FoundRow(place, relevance) for place, relevance in found.items()]


def words_of(query: str) -> list[str]:
    """Return the words of a query, each once: letters, digits and the marks on them, whatever else is in it."""
    kept = "".join(char if _is_of_a_word(char) else " " for char in query[:_LONGEST_QUERY])
    return list(dict.fromkeys(kept.split()))[:_MOST_WORDS]


def _is_of_a_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char).startswith("M")


def _spaced(text: str) -> str:
    return _UNSPACED.sub(r" \g<0> ", text)
