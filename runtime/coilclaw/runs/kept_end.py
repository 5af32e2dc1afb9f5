"""The end of a run, kept beside its receipts so that it can be shown again.

The last receipt of a run has the hashes of its value, of what it printed and displayed and of its error; `kept` in its
payload names those whose contents are in the store. What no longer fits into the run's budget of kept bytes is left
out. Warnings are few and short, and stand in the receipt itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coilclaw.bridge import find_run
from coilclaw.receipts import digest
from coilclaw.runs.report import RunReport, outputs_json, value_json
from coilclaw.sandbox import (
    Cancelled,
    Completed,
    Crashed,
    DisplayedOutput,
    Diverged,
    Failed,
    OutOfMemory,
    OutputExceeded,
    Rejected,
    RunWarning,
    SnippetError,
    Suspended,
    TimedOut,
)

if TYPE_CHECKING:
    from coilclaw.receipts import ReceiptLog
    from coilclaw.sandbox import (
        Limits,
        Outcome,
    )
    from coilclaw.sdk import Receipt
    from coilclaw.store import Database

__all__ = ["KeptEnd", "keep_end", "kept_hashes", "report_of"]

_BESIDE: Final = frozenset({"stdout", "stderr", "outputs", "warnings"})
"""Fields of an outcome that are kept each by itself."""
_ENDS: Final = ("run.finished", "run.suspended", "run.diverged")
_NOT_KEPT: Final = SnippetError(type="NotKept", message="the error of this run was not kept")
_OUTCOMES: Final[Mapping[str, Callable[..., Outcome]]] = {
    each.status: each
    for each in (Failed, Rejected, TimedOut, OutOfMemory, OutputExceeded, Diverged, Cancelled, Crashed)
}


class KeptEnd(NamedTuple):
    """What the last receipt says of the end of a run, and the contents that go with it."""

    facts: dict[str, Any]
    contents: dict[str, bytes]


def keep_end(outcome: Outcome, fits: Callable[[str, int], bool]) -> KeptEnd:
    """Prepare the end of a run for the log; `fits` says whether the store has room for a hash of so many bytes."""
    facts: dict[str, Any] = {}
    contents: dict[str, bytes] = {}
    kept = []
    for name, body in _parts(outcome):
        found = facts[f"{name}_hash"] = digest(body)
        if fits(found, len(body)):
            kept.append(name)
            contents[found] = body
    if outcome.warnings:
        facts["warnings"] = [asdict(each) for each in outcome.warnings]
    return KeptEnd({**facts, "kept": kept}, contents)


def _parts(outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    if isinstance(outcome, Completed):
        yield "value", value_json(outcome.value)
    elif not isinstance(outcome, Suspended):
        facts = {name: value for name, value in asdict(outcome).items() if name not in _BESIDE}
        yield "error", json.dumps(facts, separators=(",", ":")).encode()
    yield "stdout", outcome.stdout.encode()
    yield "stderr", outcome.stderr.encode()
    if outcome.outputs:
        yield "outputs", outputs_json(outcome.outputs)


def kept_hashes(payload: Mapping[str, Any]) -> list[str]:
    """Return the hashes of the contents that the last receipt of a run stands for."""
    return [payload[f"{name}_hash"] for name in payload.get("kept", ())]


def report_of(database: Database, log: ReceiptLog, run_id: str) -> RunReport | None:
    """Return the report of a run as it was when it ended or was suspended; None if it has done neither.

    `RunReport.unkept` names what cannot be shown again. Raises NoSuchRun for an id that is none.
    """
    known = find_run(database, run_id)
    receipts = log.of_run(run_id, after=known.first_seq)
    last = next((each for each in reversed(receipts) if each.type.startswith("run.")), None)
    if last is None or last.type not in _ENDS:
        return None
    end = _Parts(log, receipts)
    outcome = end.outcome(last.status, known.header.run_limits())
    return RunReport(
        run_id=run_id,
        engine=known.header.engine,
        outcome=outcome,
        stdout=outcome.stdout,
        duration_ms=end.payload.get("duration_us", 0) / 1000,
        first_receipt=receipts[0].id,
        retry_of=known.header.retry_of,
        unmet=frozenset(end.payload.get("unmet", ())),
        unknown=end.payload.get("unknown"),
        unkept=frozenset(end.unkept),
    )


class _Parts:
    """The parts of a run's end, as far as they are kept."""

    def __init__(self, log: ReceiptLog, receipts: Sequence[Receipt]) -> None:
        self._log = log
        # A run that was cancelled while it was suspended has printed what it had printed then.
        ends = [each.payload for each in receipts if each.type in _ENDS]
        self.payload: Mapping[str, Any] = next((each for each in reversed(ends) if "stdout_hash" in each), {})
        self.unkept: set[str] = set()

    def outcome(self, status: str, limits: Limits) -> Outcome:
        beside: dict[str, Any] = {
            "stdout": (self._read("stdout") or b"").decode(),
            "stderr": (self._read_if_any("stderr") or b"").decode(),
            "outputs": tuple(
                DisplayedOutput(mime=mime, data=data)
                for mime, data in json.loads(self._read_if_any("outputs") or b"[]")
            ),
            "warnings": tuple(RunWarning(**each) for each in self.payload.get("warnings", ())),
        }
        if status == "completed":
            value = self._read("value")
            return Completed(value=None if value is None else json.loads(value), **beside)
        if status == "suspended":
            return Suspended(**beside)
        if status == "cancelled":
            return Cancelled(**beside)
        error = self._read("error")
        facts = _without_error(status, limits) if error is None else json.loads(error)
        if "error" in facts:
            facts["error"] = SnippetError(**facts["error"])
        if "problems" in facts:
            facts["problems"] = tuple(SnippetError(**each) for each in facts["problems"])
        return _OUTCOMES.get(status, Crashed)(**facts, **beside)

    def _read_if_any(self, name: str) -> bytes | None:
        """A part that not every run has."""
        return self._read(name) if f"{name}_hash" in self.payload else None

    def _read(self, name: str) -> bytes | None:
        body = self._log.contents(self.payload[f"{name}_hash"]) if name in self.payload.get("kept", ()) else None
        if body is None:
            self.unkept.add(name)
        return body


def _without_error(status: str, limits: Limits) -> dict[str, Any]:
    match status:
        case "failed" | "rejected" | "diverged":
            return {"error": asdict(_NOT_KEPT)}
        case "timed_out":
            return {"seconds": limits.seconds}
        case "out_of_memory":
            return {"memory_bytes": limits.memory_bytes}
        case "output_exceeded":
            return {"output_bytes": limits.output_bytes}
    return {"reason": _NOT_KEPT.message}
