"""What the receipts of a run say about its calls, held against its journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coilclaw.bridge import PriorCall, Recorded
from coilclaw.sdk import Receipt

__all__ = ["first_doubt", "prior_calls"]

_ENDS = {"tool.call.succeeded", "tool.call.failed", "tool.call.denied"}


def prior_calls(receipts: Sequence[Receipt]) -> dict[int, PriorCall]:
    """Every call the run has asked for so far, by its number."""
    calls: dict[int, PriorCall] = {}
    numbers: dict[str, int] = {}
    for receipt in receipts:
        call_id = receipt.tool_call_id
        if call_id is None:
            continue
        if receipt.type == "tool.call.requested":
            number = numbers[call_id] = int(receipt.payload["number"])
            calls[number] = PriorCall(
                number=number,
                tool=str(receipt.tool),
                tool_version=receipt.tool_version,
                args_hash=str(receipt.args_hash),
                state="requested",
            )
        elif call_id in numbers and (receipt.type == "tool.call.started" or receipt.type in _ENDS):
            before = calls[numbers[call_id]]
            calls[before.number] = PriorCall(
                number=before.number,
                tool=before.tool,
                # What ran is what counts: it may have been asked for again after its source had changed.
                tool_version=receipt.tool_version,
                args_hash=before.args_hash,
                state="started" if receipt.type == "tool.call.started" else "ended",
            )
    return calls


def first_doubt(receipts: Sequence[Receipt], recorded: Recorded, calls: Mapping[int, PriorCall]) -> str | None:
    """The first thing in a journal that the receipts do not bear out, or None."""
    ends: dict[int, Receipt] = {}
    numbers = {receipt.tool_call_id: receipt.payload["number"] for receipt in receipts if "number" in receipt.payload}
    for receipt in receipts:
        if receipt.type in _ENDS and receipt.tool_call_id in numbers:
            ends[numbers[receipt.tool_call_id]] = receipt
    for number, known in sorted(recorded.answers.items()):
        end = ends.get(number)
        if number not in calls or end is None:
            return f"the journal has an answer for call {number}, of which no receipt tells"
        if known.failure is None and (end.type != "tool.call.succeeded" or end.result_hash != known.result_hash):
            return f"the journal has another result for call {number} than its receipt"
        if known.failure is not None and end.type == "tool.call.succeeded":
            return f"the journal says that call {number} failed, its receipt that it succeeded"
        if known.failure is not None and str(end.payload.get("code")) not in known.failure:
            return f"the journal has another failure for call {number} than its receipt"
    seen: set[int] = set()
    for delivery in recorded.deliveries:
        for number in delivery.numbers:
            if number not in recorded.answers or number in seen:
                return f"the journal delivers an answer of call {number} that is not there"
            seen.add(number)
    return None
