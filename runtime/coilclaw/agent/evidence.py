"""What a conversation has done, from the receipts of all its runs."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw
    from coilclaw.sdk import ActivityItem

__all__ = ["ConversationActivity"]


class ConversationActivity:
    """The calls of a conversation. Runs that are over are read once."""

    def __init__(self, claw: CoilClaw, conversation: str) -> None:
        self._claw = claw
        self._conversation = conversation
        self._over: dict[str, tuple[ActivityItem, ...]] = {}

    def items(self, of_runs: Collection[str] | None = None) -> tuple[ActivityItem, ...]:
        """One item for each call, in the order of issue: of all runs, or of some."""
        found: list[ActivityItem] = []
        for record in self._claw.runs.of_conversation(self._conversation):
            run_id = record.run_id
            if of_runs is not None and run_id not in of_runs:
                continue
            items = self._over.get(run_id)
            if items is None:
                items = self._claw.runs.activity(run_id)
                if record.state not in ("running", "suspended", "orphaned"):
                    self._over[run_id] = items
            found += items
        return tuple(found)

    def evidence(self, of_runs: Collection[str] | None = None) -> tuple[ActivityItem, ...]:
        return self.items(of_runs)
