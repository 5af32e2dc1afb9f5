"""The table of turns: what a person said, what a model answered, and what tools gave, each with its source."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, fields
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from coilclaw.memory.documents import (
    Redact,
    kept_calls,
    kept_content,
    kept_object,
    kept_results,
    load,
    texts_in,
    valid_text,
)
from coilclaw.memory.errors import BadTurn
from coilclaw.sdk.frozen import Frozen
from coilclaw.store import BadCursor, FullTextIndex, cursor_at, position_of

if TYPE_CHECKING:
    from coilclaw.store import Database

__all__ = [
    "TURNS",
    "WORDS",
    "KeptDraft",
    "Role",
    "Source",
    "Turn",
    "TurnDraft",
    "TurnPage",
    "add_turn",
    "clear_turns",
    "find_message",
    "kept_draft",
    "latest_turns",
    "list_turns",
    "message_turns",
    "origins_at",
    "searched_parts",
    "substring_places",
    "turn_numbers",
    "turns_at",
]

Role: TypeAlias = Literal["user", "assistant", "tool"]
Source: TypeAlias = Literal["person", "model", "tool"]

_SOURCES: Final[Mapping[str, tuple[Source, ...]]] = {
    "user": ("person", "model", "tool"),
    "assistant": ("model",),
    "tool": ("tool",),
}
"""Who a turn of each role may come from; the first unless its draft says. Nothing else may pass for a person."""
_LONGEST_NUMBER: Final = 15
_AT_ONCE: Final = 500
"""Values in one query."""
_HIGHEST: Final = 10**_LONGEST_NUMBER
"""No turn has a number as high."""
_INDEXED: Final = 256 * 1024
"""Characters of a turn that can be searched for."""

TURNS: Final = """
    CREATE TABLE IF NOT EXISTS turns (
        place INTEGER PRIMARY KEY,
        turn_id TEXT NOT NULL UNIQUE,
        conversation_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        timestamp TEXT NOT NULL,
        role TEXT NOT NULL,
        source TEXT NOT NULL,
        content TEXT NOT NULL,
        tool_calls TEXT NOT NULL,
        tool_results TEXT NOT NULL,
        provider TEXT,
        model TEXT,
        metadata TEXT NOT NULL,
        UNIQUE (conversation_id, number)
    );
"""
WORDS: Final = FullTextIndex("turn_words")
"""The words of turns, by the places of their rows."""

_COLUMNS: Final = (
    "turn_id, conversation_id, number, timestamp, role, source, content, tool_calls, tool_results, "
    "provider, model, metadata"
)


class TurnDraft(Frozen):
    """A turn that is not kept yet. Its number, its id and its time come with that."""

    role: Role
    content: str = ""
    source: Source | None = None
    """Who it comes from: by default the person, the model or the tool that the role stands for."""
    tool_calls: Sequence[Any] = ()
    tool_results: Sequence[Any] = ()
    provider: str | None = None
    model: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what would let one source pass for another."""
        if self.source not in (None, *_SOURCES.get(self.role, ())) or self.role not in _SOURCES:
            raise BadTurn(f"there is no turn of the role {self.role!r} and the source {self.source!r}")
        if not isinstance(self.content, str):
            raise BadTurn("the content of a turn is text")


class Turn(Frozen):
    """One entry of a conversation. Its content is what someone said at the time: data, and no instruction."""

    id: str
    conversation_id: str
    number: int
    """From 1, without gaps."""
    timestamp: str
    role: Role
    source: Source
    content: str
    tool_calls: list[Any]
    tool_results: list[Any]
    provider: str | None
    model: str | None
    metadata: dict[str, Any]

    def facts(self) -> dict[str, Any]:
        """The turn as JSON data."""
        facts = {each.name: getattr(self, each.name) for each in fields(self)}
        return {"turn_id": facts.pop("id"), **facts}


class TurnPage(Frozen):
    """Some turns, in order, and the cursor of those that follow; None if there are none."""

    turns: Sequence[Turn]
    cursor: str | None

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.turns)

    def __len__(self) -> int:
        return len(self.turns)


class KeptDraft(Frozen):
    """A draft in the form in which it is kept: redacted, bounded, and as text."""

    columns: tuple[str | None, ...]
    """From `role` on."""
    words: str


def kept_draft(draft: TurnDraft, redact: Redact) -> KeptDraft:
    """Bring a draft into the form in which it is kept. Raises BadTurn."""
    columns = (
        draft.role,
        draft.source or _SOURCES[draft.role][0],
        kept_content(draft.content, redact),
        kept_calls(draft.tool_calls, redact),
        kept_results(draft.tool_results, redact),
        *(None if name is None else kept_content(name, redact) for name in (draft.provider, draft.model)),
        kept_object(draft.metadata, redact, name="metadata"),
    )
    parts = searched_parts(_turn(("", "", 0, "", *columns)))
    return KeptDraft(columns=columns, words="\n".join(parts.values())[:_INDEXED])


def add_turn(connection: Any, kept: KeptDraft, *, turn_id: str, conversation_id: str, number: int, moment: str) -> Turn:
    """Write a turn, and its words to the index. The caller has counted it."""
    row = (turn_id, conversation_id, number, moment, *kept.columns)
    ((place,),) = connection.execute(
        f"INSERT INTO turns (place, {_COLUMNS}) "  # noqa: S608
        "VALUES ((SELECT COALESCE(MAX(place), 0) + 1 FROM turns), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING place",
        row,
    )
    WORDS.add(connection, place, kept.words)
    return _turn(row)


def searched_parts(turn: Turn) -> dict[Source, str]:
    """The text of a turn that can be searched for, by who it comes from."""
    parts: dict[Source, str] = {turn.source: turn.content}
    documents: tuple[tuple[Source, list[Any]], ...] = (("model", turn.tool_calls), ("tool", turn.tool_results))
    for source, document in documents:
        if text := "\n".join(islice(texts_in(document), 10_000)):
            parts[source] = f"{parts[source]}\n{text}" if source in parts else text
    return parts


def clear_turns(connection: Any) -> int:
    """Remove all of them, and their words; how many there were."""
    ((count,),) = connection.execute("SELECT COUNT(*) FROM turns")
    connection.execute("DELETE FROM turns")
    WORDS.clear(connection)
    return int(count)


def list_turns(database: Database, conversation_id: str, *, limit: int, cursor: str | None) -> TurnPage:
    """Return turns of a conversation, in order."""
    after = _number(conversation_id, cursor)
    rows = database.read(
        f"SELECT {_COLUMNS} FROM turns WHERE conversation_id = ? AND number > ? ORDER BY number LIMIT ?",  # noqa: S608
        (conversation_id, after, limit + 1),
    )
    page = [_turn(row) for row in rows[:limit]]
    following = page and len(rows) > limit
    cursor = cursor_at(_list_of(conversation_id), str(page[-1].number)) if following else None
    return TurnPage(turns=page, cursor=cursor)


def latest_turns(database: Database, conversation_id: str, *, before: int, limit: int) -> list[Turn]:
    """Return turns of a conversation with lower numbers than `before`, the latest first."""
    return [
        _turn(row)
        for row in database.read(
            f"SELECT {_COLUMNS} FROM turns WHERE conversation_id = ? AND number < ? ORDER BY number DESC LIMIT ?",  # noqa: S608
            (conversation_id, before, limit),
        )
    ]


_IS_MESSAGE: Final = "((role = 'user' AND source <> 'tool') OR (role = 'assistant' AND tool_calls = '[]'))"
"""A condition in SQL: what a person said, or an answer; no reply that asks for tools, and no data for a message."""


def message_turns(database: Database, conversation_id: str, *, limit: int, before: int | None) -> tuple[Turn, ...]:
    """Return the latest messages of a conversation, in order."""
    rows = database.read(
        f"SELECT {_COLUMNS} FROM turns WHERE conversation_id = ? AND number < ? AND {_IS_MESSAGE} "  # noqa: S608
        "ORDER BY number DESC LIMIT ?",
        (conversation_id, _HIGHEST if before is None else before, limit),
    )
    return tuple(_turn(row) for row in reversed(rows))


def find_message(database: Database, conversation_id: str, turn_id: str) -> tuple[Turn, Turn | None] | None:
    """Return a person's message and its answer, if it has one; None if there is no such message here."""
    rows = database.read(
        f"SELECT {_COLUMNS} FROM turns WHERE turn_id = ? AND conversation_id = ? "  # noqa: S608
        "AND role = 'user' AND source <> 'tool'",
        (valid_text(turn_id), valid_text(conversation_id)),
    )
    if not rows:
        return None
    said = _turn(rows[0])
    following = database.read(
        f"SELECT {_COLUMNS} FROM turns WHERE conversation_id = ? AND number > ? AND {_IS_MESSAGE} "  # noqa: S608
        "ORDER BY number LIMIT 1",
        (conversation_id, said.number),
    )
    answer = _turn(following[0]) if following else None
    return said, answer if answer is not None and answer.role == "assistant" else None


def origins_at(database: Database, places: Collection[int]) -> dict[int, tuple[str, str]]:
    """Return the conversation and the time of the turns in some places, without reading what is in them."""
    sql = f"SELECT place, conversation_id, timestamp FROM turns WHERE place IN ({_marks(places)})"  # noqa: S608
    return {place: (conversation_id, moment) for place, conversation_id, moment in database.read(sql, tuple(places))}


def turns_at(database: Database, places: Collection[int]) -> dict[int, Turn]:
    """Return the turns in some places."""
    sql = f"SELECT place, {_COLUMNS} FROM turns WHERE place IN ({_marks(places)})"  # noqa: S608
    rows = database.read(sql, tuple(places))
    return {place: _turn(row) for place, *row in rows}


def substring_places(database: Database, text: str, limit: int) -> list[int]:
    """Return the places of the latest turns whose content has this text in it, reading every one."""
    pattern = "".join(f"\\{char}" if char in "\\%_" else char for char in text.lower())
    rows = database.read(
        "SELECT place FROM turns WHERE LOWER(content) LIKE ? ESCAPE '\\' ORDER BY place DESC LIMIT ?",
        (f"%{pattern}%", limit),
    )
    return [place for (place,) in rows]


def turn_numbers(database: Database, conversation_id: str, turn_ids: Collection[str]) -> dict[str, int]:
    """Return the numbers of those turns of a conversation that have one of these ids."""
    found: dict[str, int] = {}
    ids = sorted(turn_ids)
    for first in range(0, len(ids), _AT_ONCE):
        some = ids[first : first + _AT_ONCE]
        sql = f"SELECT turn_id, number FROM turns WHERE conversation_id = ? AND turn_id IN ({_marks(some)})"  # noqa: S608
        found.update(database.read(sql, (conversation_id, *some)))
    return found


def _marks(values: Collection[Any]) -> str:
    return ", ".join("?" for _ in values)


def _number(conversation_id: str, cursor: str | None) -> int:
    position = "0" if cursor is None else position_of(_list_of(conversation_id), cursor)
    if not position.isdecimal() or len(position) > _LONGEST_NUMBER:
        raise BadCursor(f"{position[:100]!r} is not the number of a turn", hint="begin again without a cursor")
    return int(position)


def _list_of(conversation_id: str) -> str:
    return f"turns/{conversation_id}"


def _turn(row: Sequence[Any]) -> Turn:
    turn_id, conversation_id, number, timestamp, role, source, content, calls, results, provider, model, metadata = row
    return Turn(
        id=turn_id,
        conversation_id=conversation_id,
        number=number,
        timestamp=timestamp,
        role=role if role in _SOURCES else "tool",
        source=source if source in get_args(Source) else "tool",  # The one that nothing is taken from on trust.
        content=content,
        tool_calls=load(calls, list),
        tool_results=load(results, list),
        provider=provider,
        model=model,
        metadata=load(metadata, dict),
    )
