"""What a conversation has done, from the receipts of all its runs."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from coilclaw.agent.answer import FailedSnippet
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw
    from coilclaw.evidence import Evidence
    from coilclaw.runs import RunRecord
    from coilclaw.sdk import ActivityItem

__all__ = ["ConversationActivity"]


class _Done(Frozen):
    """What one run did."""

    calls: tuple[tuple[ActivityItem, Evidence], ...]
    failed: FailedSnippet | None = None


class ConversationActivity:
    """What the runs of a conversation did. A run that is over is read once. Thread-safe."""

    def __init__(self, claw: CoilClaw, conversation: str) -> None:
        self._claw = claw
        self._conversation = conversation
        self._lock = threading.Lock()
        self._over: dict[str, _Done] = {}
        self._all_over = ""
        """The last run before which, and with which, all runs are over."""

    def items(self, of_runs: Collection[str] | None = None) -> tuple[ActivityItem, ...]:
        """One item for each call, in the order of issue: of all runs, or of some."""
        return tuple(item for done in self._runs(of_runs) for item, _ in done.calls)

    def failed_snippets(self, of_runs: Collection[str]) -> tuple[FailedSnippet, ...]:
        """The snippets of some runs that did not come to their end."""
        return tuple(done.failed for done in self._runs(of_runs) if done.failed is not None)

    def evidence(self, of_exchange: Collection[str] = ()) -> tuple[Evidence, ...]:
        """All calls, as an answer is checked against them; runs that are not the exchange's are earlier ones."""
        mine = {item.receipt_ref for item in self.items(of_exchange)} if of_exchange else frozenset()
        return tuple(
            evidence if item.receipt_ref in mine else replace(evidence, is_earlier=True)
            for done in self._runs(None)
            for item, evidence in done.calls
        )

    def _runs(self, of_runs: Collection[str] | None) -> list[_Done]:
        with self._lock:
            found = dict(self._over)
            later = False
            for record in self._claw.runs.of_conversation(self._conversation, after=self._all_over):
                run_id = record.run_id
                if run_id not in found:
                    found[run_id] = self._done(record)
                if record.state in ("running", "suspended", "orphaned"):
                    later = True
                else:
                    self._over[run_id] = found[run_id]
                    self._all_over = self._all_over if later else run_id
        return [done for run_id, done in sorted(found.items()) if of_runs is None or run_id in of_runs]

    def _done(self, record: RunRecord) -> _Done:
        calls, end = self._claw.runs.evidence(record)
        if end is None or end.status == "completed" or record.header.kind != "snippet":
            return _Done(calls=calls)
        failed = FailedSnippet(run_id=record.run_id, status=end.status, receipt_ref=end.id)
        return _Done(calls=calls, failed=failed)
