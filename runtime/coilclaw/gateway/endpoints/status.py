"""`/status`, `/tools`, `/estop` and `/metrics`: how the runtime stands, for people and for monitoring."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.endpoints.registry import LoadError, ToolSummary, load_errors, tool_summaries
from coilclaw.gateway.metrics import exposition
from coilclaw.gateway.principal import Scope

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw
    from coilclaw.policy import StopState

__all__ = ["STATUS"]


class StopFacts(BaseModel):
    """The emergency stop."""

    set: bool
    by: str | None = None
    at: str | None = None
    reason: str | None = None


class Counts(BaseModel):
    """How much there is of everything that waits or runs."""

    tools: int
    queued: int
    running: int
    suspended: int
    pending_approvals: int
    open_windows: int
    quarantined: int
    receipts: int


class Finding(BaseModel):
    """Something that was looked at."""

    check: str
    state: str
    """`ok`, `warning` or `error`."""
    detail: str


class Status(BaseModel):
    """How the runtime stands."""

    version: str
    home: str
    workspace: str
    engine: str
    autonomy: str
    estop: StopFacts
    counts: Counts
    findings: list[Finding]


class Tools(BaseModel):
    """The active tools."""

    tools: list[ToolSummary]
    errors: list[LoadError]


class StopBody(BaseModel):
    """Whether every tool is to be stopped."""

    model_config = ConfigDict(extra="forbid")

    set: bool
    reason: Annotated[str, Field(max_length=500)] | None = None


class StopAnswer(BaseModel):
    """The emergency stop after a change."""

    estop: StopFacts
    changed: bool
    """False if it was so before."""
    receipt: str | None
    problem: str | None
    """Why there is no receipt."""


def _stop_facts(state: StopState | None) -> StopFacts:
    if state is None:
        return StopFacts(set=False)
    return StopFacts(set=True, by=state.who, at=state.when, reason=state.reason)


async def _status(call: ApiCall[NoBody, NoQuery]) -> Status:
    return await call.gateway.blocking(_gathered, call.gateway.claw)


def _gathered(claw: CoilClaw) -> Status:
    config, state = claw.settings.config, claw.receipts.watch.state()
    errors, held = load_errors(claw), claw.quarantine.held()
    runs = claw.runs.counts()
    findings = [
        Finding(check="receipts", state="ok" if state.ok else "error" if state.ok is False else "warning",
                detail=state.problem or f"verified to receipt {state.verified_to}"),
        *(Finding(check="tools", state="warning", detail=f"{each.file}: {each.message}") for each in errors),
        *(Finding(check="tools", state="warning", detail=f"{name} is quarantined") for name in held),
    ]  # fmt: skip
    return Status(
        version=version("coilclaw"),
        home=str(claw.settings.home),
        workspace=str(config.workspace_dir),
        engine=config.sandbox.engine,
        autonomy=config.security.autonomy,
        estop=_stop_facts(claw.estop.state),
        counts=Counts(
            tools=len(claw.tools.registry.tools),
            queued=runs.get("queued", 0),
            running=runs.get("running", 0),
            suspended=runs.get("suspended", 0),
            pending_approvals=len(claw.approvals.pending()),
            open_windows=len(claw.approvals.windows.list()),
            quarantined=len(held),
            receipts=state.verified_to,
        ),
        findings=findings,
    )


async def _tools(call: ApiCall[NoBody, NoQuery]) -> Tools:
    def listed(claw: CoilClaw) -> Tools:
        return Tools(tools=tool_summaries(claw), errors=load_errors(claw))

    return await call.gateway.blocking(listed, call.gateway.claw)


async def _estop(call: ApiCall[StopBody, NoQuery]) -> StopAnswer:
    stop, wanted = call.gateway.claw.estop, call.body
    change: Any = stop.set if wanted.set else stop.clear
    done = await call.gateway.blocking(change, by=call.sender.name, reason=wanted.reason)
    return StopAnswer(estop=_stop_facts(done.state), changed=done.changed, receipt=done.receipt, problem=done.problem)


async def _metrics(call: ApiCall[NoBody, NoQuery]) -> Response:
    body, media_type = await call.gateway.blocking(exposition, call.gateway.claw)
    return Response(body, media_type=media_type)


STATUS: Final = (
    Endpoint(
        method="GET",
        path="/status",
        handler=_status,
        summary="Say how the runtime stands",
        scope=Scope.READ,
        answer=Status,
    ),
    Endpoint(
        method="GET", path="/tools", handler=_tools, summary="List the active tools", scope=Scope.READ, answer=Tools
    ),
    Endpoint(
        method="GET",
        path="/metrics",
        handler=_metrics,
        summary="Counters and gauges in the format of Prometheus",
        scope=Scope.READ,
        media_type="text/plain",
    ),
    Endpoint(
        method="POST",
        path="/estop",
        handler=_estop,
        summary="Set or clear the emergency stop",
        scope=Scope.OPERATOR,
        decides=True,
        body=StopBody,
        answer=StopAnswer,
    ),
)
