"""What a conversation has done, from the receipts of all its runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw
    from coilclaw.evidence.grounding import Evidence
    from coilclaw.sdk import ActivityItem

__all__ = ["ConversationActivity"]

V = TypeVar("V")


class ConversationActivity:
    """The calls of a conversation. A run that is over is read once."""

    def __init__(self, claw: CoilClaw, conversation: str) -> None:
        self._claw = claw
        self._conversation = conversation
        self._items: dict[str, tuple[ActivityItem, ...]] = {}
        self._evidence: dict[str, tuple[Evidence, ...]] = {}

    def items(self, of_runs: Collection[str] | None = None) -> tuple[ActivityItem, ...]:
        """One item for each call, in the order of issue: of all runs, or of some."""
        return tuple(self._each(of_runs, self._items, self._claw.runs.activity))

    def evidence(self, of_runs: Collection[str] | None = None) -> tuple[Evidence, ...]:
        """The same as an answer is checked against it."""
        return tuple(self._each(of_runs, self._evidence, self._claw.runs.evidence))

    def _each(
        self,
        of_runs: Collection[str] | None,
        known: dict[str, tuple[V, ...]],
        read: Callable[[str], tuple[V, ...]],
    ) -> Iterator[V]:
        for record in self._claw.runs.of_conversation(self._conversation):
            run_id = record.run_id
            if of_runs is not None and run_id not in of_runs:
                continue
            found = known.get(run_id)
            if found is None:
                found = read(run_id)
                if record.state not in ("running", "suspended", "orphaned"):
                    known[run_id] = found
            yield from found
