"""The receipts of the calls of one run, each written together with its rows of the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coilclaw.bridge.answers import Refusal, failure
from coilclaw.bridge.calls import Call
from coilclaw.bridge.evidence_budget import is_small, prefix_facts
from coilclaw.bridge.identified_call import Identity
from coilclaw.bridge.journal import Journal, Known
from coilclaw.bridge.reuse import EarlierWrite
from coilclaw.bridge.run_spec import RunSpec
from coilclaw.receipts import Draft, ReceiptLog, Row, now
from coilclaw.sdk.errors import LONGEST_MESSAGE

__all__ = ["CallReceipts", "bounded", "following", "refused"]


class CallReceipts:
    """Writes the receipts of one run's calls. A run without a journal (a rehearsal, a replay) is not resumed."""

    def __init__(self, log: ReceiptLog, run: RunSpec, journal: Journal | None) -> None:
        self.log = log
        self._run_id = run.run_id
        self._conversation = run.caller.conversation
        self._journal = journal

    def requested(self, identity: Identity) -> Draft:
        call, tool = identity.call, identity.call.tool
        payload: dict[str, Any] = {"line": call.line, "number": call.number}
        if not is_small(identity.kept):
            payload["arguments_bytes"] = len(identity.kept)
        if self._journal is not None:
            payload |= self._journal.pins()
        version, risk = (tool.version, tool.risk.value) if tool else (None, None)
        named = (self._run_id, self._conversation, call.id, call.name, version, risk, identity.args_hash)
        return Draft("tool.call.requested", "pending", now(), *named, None, payload)

    def refuse(self, call: Call, draft: Draft, refusal: Refusal, unkept: bytes = b"", *more: Row) -> Refusal:
        """Record the refusal and return it. `unkept` are arguments that are not in the store, and stay out of it."""
        rows = [*more, *self.refusal_rows(call, refusal)]
        self.log.append_relaxed(refused(draft, refusal, prefix_facts(unkept)), rows=rows)
        return refusal

    def repeat(self, call: Call, refusal: Refusal) -> Refusal:
        """Return a refusal that has its receipt already; only the journal learns that the call was answered."""
        self.log.append_relaxed(rows=self.refusal_rows(call, refusal))
        return refusal

    def reuse(self, call: Call, draft: Draft, source: EarlierWrite, facts: Mapping[str, Any]) -> None:
        """Record that a call is answered from an earlier run, together with the answer."""
        payload = {"source_run": source.run_id, "source_receipt": source.receipt, **facts}
        rows = self.answer_rows(call, Known(call.number, source.result_hash, None))
        reused = following(draft, "tool.call.reused", "allowed", now(), payload, source.result_hash)
        self.log.append_relaxed(reused, rows=rows)

    def refusal_rows(self, call: Call, refusal: Refusal) -> list[Row]:
        return self.answer_rows(call, Known(call.number, None, failure(refusal).decode()))

    def answer_rows(self, call: Call, known: Known) -> list[Row]:
        if self._journal is None:
            return []
        return [self._journal.call_returns(known) if call.stops else self._journal.answer(known)]

    def delivered(self, numbers: Sequence[int], waited_nanoseconds: int) -> None:
        """The snippet waited and received these answers, or none."""
        if self._journal is None:
            return
        if numbers:
            self.log.append_relaxed(rows=self._journal.wait_returns(numbers))
        else:
            self._journal.nothing_came(waited_nanoseconds)

    def looked(self) -> None:
        """Record the looks for answers that found nothing, before something else happens."""
        if self._journal is not None and (rows := self._journal.looked()):
            self.log.append_relaxed(rows=rows)

    def claim(self) -> list[Row]:
        """Claim that the run still belongs to this process."""
        return [] if self._journal is None else [self._journal.claim()]


def following(
    draft: Draft, kind: str, status: str, timestamp: str, payload: Mapping[str, Any], result_hash: str | None = None
) -> Draft:
    """Draft the next receipt of the same call. (`_replace` would be far slower.)"""
    return Draft(kind, status, timestamp, *draft[3:10], result_hash, payload)  # From `run_id` to `args_hash`.


def refused(draft: Draft, refusal: Refusal, more: Mapping[str, Any] | None = None) -> Draft:
    """Draft the receipt of a call that was denied or failed."""
    payload = {"code": refusal.code, "message": bounded(refusal.message), **(more or {}), **refusal.facts}
    kind, status = ("tool.call.denied", "denied") if refusal.denied else ("tool.call.failed", "failed")
    return following(draft, kind, status, now(), payload)


def bounded(text: str) -> str:
    """Text that fits into a receipt, whatever wrote it."""
    clean = text.encode("utf-8", "replace").decode()
    return clean if len(clean) <= LONGEST_MESSAGE else clean[:LONGEST_MESSAGE] + "…"
