"""The report of a run: how it ended, what it gave back, and what it did."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coilclaw.app.approvals import pending_approvals
from coilclaw.evidence import activity_of
from coilclaw.receipts import small_contents
from coilclaw.sdk import Err, Risk
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.app.approvals import ApprovalRequest
    from coilclaw.app.stores import Stores
    from coilclaw.evidence import Evidence
    from coilclaw.runs import RunRecord, RunReport
    from coilclaw.sandbox import DisplayedOutput, RunWarning, SnippetError
    from coilclaw.sdk import ActivityItem, Receipt, Result, RunStatus, ToolCallError

__all__ = [
    "CallReport",
    "Report",
    "RunEvidence",
    "UnknownCall",
    "call_reported",
    "report_so_far",
    "reported",
    "run_activity",
    "run_evidence",
]

_RUN_ENDS: Final = ("run.finished", "run.diverged")
_BEFORE_START: Final = ("tool.call.requested", "tool.call.pending", "tool.call.approved")


class UnknownCall(Frozen):
    """A call that was under way when its process ended: nobody knows what it did."""

    tool: str
    started: str
    receipt_ref: str


class Report(Frozen):
    """One run as it stands: ended, or suspended until someone decides."""

    run_id: str
    status: RunStatus
    engine: str
    value: Any
    stdout: str
    stderr: str = ""
    warnings: tuple[RunWarning, ...] = ()
    """What the author of the snippet should know although it ended no run."""
    outputs: tuple[DisplayedOutput, ...] = ()
    """What the snippet displayed, in order."""
    error: SnippetError | None
    retry_of: str | None = None
    """The run whose succeeded writes were not made again."""
    activity: tuple[ActivityItem, ...]
    """One item for each call, in the order of issue."""
    approvals: tuple[ApprovalRequest, ...] = ()
    """The calls that a suspended run needs a decision about."""
    duration_ms: float
    unknown: tuple[UnknownCall, ...] = ()
    """Calls of unknown outcome that a suspended run needs a decision about: `resume(…, unknown=…)`."""
    unmet: frozenset[str] = frozenset()
    """Codes of what calls lacked: `approval_required`, `missing_secret`."""
    not_made: frozenset[str] = frozenset()
    """`receipt_ref` of calls that never started."""
    unkept: frozenset[str] = frozenset()
    """What a report of an earlier run cannot show, because it was not kept: `value`, `stdout`, `outputs`, …"""

    def facts(self) -> dict[str, Any]:
        """The report as JSON data, with halves of characters replaced, so that UTF-8 can express all of it."""
        facts = {
            "run_id": self.run_id,
            "status": self.status,
            "engine": self.engine,
            "retry_of": self.retry_of,
            "value": self.value,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "warnings": [asdict(each) for each in self.warnings],
            "outputs": [each.facts() for each in self.outputs],
            "error": None if self.error is None else asdict(self.error),
            "activity": [item._asdict() for item in self.activity],
            "approvals": [each.short_facts() for each in self.approvals],
            "duration_ms": self.duration_ms,
        }
        return _encodable(facts)


class RunEvidence(NamedTuple):
    """What the receipts of a run say: each call with what an answer may say of it, and how the run ended."""

    calls: tuple[tuple[ActivityItem, Evidence], ...]
    end: Receipt | None
    """None while the run is not over."""


class CallReport(Frozen):
    """One direct call of a tool: its result, and the receipt that proves it."""

    result: Result[Any]
    report: Report

    @property
    def ok(self) -> bool:
        return self.result.ok

    @property
    def value(self) -> Any:
        """What the tool returned. Raises ToolCallError if the call did not succeed."""
        return self.result.value

    @property
    def error(self) -> ToolCallError | None:
        return self.result.error

    @property
    def run_id(self) -> str:
        return self.report.run_id

    @property
    def status(self) -> RunStatus:
        return self.report.status

    @property
    def approvals(self) -> tuple[ApprovalRequest, ...]:
        """What a suspended call needs a decision about; once it is made, `resume(run_id)` makes the call."""
        return self.report.approvals

    @property
    def receipt_id(self) -> str | None:
        """The last receipt of the call; None if the run ended before there was one."""
        return self.report.activity[-1].receipt_ref if self.report.activity else None

    @property
    def metadata(self) -> dict[str, Any]:
        """What is known of the call beside its result, as JSON data."""
        names = ("tool_id", "call_id", "status", "risk", "approval", "decided_by", "when", "summary")
        item = self.report.activity[-1] if self.report.activity else None
        said = {name: getattr(item, name, None) for name in names}
        return {"run_id": self.run_id, **said, "duration_ms": self.report.duration_ms}

    def facts(self) -> dict[str, Any]:
        """The result as JSON data: its output is the value as JSON text."""
        error = self.error
        return _encodable(
            {
                "success": self.ok,
                "output": json.dumps(self.value, ensure_ascii=False) if error is None else "",
                "error": None if error is None else f"{error.code}: {error.message}",
                "metadata": self.metadata,
                "receipt_id": self.receipt_id,
            }
        )


def _encodable(facts: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(facts, ensure_ascii=False)
    try:
        text.encode()
        return facts
    except UnicodeEncodeError:  # A snippet makes any text.
        made: dict[str, Any] = json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        return made


def reported(stores: Stores, run: RunReport) -> Report:
    """What a run that ended says of itself, and what its receipts say."""
    receipts = stores.log.of_run(run.run_id, since=run.first_receipt) if run.first_receipt else []
    suspended = run.status == "suspended"
    return Report(
        run_id=run.run_id,
        status=run.status,
        engine=run.engine,
        retry_of=run.retry_of,
        value=run.value,
        stdout=run.stdout,
        stderr=run.stderr,
        warnings=(*_repeated(receipts), *run.warnings),
        outputs=run.outputs,
        error=run.error,
        activity=_activity(stores, run.run_id, receipts),
        approvals=pending_approvals(stores, run.run_id) if suspended else (),
        duration_ms=run.duration_ms,
        unknown=_unknown(receipts) if suspended and run.unknown else (),
        unmet=run.unmet,
        unkept=run.unkept,
        not_made=frozenset(each.id for each in _last_of_calls(receipts) if each.type in _BEFORE_START),
    )


def call_reported(result: Result[Any], report: Report) -> CallReport:
    """What is said of a direct call; one that was suspended names what to decide and what to resume."""
    if report.status == "suspended":
        waits = ", ".join(each.id for each in report.approvals) or "a decision"
        hint = f"decide about it with `approvals.approve` or `approvals.deny`, then `resume({report.run_id!r})`"
        result = Err("suspended", f"{report.run_id} waits for {waits}", hint)
    return CallReport(result=result, report=report)


def report_so_far(stores: Stores, known: RunRecord) -> Report:
    """A run that has neither ended nor been suspended: what its receipts say so far."""
    return Report(
        run_id=known.run_id,
        status="queued" if known.status == "queued" else "running",
        engine=known.header.engine,
        retry_of=known.header.retry_of,
        value=None,
        stdout="",
        error=None,
        activity=run_activity(stores, known),
        approvals=pending_approvals(stores, known.run_id),
        duration_ms=0.0,
    )


def run_activity(stores: Stores, known: RunRecord) -> tuple[ActivityItem, ...]:
    """What a run did so far, whatever became of it."""
    receipts = stores.log.of_run(known.run_id, after=known.first_seq)
    return _activity(stores, known.run_id, receipts, is_orphaned=known.state != "running")


def run_evidence(stores: Stores, run_id: str, receipts: Sequence[Receipt], *, is_orphaned: bool) -> RunEvidence:
    """What a run did so far, with the arguments and results that an answer may speak of, as far as they are small."""
    last = {each.tool_call_id: each for each in receipts if each.tool_call_id}
    hashes = {each for receipt in last.values() for each in (receipt.args_hash, receipt.result_hash) if each}
    contents = small_contents(stores.database, hashes) if hashes else {}
    items = activity_of(run_id, receipts, contents, is_orphaned=is_orphaned).items
    return RunEvidence(
        calls=tuple((item, _evidence(item, last[item.call_id or ""], contents)) for item in items),
        end=next((each for each in reversed(receipts) if each.type in _RUN_ENDS), None),
    )


def _evidence(item: ActivityItem, last: Receipt, contents: Mapping[str, bytes]) -> Evidence:
    from coilclaw.evidence import Evidence

    arguments, result = (json.loads(contents.get(each or "", b"null")) for each in (last.args_hash, last.result_hash))
    return Evidence(
        tool_id=item.tool_id,
        status=item.status,
        summary=item.summary or "",
        receipt_ref=item.receipt_ref,
        arguments=arguments if isinstance(arguments, dict) else None,
        call_id=item.call_id,
        result=result,
        risk=item.risk,
    )


def _activity(
    stores: Stores, run_id: str, receipts: list[Receipt], *, is_orphaned: bool = False
) -> tuple[ActivityItem, ...]:
    hashes = {each.args_hash for each in receipts if each.args_hash}
    contents = small_contents(stores.database, hashes) if hashes else {}
    return activity_of(run_id, receipts, contents, is_orphaned=is_orphaned).items


def _repeated(receipts: list[Receipt]) -> Iterator[RunWarning]:
    """Warnings about writes that may have been made before, and about reused ones that a newer one may have undone."""
    from coilclaw.sandbox import RunWarning

    lines = {each.tool_call_id: each.payload.get("line") for each in receipts if each.type == "tool.call.requested"}
    written: set[str | None] = set()
    for each in receipts:
        line = lines.get(each.tool_call_id) or None
        if each.type == "tool.call.started" and each.risk is not Risk.READ:
            written.add(each.tool)
        if each.type == "tool.call.started" and "doubt" in each.payload:
            message = f"{each.tool} was called although {each.payload['doubt']}"
            yield RunWarning(kind="repeated_write", message=message, line=line)
        if each.type == "tool.call.reused" and each.tool in written:
            message = f"{each.tool} was not called again, after another call of it that may have undone what it did"
            yield RunWarning(kind="reused_after_write", message=message, line=line)


def _unknown(receipts: list[Receipt]) -> tuple[UnknownCall, ...]:
    return tuple(
        UnknownCall(tool=each.tool or "", started=each.timestamp, receipt_ref=each.id)
        for each in _last_of_calls(receipts)
        if each.type == "tool.call.started"
    )


def _last_of_calls(receipts: list[Receipt]) -> Iterable[Receipt]:
    last = {each.tool_call_id: each for each in receipts if each.tool_call_id and each.type != "tool.call.progress"}
    return last.values()
