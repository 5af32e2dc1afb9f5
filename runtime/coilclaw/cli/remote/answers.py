"""A server's answers as the values that commands print: the same types as the app returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast

from coilclaw.app import ApprovalRequest, Report, UnknownCall
from coilclaw.client import NotUnderstood
from coilclaw.sandbox import DisplayedOutput, RunWarning, SnippetError
from coilclaw.sdk import ActivityItem, Receipt, Risk
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.client import Approval, Run, RunSummary

__all__ = ["RemoteHeader", "RemoteRun", "read_receipt", "read_report", "read_request", "read_run"]

_CALLS: Final = ("succeeded", "failed", "denied", "pending", "running", "unknown")


class RemoteHeader(Frozen):
    """What a server says of how a run began."""

    name: str
    kind: str
    engine: str
    workspace: str
    conversation_id: str | None
    request: None = None


class RemoteRun(Frozen):
    """How a run stands at a server."""

    run_id: str
    state: str
    started_at: datetime
    is_waiting: bool
    header: RemoteHeader

    @property
    def status(self) -> str:
        return "running" if self.state == "orphaned" else self.state


def read_run(found: RunSummary | Run) -> RemoteRun:
    """A run of a list, or one that was asked for."""
    state = getattr(found, "state", found.status) or found.status
    try:
        started = datetime.fromisoformat(found.started_at)
    except ValueError:
        raise _odd("the time of a run") from None
    return RemoteRun(
        run_id=found.run_id,
        state=state,
        started_at=started,
        is_waiting=state in ("suspended", "orphaned"),
        header=RemoteHeader(
            name=found.name,
            kind=found.kind,
            engine=found.engine,
            workspace=found.workspace,
            conversation_id=found.conversation_id,
        ),
    )


def read_report(run: Run, approvals: Iterable[Approval]) -> Report:
    """The report of a run. `approvals` are the calls that it waits for."""
    try:
        activity = tuple(ActivityItem(**_known(ActivityItem._fields, each)) for each in run.activity)
        if any(each.status not in _CALLS for each in activity):
            raise _odd("a call")
        return Report(
            run_id=run.run_id,
            status=cast("Any", run.status),
            engine=run.engine,
            value=run.value,
            stdout=run.stdout,
            stderr=run.stderr,
            warnings=tuple(RunWarning(**each) for each in run.warnings),
            outputs=tuple(DisplayedOutput.of_facts(**each) for each in run.outputs),
            error=None if run.error is None else SnippetError(**run.error),
            retry_of=run.retry_of,
            activity=activity,
            approvals=tuple(map(read_request, approvals)),
            duration_ms=run.duration_ms,
            unknown=tuple(UnknownCall(**each) for each in run.unknown),
            unmet=frozenset(run.unmet),
            not_made=frozenset(run.not_made),
            unkept=frozenset(run.unkept),
        )
    except (TypeError, ValueError):
        raise _odd("a run") from None


def read_request(asked: Approval) -> ApprovalRequest:
    """A call that needed approval."""
    return ApprovalRequest(
        id=asked.id,
        run_id=asked.run_id,
        tool=asked.tool,
        arguments=asked.arguments,
        status=asked.status,
        tool_version=asked.tool_version,
        risk=asked.risk,
        reason=asked.reason,
        runs=asked.runs,
        number=asked.number,
        line=asked.line,
        created=asked.created_at,
        expires=asked.expires_at,
        decided_by=asked.decided_by,
        decided=asked.decided_at,
        digest=asked.digest,
        matched_rule=asked.matched_rule,
    )


def read_receipt(facts: Mapping[str, Any]) -> Receipt:
    """A receipt of a list."""
    try:
        risk = facts.get("risk")
        return Receipt(**{**_known(Receipt._fields, facts), "risk": None if risk is None else Risk(risk)})
    except (TypeError, ValueError):
        raise _odd("a receipt") from None


def _known(names: Iterable[str], facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: facts[name] for name in names if name in facts}


def _odd(what: str) -> NotUnderstood:
    return NotUnderstood(
        f"the server's answer about {what} cannot be read", hint="are server and client of the same version?"
    )
