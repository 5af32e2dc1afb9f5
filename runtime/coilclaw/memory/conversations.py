"""The table of conversations: where each takes place, how many turns it has, and what a suspended exchange needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from coilclaw.memory.documents import valid_text
from coilclaw.memory.errors import NoSuchConversation
from coilclaw.sdk.frozen import Frozen
from coilclaw.store import KEYED, cursor_at, position_of

if TYPE_CHECKING:
    from coilclaw.store import Database

__all__ = [
    "AMBIENT",
    "CONVERSATIONS",
    "Conversation",
    "ConversationPage",
    "add_conversation",
    "ambient_conversation",
    "clear_conversations",
    "count_conversations",
    "count_turns",
    "find_conversation",
    "list_conversations",
    "pending_text",
    "set_ambient",
    "set_pending",
]

CONVERSATIONS: Final = f"""
    CREATE TABLE IF NOT EXISTS conversations (
        conversation_id TEXT PRIMARY KEY,
        channel TEXT NOT NULL,
        agent TEXT,
        project TEXT,
        title TEXT NOT NULL,
        started_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        turns INTEGER NOT NULL,
        pending TEXT
    ) {KEYED};
    CREATE INDEX IF NOT EXISTS conversations_by_time ON conversations (updated_at, conversation_id);
"""

AMBIENT: Final = f"""
    CREATE TABLE IF NOT EXISTS ambient_conversations (
        project TEXT NOT NULL,
        agent TEXT NOT NULL,
        conversation_id TEXT NOT NULL,
        PRIMARY KEY (project, agent)
    ) {KEYED};
"""
"""The one conversation of a project and an agent that is there without being begun by anybody."""

_COLUMNS: Final = "conversation_id, channel, agent, project, title, started_at, updated_at, turns, pending IS NOT NULL"
_NAMES: Final = tuple(name.strip() for name in _COLUMNS.replace("pending IS NOT NULL", "is_waiting").split(","))


class Conversation(Frozen):
    """A conversation without its turns."""

    conversation_id: str
    channel: str
    agent: str | None = None
    project: str | None = None
    title: str = ""
    """The beginning of the first thing a person said in it."""
    started_at: str
    updated_at: str
    turns: int = 0
    is_waiting: bool = False
    """Whether an exchange of it is suspended."""

    def facts(self) -> dict[str, Any]:
        """The conversation as JSON data."""
        return asdict(self)


class ConversationPage(Frozen):
    """Some conversations, the latest first, and the cursor of those that follow; None if there are none."""

    conversations: Sequence[Conversation]
    cursor: str | None

    def __iter__(self) -> Iterator[Conversation]:
        return iter(self.conversations)

    def __len__(self) -> int:
        return len(self.conversations)


def add_conversation(connection: Any, made: Conversation) -> None:
    connection.execute(
        "INSERT INTO conversations (conversation_id, channel, agent, project, title, started_at, updated_at, turns) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        tuple(getattr(made, name) for name in _NAMES[:-1]),
    )


def count_turns(connection: Any, conversation_id: str, added: int, *, title: str, moment: str) -> int:
    """Count turns that are being added, and return how many there were before. Raises NoSuchConversation."""
    rows = list(
        connection.execute(
            "UPDATE conversations SET turns = turns + ?, updated_at = ?, "
            "title = CASE WHEN title = '' THEN ? ELSE title END WHERE conversation_id = ? RETURNING turns",
            (added, moment, title, valid_text(conversation_id)),
        )
    )
    if not rows:
        raise _no_such(conversation_id)
    return int(rows[0][0]) - added


def pending_text(execute: Callable[..., Iterable[tuple[Any, ...]]], conversation_id: str) -> str | None:
    """Return the document of a suspended exchange as it is kept. Raises NoSuchConversation."""
    rows = list(execute("SELECT pending FROM conversations WHERE conversation_id = ?", (valid_text(conversation_id),)))
    if not rows:
        raise _no_such(conversation_id)
    text: str | None = rows[0][0]
    return text


def set_pending(connection: Any, conversation_id: str, text: str | None) -> None:
    connection.execute("UPDATE conversations SET pending = ? WHERE conversation_id = ?", (text, conversation_id))


def clear_conversations(connection: Any) -> int:
    """Remove all of them; how many there were."""
    ((count,),) = connection.execute("SELECT COUNT(*) FROM conversations")
    connection.execute("DELETE FROM conversations")
    connection.execute("DELETE FROM ambient_conversations")
    return int(count)


def ambient_conversation(connection: Any, project: str, agent: str | None) -> str | None:
    """Return the id of the ambient conversation of a project and an agent, if it was begun."""
    rows = list(
        connection.execute(
            "SELECT conversation_id FROM ambient_conversations WHERE project = ? AND agent = ?", (project, agent or "")
        )
    )
    return rows[0][0] if rows else None


def set_ambient(connection: Any, made: Conversation) -> None:
    connection.execute(
        "INSERT INTO ambient_conversations (project, agent, conversation_id) VALUES (?, ?, ?)",
        (made.project, made.agent or "", made.conversation_id),
    )


def find_conversation(database: Database, conversation_id: str) -> Conversation:
    """Return a conversation by its id. Raises NoSuchConversation."""
    sql = f"SELECT {_COLUMNS} FROM conversations WHERE conversation_id = ?"  # noqa: S608
    rows = database.read(sql, (valid_text(conversation_id),))
    if not rows:
        raise _no_such(conversation_id)
    return _conversation(rows[0])


def count_conversations(database: Database) -> int:
    """Return how many conversations there are."""
    ((count,),) = database.read("SELECT count(*) FROM conversations")
    return int(count)


def list_conversations(
    database: Database, *, channel: str | None, project: str | None, limit: int, cursor: str | None
) -> ConversationPage:
    """Return conversations, the latest first: all of them, or those of one channel or one project."""
    wanted: list[tuple[str, tuple[str, ...]]] = []
    if cursor is not None:
        moment, _, conversation_id = position_of("conversations", cursor).partition(" ")
        wanted.append(("(updated_at, conversation_id) < (?, ?)", (moment, conversation_id)))
    if channel is not None:
        wanted.append(("channel = ?", (channel,)))
    if project is not None:
        wanted.append(("project = ?", (project,)))
    where = f"WHERE {' AND '.join(text for text, _ in wanted)}" if wanted else ""
    rows = database.read(
        f"SELECT {_COLUMNS} FROM conversations {where} ORDER BY updated_at DESC, conversation_id DESC LIMIT ?",  # noqa: S608
        (*(value for _, values in wanted for value in values), limit + 1),
    )
    page = [_conversation(row) for row in rows[:limit]]
    following = page and len(rows) > limit
    last = f"{page[-1].updated_at} {page[-1].conversation_id}" if following else ""
    return ConversationPage(conversations=page, cursor=cursor_at("conversations", last) if following else None)


def _conversation(row: tuple[Any, ...]) -> Conversation:
    values: dict[str, Any] = dict(zip(_NAMES, row, strict=True))
    return Conversation(**{**values, "is_waiting": bool(values["is_waiting"])})


def _no_such(conversation_id: str) -> NoSuchConversation:
    return NoSuchConversation(
        f"there is no conversation {conversation_id[:100]!r}", hint="`coilclaw memory list` shows conversations"
    )
