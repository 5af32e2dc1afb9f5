"""A run that was executed again from its journal, held against what its receipts say of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from coilclaw.bridge import PriorCall
from coilclaw.receipts import digest
from coilclaw.runs.breakpoint import Breakpoint
from coilclaw.runs.call_history import ReceiptParts
from coilclaw.runs.report import error_of, outputs_json, value_digest
from coilclaw.sandbox import Completed, Diverged, Outcome
from coilclaw.sdk.frozen import Frozen

__all__ = ["Comparison", "Difference", "FormerRun", "compared", "difference_of", "doubted"]

Aspect: TypeAlias = Literal[
    "journal", "order", "call", "tool", "version", "arguments", "status", "output", "stderr", "outputs", "value"
]

_REPEATABLE: Final = frozenset({"completed", "failed", "rejected", "out_of_memory", "output_exceeded", "suspended"})
"""How a run ends by what it does. The other ends depend on the moment: on time, on a person, on the machine."""

_WORDS: Final[Mapping[Aspect, str]] = {
    "output": "what the run printed",
    "stderr": "what the run printed to stderr",
    "outputs": "what the run displayed",
    "value": "the run's value",
}
_NOTHING_SHOWN: Final = digest(outputs_json(()))
_EMPTY: Final = {digest(b""), _NOTHING_SHOWN}
"""Hashes of what most runs leave empty, and what is therefore not named among the things compared."""
_CALL: Final = re.compile(r"\bcall (\d+)\b")


class Difference(Frozen):
    """The first thing that is not as it was; `call` is the call it shows at, if it shows at one."""

    what: Aspect
    message: str
    call: int | None = None
    then: str | None = None
    now: str | None = None


class Comparison(Frozen):
    """What became of the repetition of a run. Nothing was executed and nothing written for it."""

    run_id: str
    status: str
    """How the run ended; `running` when its process ended before it did."""
    outcome: Outcome
    calls: int
    """How many calls the repetition made, or would have made."""
    compared: tuple[str, ...]
    difference: Difference | None = None
    note: str | None = None
    stop: Breakpoint | None = None

    @property
    def identical(self) -> bool:
        return self.difference is None


class FormerRun(Frozen):
    """What the receipts of a run say: its calls, and its end if it has come to one."""

    run_id: str
    calls: Mapping[int, PriorCall]
    end: ReceiptParts | None

    @property
    def status(self) -> str:
        return self.end.status if self.end is not None else "running"

    @property
    def repeatable(self) -> bool:
        """Whether the end of the run follows from its source and its journal."""
        return self.status in _REPEATABLE


def doubted(run_id: str, status: str, outcome: Diverged) -> Comparison:
    """The journal cannot be believed, so nothing was repeated."""
    difference = difference_of(outcome)
    return Comparison(
        run_id=run_id, status=status, outcome=outcome, calls=0, compared=("journal",), difference=difference
    )


def difference_of(outcome: Diverged) -> Difference:
    """A divergence as a difference."""
    message = outcome.error.message
    found = _CALL.search(message)
    aspect: Aspect = "order" if "waited for" in message or "answered later" in message else "journal"
    return Difference(what=aspect, message=message, call=int(found[1]) if found else None)


def compared(
    former: FormerRun, outcome: Outcome, calls: int, found: Difference | None, stop: Breakpoint | None
) -> Comparison:
    """The verdict: whether calls, end, output and value are what they were."""
    aspects: tuple[str, ...] = ("calls",)
    note = None
    difference = found
    if difference is None and isinstance(outcome, Diverged):
        difference = _missing_call(former, calls) or difference_of(outcome)
    if difference is None and stop is None:
        difference = _missing_call(former, calls)
        if difference is None and former.repeatable:
            aspects, difference = _ends(former, outcome)
        elif difference is None:
            aspects, note = _as_far_as_it_goes(former, outcome)
    return Comparison(
        run_id=former.run_id,
        status=former.status,
        outcome=outcome,
        calls=calls,
        compared=aspects,
        difference=difference,
        note=note,
        stop=stop,
    )


def _missing_call(former: FormerRun, calls: int) -> Difference | None:
    missing = min((number for number in former.calls if number > calls), default=None)
    if missing is None:
        return None
    then = f"of {former.calls[missing].tool}"
    message = f"call {missing} was {then} and is not made now"
    return Difference(what="call", message=message, call=missing, then=then, now="not made")


def _ends(former: FormerRun, outcome: Outcome) -> tuple[tuple[str, ...], Difference | None]:
    assert former.end is not None
    then, facts = former.end.status, former.end.payload
    if outcome.status != then:
        error = error_of(outcome)
        why = f" ({error.type}: {error.message[:300]})" if error is not None else ""
        message = f"the run ended as {then!r} and ends as {outcome.status!r} now{why}"
        return ("calls", "status"), Difference(what="status", message=message, then=then, now=outcome.status)
    hashes: dict[Aspect, tuple[object, str]] = {"output": (facts.get("stdout_hash"), digest(outcome.stdout.encode()))}
    if "stderr_hash" in facts:  # Runs of earlier versions did not keep these.
        hashes["stderr"] = (facts["stderr_hash"], digest(outcome.stderr.encode()))
        hashes["outputs"] = (facts.get("outputs_hash", _NOTHING_SHOWN), digest(outputs_json(outcome.outputs)))
        hashes = {name: pair for name, pair in hashes.items() if name == "output" or set(pair) - _EMPTY}
    if isinstance(outcome, Completed):
        hashes["value"] = (facts.get("value_hash"), value_digest(outcome.value))
    aspects = ("calls", "status", *hashes)
    for what, (before, after) in hashes.items():
        if before != after:
            return aspects, _other_hash(what, before, after)
    return aspects, None


def _other_hash(what: Aspect, then: object, now: str) -> Difference:
    message = f"{_WORDS[what]} had the hash {str(then)[:12]} and has {now[:12]} now"
    return Difference(what=what, message=message, then=str(then), now=now)


def _as_far_as_it_goes(former: FormerRun, outcome: Outcome) -> tuple[tuple[str, ...], str | None]:
    """An end that cannot be repeated is compared if it comes again, and otherwise left out."""
    if former.end is not None and outcome.status == former.status:
        same = former.end.payload.get("stdout_hash") == digest(outcome.stdout.encode())
        return ("calls", "status", *(("output",) if same else ())), None
    if former.end is None:
        return ("calls",), "its process ended before the run did; compared as far as its journal goes"
    how = "was cancelled" if former.status == "cancelled" else f"ended as {former.status!r}"
    return ("calls",), f"the run {how}, which a replay cannot repeat; compared as far as its journal goes"
