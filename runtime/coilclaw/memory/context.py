"""The recent part of a conversation that fits into a budget of tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from coilclaw.memory.documents import cut_text, dump, with_short_texts
from coilclaw.memory.turns import Turn, latest_turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coilclaw.store import Database

__all__ = ["estimated_tokens", "recent_turns"]

_PAGE: Final = 50
_BYTES_OF_A_TOKEN: Final = 3
"""On the safe side: English has about four, Chinese three, code between two and four."""
_OF_EACH_TURN: Final = 8
"""Tokens beside its text."""
_SHARE: Final = 4
"""No text of a turn takes more than this part of the budget."""


def recent_turns(database: Database, conversation_id: str, tokens: int) -> tuple[Turn, ...]:
    """Return the latest turns within the budget, in order.

    They begin with a turn of the role user, so that no call stands there without its result. A text that would take
    most of the budget is cut, and says so.
    """
    longest = max(1, tokens * _BYTES_OF_A_TOKEN // _SHARE)
    kept: list[Turn] = []
    exchange: list[Turn] = []
    left = tokens
    for turn in _backwards(database, conversation_id):
        short = _shortened(turn, longest)
        left -= estimated_tokens(short)
        if left < 0:
            break
        exchange.append(short)
        if turn.role == "user":
            kept += exchange
            exchange = []
    return tuple(reversed(kept))


def estimated_tokens(turn: Turn) -> int:
    """Return about how many tokens a turn takes in a prompt: rather too many than too few."""
    size = len(turn.content.encode("utf-8", "replace")) + sum(
        len(dump(document)) for document in (turn.tool_calls, turn.tool_results) if document
    )
    return _OF_EACH_TURN + -(-size // _BYTES_OF_A_TOKEN)


def _shortened(turn: Turn, longest: int) -> Turn:
    """Cut by characters, of which those beyond ASCII take more than one byte: counted in bytes they may be too long,
    and end the context earlier than need be."""
    return replace(
        turn, content=cut_text(turn.content, longest), tool_results=with_short_texts(turn.tool_results, longest)
    )


def _backwards(database: Database, conversation_id: str) -> Iterator[Turn]:
    before = 2**31
    while turns := latest_turns(database, conversation_id, before=before, limit=_PAGE):
        yield from turns
        before = turns[-1].number
