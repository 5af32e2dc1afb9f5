"""What was done for each answer of a conversation, from receipts: memory says only which turns belong to it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from coilclaw.evidence import relevant
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coilclaw.agent import ConversationActivity
    from coilclaw.app import CoilClaw
    from coilclaw.memory import Turn

__all__ = ["AnswerWork", "AnswerWorks"]

_MOST_KNOWN: Final = 100
"""Conversations whose receipts are not read again from the beginning of the log."""


class AnswerWork(Frozen):
    """The runs of one exchange, and every call that they made."""

    run_ids: tuple[str, ...] = ()
    trace: tuple[dict[str, Any], ...] = ()
    activity: tuple[dict[str, Any], ...] = ()
    """What a person should know of the trace."""
    claims: tuple[Any, ...] = ()
    """What the answer claims, verified only as far as receipts of the conversation say so."""


class AnswerWorks:
    """The work behind the answers of a home's conversations. Thread-safe."""

    def __init__(self, claw: CoilClaw) -> None:
        self._claw = claw
        self._lock = threading.Lock()
        self._known: OrderedDict[str, ConversationActivity] = OrderedDict()

    def of_page(self, conversation: str, messages: Sequence[Turn]) -> dict[str, AnswerWork]:
        """The work of each answer among messages that follow one another, by the answer's id."""
        if not any(each.role == "assistant" for each in messages):
            return {}
        activity = self._activity(conversation)
        turns = activity.turns()
        numbers = self._claw.memory.turn_numbers(conversation, set(turns.values()))
        made: dict[str, AnswerWork] = {}
        for before, answer in zip((None, *messages), messages, strict=False):
            if answer.role == "assistant":
                runs = tuple(run for run, turn in turns.items() if _lies(turn, numbers.get(turn), before, answer))
                made[answer.id] = _work(activity, runs, answer)
        return made

    def of_answer(self, said: Turn, answer: Turn) -> AnswerWork:
        """The work of the answer to one message."""
        return self.of_page(answer.conversation_id, (said, answer))[answer.id]

    def _activity(self, conversation: str) -> ConversationActivity:
        from coilclaw.agent import ConversationActivity

        with self._lock:
            known = self._known.pop(conversation, None) or ConversationActivity(self._claw, conversation)
            self._known[conversation] = known
            while len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
            return known


def _lies(turn: str, number: int | None, before: Turn | None, answer: Turn) -> bool:
    """Whether a turn lies between two messages. Ids begin with their time: that places one whose row was removed."""
    if number is None:
        return (before is None or before.id < turn) and turn < answer.id
    return (0 if before is None else before.number) < number < answer.number


def _work(activity: ConversationActivity, runs: tuple[str, ...], answer: Turn) -> AnswerWork:
    items = activity.items(runs)
    return AnswerWork(
        run_ids=runs,
        trace=tuple(each._asdict() for each in items),
        activity=tuple(each._asdict() for each in relevant(items).items),
        claims=tuple(activity.confirmed(answer.metadata.get("claims"))),
    )
