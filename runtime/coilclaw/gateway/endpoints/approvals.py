"""`/api/approvals` and `/api/windows`: pending calls, decisions about them, and windows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from coilclaw.app import AlreadyDecided, call_rows, code_rows
from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.endpoints.shapes import Activity, ApprovalFacts, JsonObject, TextRow, WindowFacts, text_rows
from coilclaw.gateway.errors import ApiError
from coilclaw.gateway.principal import Scope
from coilclaw.policy import OtherCall

if TYPE_CHECKING:
    from coilclaw.app import ApprovalRequest, CoilClaw, Window

__all__ = ["APPROVALS"]

_Reason = Annotated[str, Field(max_length=500)]
_Digest = Annotated[str, Field(max_length=200)]


class ApprovalFilter(BaseModel):
    """Which calls to list."""

    model_config = ConfigDict(extra="forbid")

    run: Annotated[str, Field(max_length=200)] | None = None
    status: Literal["pending", "granted", "denied", "expired", "consumed", "all"] = "pending"


class ApprovalList(BaseModel):
    """Calls that needed approval, oldest first."""

    approvals: list[ApprovalFacts]


class ApprovalDetails(ApprovalFacts):
    """A call that needs approval, with the run around it."""

    run_status: str
    conversation_id: str | None
    name: str
    kind: str
    source: str | None
    code: list[list[tuple[str, str]]]
    """The source in coloured pieces, one row for each line."""
    activity: list[Activity]
    """What the run has done so far."""
    rows: list[TextRow]
    """Everything that the call sends, as a person reads it; what would be written to a file as a difference."""


class WindowWanted(BaseModel):
    """A window to open with a decision."""

    model_config = ConfigDict(extra="forbid")

    seconds: Annotated[int, Field(ge=1, le=900)]
    uses: Annotated[int, Field(ge=1, le=10_000)] = 10
    where: JsonObject = {}
    """Arguments of this call that further calls must have too."""


class Decision(BaseModel):
    """A decision about one call."""

    model_config = ConfigDict(extra="forbid")

    decision: Literal["allow-once", "deny", "window"]
    digest: _Digest | None = None
    """That of the call as it was displayed; refused if the call is another one."""
    reason: _Reason | None = None
    window: WindowWanted | None = None


class Sheet(BaseModel):
    """One decision about all pending calls of a run."""

    model_config = ConfigDict(extra="forbid")

    decision: Literal["allow-once", "deny"]
    digests: dict[str, _Digest] | None = None
    """The calls that were displayed, by id; refused if those that wait are not exactly these."""
    reason: _Reason | None = None


class Decided(ApprovalFacts):
    """A call as it stands after a decision."""

    window: WindowFacts | None
    run_status: str
    """How its run stands now: `running` if this was the last open decision."""


class DecidedSheet(BaseModel):
    """The calls of a run as they stand after a decision."""

    approvals: list[ApprovalFacts]
    run_status: str
    """How the run stands now: `running` if nothing else was open."""


class Where(BaseModel):
    """Arguments that further calls must have."""

    model_config = ConfigDict(extra="forbid")

    where: Annotated[str, Field(max_length=10_000)] | None = None
    """A JSON object."""


class Coverage(BaseModel):
    """How far a window would have reached."""

    covered: int
    calls: int
    """The latest calls of the tool that were looked at."""


class WindowList(BaseModel):
    """The windows that are open; those that close first come first."""

    windows: list[WindowFacts]


async def _list(call: ApiCall[NoBody, ApprovalFilter]) -> ApprovalList:
    approvals, query = call.gateway.claw.approvals, call.query
    if query.status == "pending":
        found = await call.gateway.blocking(approvals.pending, query.run)
    else:
        found = await call.gateway.blocking(approvals.list, run_id=query.run)
    wanted = (query.status,) if query.status != "all" else None
    return ApprovalList(approvals=[ApprovalFacts.of(each) for each in found if wanted is None or each.status in wanted])


async def _show(call: ApiCall[NoBody, NoQuery]) -> ApprovalDetails:
    return await call.gateway.blocking(_details, call.gateway.claw, call.path["approval_id"])


def _details(claw: CoilClaw, approval_id: str) -> ApprovalDetails:
    asked, facts = claw.approvals.get(approval_id), claw.approvals.explain(approval_id)
    place = claw.runs.find(asked.run_id).header.workspace
    arguments = None if asked.arguments is None else json.dumps(asked.arguments)
    details: ApprovalDetails = ApprovalDetails.of(
        asked,
        **{name: facts[name] for name in ("run_status", "conversation_id", "name", "kind", "source", "activity")},
        code=[] if facts["source"] is None else code_rows(facts["source"]),
        rows=text_rows(call_rows(asked.tool, arguments, asked.runs, Path(place) if place else None)),
    )
    return details


async def _decide(call: ApiCall[Decision, NoQuery]) -> Decided:
    return await call.gateway.blocking(
        _decided, call.gateway.claw, call.path["approval_id"], call.body, call.sender.name
    )


def _decided(claw: CoilClaw, approval_id: str, wanted: Decision, by: str) -> Decided:
    if (wanted.decision == "window") != (wanted.window is not None):
        raise ApiError(400, "invalid_request", "`window` goes with the decision `window`, and with no other")
    if wanted.digest is not None:
        claw.approvals.check_digest(approval_id, wanted.digest)
    if wanted.window is not None:
        # Before the decision: a request that is answered with an error must have decided nothing.
        claw.approvals.windows.narrowed(approval_id, wanted.window.where)
    opened: Window | None = None
    approved = wanted.decision != "deny"
    try:
        (asked,) = claw.approvals.decide(approval_id, approved=approved, by=by, reason=wanted.reason)
    except AlreadyDecided:
        asked = claw.approvals.get(approval_id)
    else:
        if wanted.window is not None:
            opened = claw.approvals.windows.open(
                approval_id,
                by=by,
                seconds=wanted.window.seconds,
                uses=wanted.window.uses,
                where=wanted.window.where,
            )
    window = None if opened is None else WindowFacts.of(opened)
    made: Decided = Decided.of(asked, window=window, run_status=_continued(claw, asked.run_id, opened))
    return made


def _continued(claw: CoilClaw, run_id: str, window: Window | None = None) -> str:
    """Resume a run if all is decided; returns how it stands."""
    resumed = claw.background.resume_if_decided(run_id, window=window)
    return "running" if resumed is not None else claw.runs.find(run_id).state


async def _decide_run(call: ApiCall[Sheet, NoQuery]) -> DecidedSheet:
    return await call.gateway.blocking(
        _decided_sheet, call.gateway.claw, call.path["run_id"], call.body, call.sender.name
    )


def _decided_sheet(claw: CoilClaw, run_id: str, sheet: Sheet, by: str) -> DecidedSheet:
    claw.runs.find(run_id)
    pending = claw.approvals.pending(run_id)
    if sheet.digests is not None and sheet.digests != {each.id: each.digest for each in pending}:
        raise OtherCall(run_id)
    asked: tuple[ApprovalRequest, ...] = ()
    if pending:
        ids, approved = [each.id for each in pending], sheet.decision == "allow-once"
        try:
            # Exactly these: a call that comes meanwhile was displayed to nobody.
            asked = claw.approvals.decide(*ids, approved=approved, by=by, reason=sheet.reason)
        except AlreadyDecided:
            asked = tuple(map(claw.approvals.get, ids))
    return DecidedSheet(approvals=[ApprovalFacts.of(each) for each in asked], run_status=_continued(claw, run_id))


async def _coverage(call: ApiCall[NoBody, Where]) -> Coverage:
    windows, approval_id = call.gateway.claw.approvals.windows, call.path["approval_id"]
    covered, calls = await call.gateway.blocking(windows.coverage, approval_id, _where(call.query.where))
    return Coverage(covered=covered, calls=calls)


def _where(text: str | None) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ApiError(400, "invalid_request", "`where` is a JSON object")
    return found


async def _windows(call: ApiCall[NoBody, NoQuery]) -> WindowList:
    found = await call.gateway.blocking(call.gateway.claw.approvals.windows.list)
    return WindowList(windows=[WindowFacts.of(each) for each in found])


async def _close_window(call: ApiCall[NoBody, NoQuery]) -> WindowFacts:
    windows = call.gateway.claw.approvals.windows
    closed = await call.gateway.blocking(windows.close, call.path["window_id"], by=call.sender.name)
    return WindowFacts.of(closed)


APPROVALS: Final = (
    Endpoint(
        method="GET",
        path="/api/approvals",
        handler=_list,
        summary="List calls that wait for a decision, oldest first",
        scope=Scope.READ,
        query=ApprovalFilter,
        answer=ApprovalList,
    ),
    Endpoint(
        method="GET",
        path="/api/approvals/{approval_id}",
        handler=_show,
        summary="Show a call that needs approval whole, with the run around it",
        scope=Scope.READ,
        answer=ApprovalDetails,
        statuses=(404, 409),
    ),
    Endpoint(
        method="POST",
        path="/api/approvals/{approval_id}/decision",
        handler=_decide,
        summary="Approve or deny a call; the last open decision of a run resumes it",
        scope=Scope.OPERATOR,
        decides=True,
        body=Decision,
        answer=Decided,
        statuses=(404, 409),
    ),
    Endpoint(
        method="GET",
        path="/api/approvals/{approval_id}/coverage",
        handler=_coverage,
        summary="Count the past calls that a window would have let through",
        scope=Scope.READ,
        query=Where,
        answer=Coverage,
        statuses=(404, 409),
    ),
    Endpoint(
        method="POST",
        path="/api/runs/{run_id}/decision",
        handler=_decide_run,
        summary="Approve or deny all pending calls of a run at once",
        scope=Scope.OPERATOR,
        decides=True,
        body=Sheet,
        answer=DecidedSheet,
        statuses=(404, 409),
    ),
    Endpoint(
        method="GET",
        path="/api/windows",
        handler=_windows,
        summary="List the open windows",
        scope=Scope.READ,
        answer=WindowList,
    ),
    Endpoint(
        method="DELETE",
        path="/api/windows/{window_id}",
        handler=_close_window,
        summary="Close a window before its time",
        scope=Scope.OPERATOR,
        decides=True,
        answer=WindowFacts,
        statuses=(404,),
    ),
)
