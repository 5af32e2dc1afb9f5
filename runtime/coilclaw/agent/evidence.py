"""What a conversation has done, from the receipts of all its runs."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw
    from coilclaw.evidence import Evidence
    from coilclaw.sdk import ActivityItem

__all__ = ["ConversationActivity"]

Calls: TypeAlias = "tuple[tuple[ActivityItem, Evidence], ...]"


class ConversationActivity:
    """The calls of a conversation. A run that is over is read once. Thread-safe."""

    def __init__(self, claw: CoilClaw, conversation: str) -> None:
        self._claw = claw
        self._conversation = conversation
        self._lock = threading.Lock()
        self._over: dict[str, Calls] = {}
        self._all_over = ""
        """The last run before which, and with which, all runs are over."""

    def items(self, of_runs: Collection[str] | None = None) -> tuple[ActivityItem, ...]:
        """One item for each call, in the order of issue: of all runs, or of some."""
        return tuple(item for item, _ in self._calls(of_runs))

    def evidence(self, of_turn: Collection[str] = ()) -> tuple[Evidence, ...]:
        """All calls, as an answer is checked against them; runs that are not the exchange's are earlier ones."""
        mine = {item.receipt_ref for item in self.items(of_turn)} if of_turn else frozenset()
        return tuple(
            evidence if item.receipt_ref in mine else replace(evidence, is_earlier=True)
            for item, evidence in self._calls(None)
        )

    def _calls(self, of_runs: Collection[str] | None) -> Calls:
        with self._lock:
            found = dict(self._over)
            later = False
            for record in self._claw.runs.of_conversation(self._conversation, after=self._all_over):
                run_id = record.run_id
                if run_id not in found:
                    found[run_id] = self._claw.runs.evidence(record)
                if record.state in ("running", "suspended", "orphaned"):
                    later = True
                else:
                    self._over[run_id] = found[run_id]
                    self._all_over = self._all_over if later else run_id
        chosen = (calls for run_id, calls in sorted(found.items()) if of_runs is None or run_id in of_runs)
        return tuple(call for calls in chosen for call in calls)
