"""What a conversation has done, from the receipts of all its runs and from nothing else."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coilclaw.agent.answer import FailedSnippet
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw
    from coilclaw.evidence import Evidence
    from coilclaw.sdk import ActivityItem, Receipt

__all__ = ["ConversationActivity"]


class _Run(Frozen):
    """A run as its receipts tell it."""

    turn: str | None
    """The turn with the request that the run answers."""
    receipts: Sequence[Receipt] | None
    """None once the run is over: then its calls stay what they are."""
    calls: tuple[tuple[ActivityItem, Evidence], ...]
    failed: FailedSnippet | None


class ConversationActivity:
    """What the runs of a conversation did. Every receipt of the log is looked at once. Thread-safe.

    The tables of runs and of turns are not asked: who edits them changes nothing here.
    """

    def __init__(self, claw: CoilClaw, conversation: str, *, is_new: bool = False) -> None:
        """`is_new` for a conversation that has just begun: no receipt so far is one of its own."""
        self._claw = claw
        self._conversation = conversation
        self._lock = threading.Lock()
        self._seen = claw.runs.last_receipt_number if is_new else 0
        self._runs: dict[str, _Run] = {}
        self._receipts: set[str] = set()

    def items(self, of_runs: Collection[str] | None = None) -> tuple[ActivityItem, ...]:
        """One item for each call, in the order of issue: of all runs, or of some."""
        return tuple(item for run in self._chosen(of_runs) for item, _ in run.calls)

    def failed_snippets(self, of_runs: Collection[str]) -> tuple[FailedSnippet, ...]:
        """The snippets of some runs that did not come to their end."""
        return tuple(run.failed for run in self._chosen(of_runs) if run.failed is not None)

    def evidence(self, of_exchange: Collection[str] = ()) -> tuple[Evidence, ...]:
        """All calls, as an answer is checked against them; runs that are not the exchange's are earlier ones."""
        mine = {item.receipt_ref for item in self.items(of_exchange)} if of_exchange else frozenset()
        return tuple(
            evidence if item.receipt_ref in mine else replace(evidence, is_earlier=True)
            for run in self._chosen(None)
            for item, evidence in run.calls
        )

    def runs_of(self, turns: Collection[str]) -> tuple[str, ...]:
        """The ids of the runs that answer requests of these turns, oldest first."""
        with self._lock:
            self._read()
            return tuple(run_id for run_id, run in self._runs.items() if run.turn in turns)

    def turns(self) -> dict[str, str]:
        """The turn with the request that each run answers, by the id of the run."""
        with self._lock:
            self._read()
            return {run_id: run.turn for run_id, run in self._runs.items() if run.turn is not None}

    def confirmed(self, claims: object) -> list[Any]:
        """Claims as memory has them; one counts as verified only if its receipt is one of the conversation."""
        with self._lock:
            self._read()
            return [self._claim(each) for each in claims] if isinstance(claims, list) else []

    def _claim(self, claim: Any) -> Any:
        if isinstance(claim, dict) and claim.get("verdict") == "verified":
            receipt = claim.get("receipt_ref")
            if not isinstance(receipt, str) or receipt not in self._receipts:
                return {**claim, "verdict": "unverified", "receipt_ref": None}
        return claim

    def _chosen(self, of_runs: Collection[str] | None) -> list[_Run]:
        with self._lock:
            self._read()
            return [run for run_id, run in self._runs.items() if of_runs is None or run_id in of_runs]

    def _read(self) -> None:
        found, self._seen = self._claw.runs.receipts_of_conversation(self._conversation, after=self._seen)
        new: dict[str, list[Receipt]] = {}
        for receipt in found:
            self._receipts.add(receipt.id)
            if receipt.run_id is not None:
                new.setdefault(receipt.run_id, []).append(receipt)
        for run_id in [*self._runs, *(each for each in new if each not in self._runs)]:
            known = self._runs.get(run_id)
            if known is not None and known.receipts is None and run_id not in new:
                continue
            # A run that was over and has more receipts than it had is read anew.
            before = () if known is None else known.receipts
            receipts = self._claw.runs.receipts(run_id) if before is None else [*before, *new.get(run_id, ())]
            self._runs[run_id] = self._run(run_id, receipts)

    def _run(self, run_id: str, receipts: Sequence[Receipt]) -> _Run:
        began = next((each.payload for each in receipts if each.type == "run.started"), {})
        request = began.get("request")
        calls, end = self._claw.runs.evidence(run_id, receipts)
        is_failed = end is not None and end.status != "completed" and began.get("kind") == "snippet"
        return _Run(
            turn=None if request is None else str(request).rpartition(".")[0],
            receipts=receipts if end is None else None,
            calls=calls,
            failed=FailedSnippet(run_id=run_id, status=end.status, receipt_ref=end.id) if end and is_failed else None,
        )
