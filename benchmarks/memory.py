"""Ten thousand conversations: `python benchmarks/memory.py [--conversations 10000] [--turns 6] [--rounds 200]`.

Fills a memory, and then measures each of these beside the least that SQLite needs for the same, on the same texts, in
the same run and in turn:

- append: one turn, beside a bare INSERT of its text into a table and into an FTS5 table, in one synced transaction;
- search: a rare word, a common one, and three at once, beside a bare FTS5 query ordered by rank, and beside LIKE;
- a text that no word begins with, which is looked for in every turn, beside a bare LIKE;
- list: a page of fifty, beside a bare query by an index; recent: the latest turns within 4,000 tokens, the same way.

Writes a table to stdout and `memory.json` to `benchmarks/results`. Times are of this machine, ratios hold on others.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import apsw
from suite.record import machine

from coilclaw.memory import Memory, TurnDraft
from coilclaw.runs import MIGRATIONS
from coilclaw.store import Database

_FOLDER: Final = Path(__file__).resolve().parent
_WORDS: Final = 5_000
_WORDS_OF_A_TURN: Final = 80
_BARE: Final = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE said (place INTEGER PRIMARY KEY, conversation TEXT, content TEXT);
CREATE INDEX said_by ON said (conversation, place);
CREATE VIRTUAL TABLE heard USING fts5(words, content = '', tokenize = 'unicode61 remove_diacritics 2');
"""


class _Texts:
    """Sentences in which a few words are common and most are rare, the same each time."""

    def __init__(self) -> None:
        self._random = random.Random(15)
        letters = "bcdfghjklmnprstvw"
        choose = self._random.choice
        words = {"".join(choose(letters) + choose("aeiou") for _ in range(4)) for _ in range(_WORDS)}
        self.vocabulary = sorted(words)
        self._random.shuffle(self.vocabulary)
        self._weights = [1 / (rank + 1) for rank in range(len(self.vocabulary))]

    def text(self) -> str:
        return " ".join(self._random.choices(self.vocabulary, self._weights, k=_WORDS_OF_A_TURN))

    def rare(self) -> str:
        return self._random.choice(self.vocabulary[2000:])

    def common(self) -> str:
        return self._random.choice(self.vocabulary[:20])


class _Bare:
    """The same texts in SQLite alone."""

    def __init__(self, place: Path) -> None:
        self.connection = apsw.Connection(str(place))
        self.connection.execute(_BARE).fetchall()

    def append(self, conversation: str, *texts: str) -> None:
        with self.connection:
            for text in texts:
                sql = "INSERT INTO said (conversation, content) VALUES (?, ?) RETURNING place"
                ((place,),) = self.connection.execute(sql, (conversation, text)).fetchall()
                self.connection.execute("INSERT INTO heard (rowid, words) VALUES (?, ?)", (place, text))

    def search(self, query: str) -> list[Any]:
        terms = " AND ".join(f'"{word}"' for word in query.split())
        best = "SELECT rowid FROM heard WHERE heard MATCH ? ORDER BY rank LIMIT 10"
        sql = f"SELECT content FROM said WHERE place IN ({best})"
        return self.connection.execute(sql, (terms,)).fetchall()

    def like(self, text: str) -> list[Any]:
        return self.connection.execute("SELECT content FROM said WHERE content LIKE ?", (f"%{text}%",)).fetchall()

    def page(self) -> list[Any]:
        return self.connection.execute(
            "SELECT place, conversation, content FROM said ORDER BY place DESC LIMIT 50"
        ).fetchall()

    def recent(self, conversation: str) -> list[Any]:
        sql = "SELECT content FROM said WHERE conversation = ? ORDER BY place DESC LIMIT 50"
        return self.connection.execute(sql, (conversation,)).fetchall()


def _timed(job: Callable[[Any], Any], given: Any) -> float:
    began = time.perf_counter()
    job(given)
    return (time.perf_counter() - began) * 1000


def _beside(given: Sequence[Any], ours: Callable[[Any], Any], bare: Callable[[Any], Any]) -> dict[str, float]:
    """Both in turn, so that whatever else the machine does falls on both."""
    pairs = [(_timed(ours, each), _timed(bare, each)) for each in given]
    mine, theirs = ([pair[side] for pair in pairs] for side in (0, 1))
    middle, base = statistics.median(mine), statistics.median(theirs)
    return {
        "p50_ms": round(middle, 3),
        "p95_ms": round(statistics.quantiles(mine, n=20)[-1], 3),
        "bare_p50_ms": round(base, 3),
        "ratio": round(middle / base, 2),
    }


def measure(conversations: int, turns: int, rounds: int) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp(prefix=".work-", dir=_FOLDER))
    try:
        texts = _Texts()
        bare = _Bare(folder / "bare.db")
        with Database(folder / "coilclaw.db", MIGRATIONS) as database:
            memory = Memory(database)
            ids = []
            for _ in range(conversations):
                some = [texts.text() for _ in range(turns)]
                ids.append(memory.begin("cli"))
                roles = ("user", "assistant")
                memory.append(ids[-1], *(TurnDraft(role=roles[n % 2], content=text) for n, text in enumerate(some)))  # type: ignore[arg-type]
                bare.append(ids[-1], *some)
            few = max(20, rounds // 10)
            chosen = random.Random(1).choices(ids, k=rounds)
            new = [(each, texts.text()) for each in chosen]
            rare, common = [texts.rare() for _ in range(rounds)], [texts.common() for _ in range(few)]
            three = [f"{texts.common()} {texts.common()} {texts.common()}" for _ in range(few)]
            absent = [f"q{number}x" for number in range(few)]
            results = {
                "append": _beside(
                    new,
                    lambda each: memory.append(each[0], TurnDraft(role="user", content=each[1])),
                    lambda each: bare.append(*each),
                ),
                "search, a rare word": _beside(rare, memory.search, bare.search),
                "search, a common word": _beside(common, memory.search, bare.search),
                "search, three words": _beside(three, memory.search, bare.search),
                "a rare word, beside LIKE": _beside(rare[:few], memory.search, bare.like),
                "no such word, beside LIKE": _beside(absent, memory.search, bare.like),
                "list": _beside(chosen, lambda each: memory.list(), lambda each: bare.page()),
                "recent": _beside(chosen, lambda each: memory.recent(each, 4000), bare.recent),
            }
            sizes = {name: round((folder / f"{name}.db").stat().st_size / 2**20, 1) for name in ("coilclaw", "bare")}
        return {"conversations": conversations, "turns": conversations * turns, "mib": sizes, "results": results}
    finally:
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a memory of many conversations.")
    parser.add_argument("--conversations", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=200)
    chosen = parser.parse_args()
    measured = measure(chosen.conversations, chosen.turns, chosen.rounds)
    print(f"{measured['turns']} turns, {measured['mib']['coilclaw']} MiB beside {measured['mib']['bare']} MiB")
    print(f"{'':<28}{'p50 ms':>10}{'p95 ms':>10}{'bare':>10}{'ratio':>8}")
    for name, each in measured["results"].items():
        print(f"{name:<28}{each['p50_ms']:>10}{each['p95_ms']:>10}{each['bare_p50_ms']:>10}{each['ratio']:>8}")
    (_FOLDER / "results" / "memory.json").write_text(json.dumps({"machine": machine(), **measured}, indent=2) + "\n")


if __name__ == "__main__":
    main()
