"""Memory: every conversation of a home, kept in the database of the receipts."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coilclaw.memory.context import latest_exchange, recent_turns
from coilclaw.memory.conversations import (
    AMBIENT,
    CONVERSATIONS,
    Conversation,
    ConversationPage,
    add_conversation,
    ambient_conversation,
    clear_conversations,
    count_conversations,
    count_turns,
    find_conversation,
    list_conversations,
    pending_text,
    set_ambient,
    set_pending,
)
from coilclaw.memory.documents import LARGEST_PENDING, Redact, kept_content, kept_object, load, valid_text
from coilclaw.memory.errors import NoSuchMessage, PendingChanged
from coilclaw.memory.search import Hit, search_turns
from coilclaw.memory.sop_runs import clear_answers
from coilclaw.memory.turns import (
    TURNS,
    WORDS,
    KeptDraft,
    Turn,
    TurnDraft,
    TurnPage,
    add_turn,
    clear_turns,
    find_message,
    kept_draft,
    list_turns,
    message_turns,
    turn_numbers,
)
from coilclaw.sdk.credential_shapes import CREDENTIAL_MARK
from coilclaw.sdk.frozen import Frozen
from coilclaw.store import checked_limit

if TYPE_CHECKING:
    from coilclaw.store import Database

__all__ = ["Cleared", "Memory", "create_ambient_table", "create_tables"]

_logger: Final = logging.getLogger(__name__)
_TITLE: Final = 80
"""Characters."""
_TAKEN_OUT: Final = (
    "something in your message looks like a credential, and is neither kept nor sent to a model; "
    "`coilclaw secret set NAME` keeps one for the tools that declare NAME"
)


def create_tables(connection: Any) -> None:
    """Make the tables of conversations and turns, and the index of their words."""
    connection.execute(CONVERSATIONS)
    connection.execute(TURNS)
    WORDS.create(connection)


def create_ambient_table(connection: Any) -> None:
    """Make the table of the conversations that projects have by themselves."""
    connection.execute(AMBIENT)


class Cleared(Frozen):
    """How much was removed."""

    conversations: int
    turns: int


class Memory:
    """Conversations and their turns. Thread-safe, and shared with other processes that use the same file.

    Each method that writes is one transaction: a process that dies leaves a conversation with all of it or nothing.
    `redaction` is asked at each of them for a function that replaces secrets in a text; everything that is kept has
    passed it.
    """

    def __init__(self, database: Database, *, redaction: Callable[[], Redact] = lambda: lambda text: text) -> None:
        self._database = database
        self._redaction = redaction

    # Writing ---------------------------------------------------------------------------------------------

    def begin(self, channel: str, *, agent: str | None = None, project: str | None = None) -> str:
        """Begin a conversation without turns, and return its id."""
        made = _conversation(channel, agent, project)
        with self._database.transaction() as connection:
            add_conversation(connection, made)
        return _begun(made)

    def ambient(self, channel: str, *, project: str, agent: str | None = None) -> str:
        """Return the id of the one conversation that a project has with an agent by itself; begun if it is missing.

        However many ask at once, in any process, it is begun once.
        """
        made = _conversation(channel, agent, project)
        with self._database.transaction() as connection:
            known = ambient_conversation(connection, project, agent)
            if known is not None:
                return known
            add_conversation(connection, made)
            set_ambient(connection, made)
        return _begun(made)

    def append(self, conversation_id: str, *drafts: TurnDraft) -> tuple[Turn, ...]:
        """Add turns to a conversation, all of them or none, and return them as they are kept.

        Raises NoSuchConversation, also if the memory was cleared meanwhile, and BadTurn.
        """
        kept = _kept(drafts, self._redaction())  # Before the transaction: it may take long, or wait for locks.
        with self._database.transaction() as connection:
            turns = _append(connection, conversation_id, kept)
        return _told(turns)

    def suspend(
        self,
        conversation_id: str,
        document: Mapping[str, Any],
        *drafts: TurnDraft,
        instead_of: Mapping[str, Any] | None = None,
    ) -> tuple[Turn, ...]:
        """Add turns, and keep with the conversation the JSON object that its suspended exchange needs to be resumed.

        `instead_of` is the object that was there before, as `pending` returned it; by default there was none. Raises
        PendingChanged if another one is there.
        """
        return self._change_pending(conversation_id, instead_of, document, drafts)

    def settle(self, conversation_id: str, document: Mapping[str, Any], *drafts: TurnDraft) -> tuple[Turn, ...]:
        """Add turns, and remove the object of the suspended exchange, as `pending` returned it.

        Of several processes that resumed the same turn, one succeeds; the others raise PendingChanged.
        """
        return self._change_pending(conversation_id, document, None, drafts)

    def clear(self) -> Cleared:
        """Remove every conversation, and overwrite what the file held of them. Receipts stay.

        What agents answered in steps of SOPs goes, too; SOP runs that were not over are cancelled by that.
        """
        with self._database.transaction(overwriting=True) as connection:
            clear_answers(connection)
            cleared = Cleared(turns=clear_turns(connection), conversations=clear_conversations(connection))
        self._database.shrink(always=True)
        return cleared

    # Reading ---------------------------------------------------------------------------------------------

    def show(self, conversation_id: str) -> Conversation:
        """Return a conversation without its turns. Raises NoSuchConversation."""
        return find_conversation(self._database, conversation_id)

    def pending(self, conversation_id: str) -> dict[str, Any] | None:
        """Return the object that a suspended exchange needs to be resumed; None if none is suspended."""
        text = pending_text(self._database.read, conversation_id)
        return None if text is None else load(text, dict)

    def count(self) -> int:
        """Return how many conversations there are."""
        return count_conversations(self._database)

    def list(
        self,
        *,
        channel: str | None = None,
        project: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> ConversationPage:
        """Return conversations, the latest first. The page's `cursor` is that of the next page."""
        return list_conversations(
            self._database, channel=channel, project=project, limit=checked_limit(limit), cursor=cursor
        )

    def turns(self, conversation_id: str, *, limit: int = 100, cursor: str | None = None) -> TurnPage:
        """Return turns of a conversation, in order. Raises NoSuchConversation."""
        self.show(conversation_id)
        return list_turns(self._database, conversation_id, limit=checked_limit(limit), cursor=cursor)

    def messages(self, conversation_id: str, *, limit: int = 100, before: int | None = None) -> tuple[Turn, ...]:
        """Return the latest messages of a conversation, in order: what people said, and the answers.

        Replies that ask for tools, and the results of those, are left out. With `before`, they are the latest of those
        with lower numbers. Raises NoSuchConversation.
        """
        self.show(conversation_id)
        return message_turns(self._database, conversation_id, limit=checked_limit(limit), before=before)

    def message(self, conversation_id: str, message_id: str) -> tuple[Turn, Turn | None]:
        """Return a person's message in a conversation, and its answer if it has one. Raises NoSuchMessage."""
        found = find_message(self._database, conversation_id, message_id)
        if found is None:
            raise NoSuchMessage(conversation_id, message_id)
        return found

    def recent(self, conversation_id: str, tokens: int, *, before: int | None = None) -> tuple[Turn, ...]:
        """Return the latest turns that take about so many tokens in a prompt, in order, beginning with a user's.

        With `before`, they are the latest of those with lower numbers.
        """
        self.show(conversation_id)
        return recent_turns(self._database, conversation_id, tokens, before)

    def latest_exchange(self, conversation_id: str) -> tuple[Turn, ...]:
        """Return the latest turn of the role user and all that follow it, however large, in order."""
        self.show(conversation_id)
        return latest_exchange(self._database, conversation_id)

    def turn_numbers(self, conversation_id: str, turn_ids: Collection[str]) -> dict[str, int]:
        """Return the numbers of those turns of a conversation that have one of these ids."""
        return turn_numbers(self._database, conversation_id, turn_ids)

    def search(self, query: str, *, limit: int = 10) -> tuple[Hit, ...]:
        """Return the turns that fit some words, best first; a few of each conversation, and at most a thousand.

        Any text is a query: nothing in it is an operator.
        """
        return search_turns(self._database, query, limit=checked_limit(limit), now=datetime.now(UTC))

    # Inside ----------------------------------------------------------------------------------------------

    def _change_pending(
        self,
        conversation_id: str,
        old: Mapping[str, Any] | None,
        new: Mapping[str, Any] | None,
        drafts: tuple[TurnDraft, ...],
    ) -> tuple[Turn, ...]:
        redact = self._redaction()
        expected, pending = (
            None if each is None else kept_object(each, redact, name="pending", largest=LARGEST_PENDING)
            for each in (old, new)
        )
        kept = _kept(drafts, redact)
        with self._database.transaction() as connection:
            if pending_text(connection.execute, conversation_id) != expected:
                raise PendingChanged(
                    f"the suspended exchange of {conversation_id} is not the one that was found",
                    hint="another process has resumed it; look at the conversation again",
                )
            set_pending(connection, conversation_id, pending)
            turns = _append(connection, conversation_id, kept)
        return _told(turns)


def _told(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    for turn in turns:
        facts = {"conversation": turn.conversation_id, "turn": turn.id, "role": turn.role}
        _logger.info("memory.persisted", extra={"event": facts})
    return turns


class _Kept(NamedTuple):
    drafts: list[KeptDraft]
    title: str
    """For a conversation that has none yet."""


def _kept(drafts: tuple[TurnDraft, ...], redact: Redact) -> _Kept:
    said = next((each.content for each in drafts if each.role == "user" and each.source in (None, "person")), "")
    content = kept_content(said, redact)
    if content.count(CREDENTIAL_MARK) > said.count(CREDENTIAL_MARK):
        _logger.warning(_TAKEN_OUT)
    title = " ".join(content[: 4 * _TITLE].split())[:_TITLE]
    return _Kept([kept_draft(each, redact) for each in drafts], title)


def _append(connection: Any, conversation_id: str, kept: _Kept) -> tuple[Turn, ...]:
    moment = _now()
    before = count_turns(connection, conversation_id, len(kept.drafts), title=kept.title, moment=moment)
    return tuple(
        add_turn(
            connection,
            draft,
            turn_id=_new_id("turn"),
            conversation_id=conversation_id,
            number=number,
            moment=moment,
        )
        for number, draft in enumerate(kept.drafts, start=before + 1)
    )


def _conversation(channel: str, agent: str | None, project: str | None) -> Conversation:
    moment = _now()
    return Conversation(
        conversation_id=_new_id("conversation"),
        channel=valid_text(channel),
        agent=None if agent is None else valid_text(agent),
        project=None if project is None else valid_text(project),
        started_at=moment,
        updated_at=moment,
    )


def _begun(made: Conversation) -> str:
    facts = {"conversation": made.conversation_id, "channel": made.channel}
    _logger.info("conversation.started", extra={"event": facts})
    return made.conversation_id


def _new_id(kind: str) -> str:
    return f"{kind}-{time.time_ns() // 1_000_000:011x}{secrets.token_hex(5)}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
