"""The recent part of a conversation that fits into a budget of tokens."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from coilclaw.memory.documents import cut_text, with_short_texts
from coilclaw.memory.turns import Turn, latest_turns
from coilclaw.sdk.tokens import estimated_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coilclaw.store import Database

__all__ = ["latest_exchange", "recent_turns", "turn_tokens"]

_PAGE: Final = 50
_OF_EACH_TURN: Final = 8
"""Tokens beside its text."""


def latest_exchange(database: Database, conversation_id: str) -> tuple[Turn, ...]:
    """Return the latest turn of the role user and all that follow it, whole and in order."""
    turns: list[Turn] = []
    for turn in _backwards(database, conversation_id):
        turns.append(turn)
        if turn.role == "user":
            return tuple(reversed(turns))
    return ()


def recent_turns(database: Database, conversation_id: str, tokens: int, before: int | None = None) -> tuple[Turn, ...]:
    """Return the latest turns within the budget, in order: of all, or of those with lower numbers than `before`.

    They begin with a turn of the role user, so that no call stands there without its result. A text that would take
    most of the budget is cut, and says so. Where not even the latest exchange fits, what the user said and how it
    ended are returned, without the calls in between.
    """
    longest = tokens * 3 // 4  # Bytes: a text of so many leaves room for others, whatever is in it.
    kept: list[Turn] = []
    exchange: list[Turn] = []
    left = tokens
    for turn in _backwards(database, conversation_id, before):
        short = _shortened(turn, longest)
        left -= turn_tokens(short)
        if left < 0 and kept:
            break
        exchange.append(short)
        if turn.role == "user":
            kept += exchange if left >= 0 else _outline(exchange, tokens)
            exchange = []
        if left < 0 and (kept or turn.role == "user"):
            break
    return tuple(reversed(kept))


def turn_tokens(turn: Turn) -> int:
    """Return about how many tokens a turn takes in a prompt."""
    documents = [json.dumps(each, ensure_ascii=False) for each in (turn.tool_calls, turn.tool_results) if each]
    return _OF_EACH_TURN + sum(map(estimated_tokens, (turn.content, *documents)))


def _outline(exchange: list[Turn], tokens: int) -> list[Turn]:
    """The ends of an exchange that does not fit, latest first: as much of them as does."""
    last, first = exchange[0], exchange[-1]
    ends = [last, first] if last.role == "assistant" and not last.tool_calls else [first]
    while ends and sum(map(turn_tokens, ends)) > tokens:
        ends = ends[1:]
    return ends


def _shortened(turn: Turn, longest: int) -> Turn:
    """The turn with texts of at most about so many bytes."""
    return replace(
        turn,
        content=cut_text(turn.content, _characters(turn.content, longest)),
        tool_results=with_short_texts(turn.tool_results, longest),
    )


def _characters(text: str, longest: int) -> int:
    """How many characters of the text take so many bytes."""
    return longest if text.isascii() else len(text.encode("utf-8", "replace")[:longest].decode("utf-8", "ignore"))


def _backwards(database: Database, conversation_id: str, before: int | None = None) -> Iterator[Turn]:
    before = before or 2**31
    while turns := latest_turns(database, conversation_id, before=before, limit=_PAGE):
        yield from turns
        before = turns[-1].number
