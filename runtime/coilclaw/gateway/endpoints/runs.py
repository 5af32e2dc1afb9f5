"""`/api/runs`: starting runs, looking at them, resuming, cancelling and replaying them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from coilclaw.app import code_rows
from coilclaw.evidence import event_of
from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.endpoints.shapes import JsonObject, Page, RunReportFacts, RunState, RunSummary
from coilclaw.gateway.event_stream import StreamEvent, event_stream, resumed_from
from coilclaw.gateway.principal import Scope
from coilclaw.policy import OtherCall
from coilclaw.runs import NotResumable

if TYPE_CHECKING:
    from starlette.responses import Response

    from coilclaw.app import CoilClaw, RunHandle

__all__ = ["RUNS"]

_MOST_TIMELINE: Final = 5000
_Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class NewRun(BaseModel):
    """A snippet to run."""

    model_config = ConfigDict(extra="forbid")

    code: str
    inputs: JsonObject = {}
    """The variables it starts with."""
    name: Annotated[str, Field(min_length=1, max_length=200)] = "snippet.py"
    engine: Literal["wasm", "restricted"] | None = None
    project: Annotated[str, Field(max_length=200)] | None = None
    wait: bool = False
    """Whether to answer when the run has ended or is suspended, with its report."""
    timeout: _Seconds | None = None
    memory_mib: Annotated[int, Field(ge=64, le=4096)] | None = None
    retry_of: Annotated[str, Field(max_length=200)] | None = None
    """A run whose succeeded writes are not made again."""


class RunFilter(Page):
    """Which runs to list."""

    status: (
        Literal[
            "queued",
            "running",
            "orphaned",
            "suspended",
            "completed",
            "failed",
            "rejected",
            "timed_out",
            "out_of_memory",
            "output_exceeded",
            "diverged",
            "cancelled",
            "crashed",
        ]
        | None
    ) = None


class RunList(BaseModel):
    """Runs, newest first."""

    runs: list[RunSummary]
    cursor: str | None
    """Of the next page; None behind the last one."""


class RunDetails(RunReportFacts):
    """The report of a run, and what a page shows beside it."""

    name: str
    kind: str
    state: str
    """The status, but `orphaned` for a run whose process ended before the run did."""
    started_at: str
    conversation_id: str | None
    project: str | None
    workspace: str
    source: str | None
    code: list[list[tuple[str, str]]]
    """The source in coloured pieces, one row for each line."""
    unknown: list[JsonObject]
    """Calls of unknown outcome that the run waits for a decision about."""
    unmet: list[str]
    """What calls lacked: `approval_required`, `missing_secret`."""
    not_made: list[str]
    """`receipt_ref` of calls that never started."""
    unkept: list[str]
    """Parts of the report that were not kept, and so are empty."""
    timeline: list[JsonObject]
    """Its events, oldest first."""


class RunQuery(BaseModel):
    """How much of a run to answer."""

    model_config = ConfigDict(extra="forbid")

    events: bool = True
    """Whether to answer its events and its activity; `/api/runs/{run_id}/calls` has both in a shorter form."""


class Continued(BaseModel):
    """How to continue a run."""

    model_config = ConfigDict(extra="forbid")

    wait: bool = False
    timeout: _Seconds | None = None


class ContinuedState(RunState):
    """How a run stands that was asked to continue."""

    cursor: str | None
    """That of its last suspension: what has happened since is behind it. None if it was never suspended."""


class UnknownDecision(BaseModel):
    """What to do about calls whose process ended while they were under way."""

    model_config = ConfigDict(extra="forbid")

    decision: Literal["retry", "failed"]
    """Call again, or count as failed."""
    receipt: Annotated[str, Field(max_length=200)] | None = None
    """That of the call as it was displayed; refused if the run waits for a decision about another one."""


class ReplayBody(BaseModel):
    """How far to repeat a run."""

    model_config = ConfigDict(extra="forbid")

    until: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """The number of the call to stop at, to see the variables."""


class ReplayFacts(BaseModel):
    """What became of the repetition of a run."""

    run_id: str
    identical: bool
    status: str
    """How the run had ended."""
    calls: int
    compared: list[str]
    difference: JsonObject | None
    note: str | None
    stop: JsonObject | None
    """Where it was stopped, with the variables of the snippet."""


async def _start(call: ApiCall[NewRun, NoQuery]) -> Response | JsonObject:
    from starlette.responses import JSONResponse

    from coilclaw.app import Caller

    body, claw = call.body, call.gateway.claw
    handle = await call.gateway.blocking(
        claw.background.submit,
        body.code,
        inputs=body.inputs,
        name=body.name,
        engine=body.engine,
        timeout=call.timeout(body.timeout),
        memory_mib=body.memory_mib,
        caller=Caller(channel="api", project=body.project),
        retry_of=body.retry_of,
    )
    if body.wait:
        return await _waited(call, handle)
    return JSONResponse({"run_id": handle.run_id, "status": "queued"}, 202)


async def _waited(call: ApiCall[Any, Any], handle: RunHandle) -> JsonObject:
    try:
        report = await handle
    except NotResumable:  # It was cancelled before it began, or another process has it.
        report = await call.gateway.blocking(call.gateway.claw.runs.show, handle.run_id)
    return report.facts()


async def _list(call: ApiCall[NoBody, RunFilter]) -> RunList:
    query = call.query
    page = await call.gateway.blocking(
        call.gateway.claw.runs.list, status=query.status, limit=query.limit, cursor=query.cursor
    )
    return RunList(runs=[RunSummary.of(each) for each in page.runs], cursor=page.cursor)


async def _show(call: ApiCall[NoBody, RunQuery]) -> JsonObject:
    return await call.gateway.blocking(_details, call.gateway.claw, call.path["run_id"], call.query.events)


def _details(claw: CoilClaw, run_id: str, with_events: bool) -> JsonObject:
    known, report = claw.runs.find(run_id), claw.runs.show(run_id)
    source = claw.runs.source(run_id)
    receipts = claw.receipts.latest(_MOST_TIMELINE, run_id=run_id) if with_events else []
    return {
        **report.facts(),
        **({} if with_events else {"activity": []}),
        "name": known.header.name,
        "kind": known.header.kind,
        "state": known.state,
        "started_at": known.started_at.isoformat(),
        "conversation_id": known.header.conversation_id,
        "project": known.header.project,
        "workspace": known.header.workspace,
        "source": source,
        "code": [] if source is None else code_rows(source),
        "unknown": [asdict(each) for each in report.unknown],
        "unmet": sorted(report.unmet),
        "not_made": sorted(report.not_made),
        "unkept": sorted(report.unkept),
        "timeline": [event_of(each).object() for each in receipts],
    }


async def _resume(call: ApiCall[Continued, NoQuery]) -> Response | JsonObject:
    return await _continued(call, wait=call.body.wait, timeout=call.timeout(call.body.timeout))


async def _decide_unknown(call: ApiCall[UnknownDecision, NoQuery]) -> Response | JsonObject:
    if call.body.receipt is not None:
        await call.gateway.blocking(_check_unknown, call.gateway.claw, call.path["run_id"], call.body.receipt)
    return await _continued(call, unknown=call.body.decision)


def _check_unknown(claw: CoilClaw, run_id: str, receipt: str) -> None:
    claw.runs.find(run_id)
    if [each.receipt_ref for each in claw.runs.show(run_id).unknown[:1]] != [receipt]:
        raise OtherCall(run_id)


async def _continued(
    call: ApiCall[Any, Any],
    *,
    wait: bool = False,
    timeout: float | None = None,
    unknown: Literal["retry", "failed"] | None = None,
) -> JsonObject:
    claw, run_id = call.gateway.claw, call.path["run_id"]
    cursor = await call.gateway.blocking(_last_suspended, claw, run_id)
    handle = await call.gateway.blocking(claw.background.resume, run_id, timeout=timeout, unknown=unknown)
    if wait and handle is not None:
        return {"run_id": run_id, "status": (await _waited(call, handle))["status"], "cursor": cursor}
    known = await call.gateway.blocking(claw.runs.find, run_id)
    return {"run_id": run_id, "status": known.state if handle is None else "running", "cursor": cursor}


def _last_suspended(claw: CoilClaw, run_id: str) -> str | None:
    page: str | None = None
    while True:
        found, page = claw.receipts.page(limit=1, run_id=run_id, type="run.suspended", cursor=page)
        if found:
            return event_of(found[0]).cursor
        if page is None:
            return None


async def _cancel(call: ApiCall[NoBody, NoQuery]) -> RunState:
    claw, run_id = call.gateway.claw, call.path["run_id"]
    await call.gateway.blocking(claw.runs.cancel, run_id, by=call.sender.name)
    known = await call.gateway.blocking(claw.runs.find, run_id)
    return RunState(run_id=run_id, status=known.state)


async def _replay(call: ApiCall[ReplayBody, NoQuery]) -> ReplayFacts:
    claw = call.gateway.claw
    done = await call.gateway.lengthy(claw.replay, call.path["run_id"], until=call.body.until)
    return ReplayFacts(
        run_id=done.run_id,
        identical=done.identical,
        status=done.status,
        calls=done.calls,
        compared=list(done.compared),
        difference=None if done.difference is None else asdict(done.difference),
        note=done.note,
        stop=None if done.stop is None else asdict(done.stop),
    )


async def _events(call: ApiCall[NoBody, NoQuery]) -> Response:
    claw, run_id = call.gateway.claw, call.path["run_id"]
    await call.gateway.blocking(claw.runs.find, run_id)
    after = resumed_from(call.request)
    reader = await call.gateway.blocking(claw.feed.of_run, run_id, after, past_suspension=True)

    async def events() -> AsyncIterator[StreamEvent]:
        try:
            async for event in reader:
                yield StreamEvent(event.kind, event.object(), event.cursor)
        finally:
            reader.close()

    return event_stream(events())


RUNS: Final = (
    Endpoint(
        method="POST",
        path="/api/runs",
        handler=_start,
        summary="Accept a run; with `wait`, answer its report when it has ended or is suspended",
        scope=Scope.RUN,
        body=NewRun,
        answer=RunReportFacts,
        others={202: RunState},
        statuses=(404, 409, 503),
    ),
    Endpoint(
        method="GET",
        path="/api/runs",
        handler=_list,
        summary="List runs, newest first",
        scope=Scope.READ,
        query=RunFilter,
        answer=RunList,
    ),
    Endpoint(
        method="GET",
        path="/api/runs/{run_id}",
        handler=_show,
        summary="Show a run: its report, its source and its events",
        scope=Scope.READ,
        query=RunQuery,
        answer=RunDetails,
        statuses=(404,),
    ),
    Endpoint(
        method="POST",
        path="/api/runs/{run_id}/resume",
        handler=_resume,
        summary="Resume a suspended run in the background; of any other, answer its state",
        scope=Scope.RUN,
        body=Continued,
        answer=ContinuedState,
        statuses=(404, 409),
    ),
    Endpoint(
        method="POST",
        path="/api/runs/{run_id}/unknown",
        handler=_decide_unknown,
        summary="Decide about calls whose outcome nobody knows, and resume the run",
        scope=Scope.OPERATOR,
        decides=True,
        body=UnknownDecision,
        answer=ContinuedState,
        statuses=(404, 409),
    ),
    Endpoint(
        method="POST",
        path="/api/runs/{run_id}/cancel",
        handler=_cancel,
        summary="Cancel a run that is queued, suspended or under way here",
        scope=Scope.RUN,
        answer=RunState,
        statuses=(404, 409),
    ),
    Endpoint(
        method="POST",
        path="/api/runs/{run_id}/replay",
        handler=_replay,
        summary="Repeat a run from its journal with no side effects, and compare",
        scope=Scope.RUN,
        body=ReplayBody,
        answer=ReplayFacts,
        statuses=(404, 409),
    ),
    Endpoint(
        method="GET",
        path="/api/runs/{run_id}/events",
        handler=_events,
        summary="Follow the events of a run until it ends, from Last-Event-ID or its beginning",
        scope=Scope.READ,
        media_type="text/event-stream",
        statuses=(404,),
    ),
)
