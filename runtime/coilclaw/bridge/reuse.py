"""Writes of earlier runs that a retry does not make again, and those of which nobody knows enough for that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from coilclaw.receipts import DamagedReceipt, ReceiptLog
from coilclaw.sdk import Tool

__all__ = ["Doubt", "EarlierWrite", "ReusableWrites", "Reused"]


class EarlierWrite(NamedTuple):
    """A call of an earlier run that was started and could change something, as its receipts tell of it."""

    run_id: str
    receipt: str
    """The last receipt of the call."""
    tool: str
    tool_version: str | None
    args_hash: str
    result_hash: str | None
    """None unless it succeeded."""
    runs_hash: str | None = None
    """Of what a person was shown that it would run."""
    uncertain: str | None = None
    """Why nobody knows what it did, or that its result reports a failure; None if its result can be reused."""


class Reused(NamedTuple):
    """The answer of a call that is not made: what the same call gave in an earlier run."""

    source: EarlierWrite
    value: bytes


class Doubt(NamedTuple):
    """Why a call is not reused although an earlier run made the same one: a person decides whether it is made again."""

    source: EarlierWrite
    reason: str

    @property
    def facts(self) -> dict[str, str]:
        return {"doubt": self.reason, "source_receipt": self.source.receipt}


class ReusableWrites:
    """The writes of the runs that one retry follows. Each that succeeded answers at most one call."""

    def __init__(self, writes: Iterable[EarlierWrite], used: Collection[str] = ()) -> None:
        """`used` are receipts of writes that this run has been answered from in an earlier process."""
        self._succeeded: dict[tuple[str, str], list[EarlierWrite]] = defaultdict(list)
        self._uncertain: dict[tuple[str, str], EarlierWrite] = {}
        for each in writes:
            call = (each.tool, each.args_hash)
            if each.uncertain is not None:
                self._uncertain[call] = each
            elif each.receipt not in used:
                self._succeeded[call].append(each)

    def find(
        self, tool: Tool, args_hash: str, runs_hash: str | None, log: ReceiptLog, *, redacted: bool = False
    ) -> Reused | Doubt | None:
        """The next earlier write that is the same call, unless there is a doubt; None if it was not made before.

        With `redacted`, secrets may have been taken out of the arguments before they were hashed.
        """
        call, doubt = (tool.id, args_hash), None
        for each in self._succeeded.get(call, ()):
            found = _reusable(each, tool, runs_hash, log, redacted)
            if isinstance(found, Reused):
                return found
            doubt = doubt or found
        uncertain = self._uncertain.get(call)
        if doubt is None and uncertain is not None:
            return Doubt(uncertain, _said(uncertain, str(uncertain.uncertain)))
        return doubt

    def use(self, source: EarlierWrite) -> None:
        """Note that a call was answered from it; it answers no other."""
        self._succeeded[source.tool, source.args_hash].remove(source)


def _reusable(
    source: EarlierWrite, tool: Tool, runs_hash: str | None, log: ReceiptLog, redacted: bool
) -> Reused | Doubt:
    value, problem = None, "its result is gone"
    if source.tool_version != tool.version:
        problem = "the tool has changed since"
    elif source.runs_hash != runs_hash:
        problem = "what it runs may have changed since"
    elif redacted:
        problem = "its arguments may have held another secret"
    else:
        try:
            value = log.contents(source.result_hash or "")
        except DamagedReceipt:
            problem = "its result was changed in the store"
    return Doubt(source, _said(source, f"succeeded, and {problem}")) if value is None else Reused(source, value)


def _said(source: EarlierWrite, what: str) -> str:
    return f"the same call of {source.run_id} {what}"
