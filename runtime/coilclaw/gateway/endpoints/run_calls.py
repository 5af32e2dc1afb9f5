"""`/api/runs/{run_id}/calls` and `/outputs`: a run as a picture, and the pictures that it displayed."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel
from starlette.responses import Response

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.errors import ApiError
from coilclaw.gateway.principal import Scope

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw, RunCall

__all__ = ["RUN_CALLS"]

_PICTURES: Final = ("image/png", "image/svg+xml")
_INERT: Final = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
"""The policy of a picture that a snippet made: opened by itself it runs nothing, and loads nothing."""

Step = tuple[str, int, str]


class CallFacts(BaseModel):
    """One call of a run."""

    id: str
    number: int | None
    line: int | None
    tool: str
    risk: str | None
    status: str
    approval: str
    decided_by: str | None
    label: str
    """The argument that tells the calls of this tool apart."""
    summary: str
    steps: list[Step]
    """Its receipts, oldest first: the type, the number in the log, and when."""


class CallList(BaseModel):
    """The calls of a run in the order of issue, and the moments of the run itself."""

    log: str
    """What the ids of its receipts begin with; `-` and the number follow."""
    calls: list[CallFacts]
    moments: list[Step]


async def _calls(call: ApiCall[NoBody, NoQuery]) -> CallList:
    def found(claw: CoilClaw) -> CallList:
        known = claw.runs.calls(call.path["run_id"])
        latest = claw.receipts.latest(1, run_id=call.path["run_id"])
        return CallList(
            log=latest[0].id.rpartition("-")[0] if latest else "",
            calls=[_facts(each) for each in known.calls],
            moments=list(known.moments),
        )

    return await call.gateway.blocking(found, call.gateway.claw)


def _facts(call: RunCall) -> CallFacts:
    item = call.item
    return CallFacts(
        id=item.call_id or "",
        number=call.number,
        line=call.line,
        tool=item.tool_id,
        risk=item.risk,
        status=item.status,
        approval=item.approval,
        decided_by=item.decided_by,
        label=call.label,
        summary=item.summary or "",
        steps=list(call.steps),
    )


async def _picture(call: ApiCall[NoBody, NoQuery]) -> Response:
    report = await call.gateway.blocking(call.gateway.claw.runs.show, call.path["run_id"])
    number = call.path["number"]
    wanted = int(number) if number.isascii() and number.isdecimal() and len(number) < 6 else -1
    if not 0 <= wanted < len(report.outputs) or report.outputs[wanted].mime not in _PICTURES:
        raise ApiError(404, "not_found", f"the run displayed no picture {number[:20]!r}")
    output = report.outputs[wanted]
    body = base64.b64decode(output.data) if output.mime == "image/png" else output.data.encode(errors="replace")
    return Response(body, media_type=output.mime, headers={"Content-Security-Policy": _INERT})


RUN_CALLS: Final = (
    Endpoint(
        method="GET",
        path="/api/runs/{run_id}/calls",
        handler=_calls,
        summary="List the calls of a run with all their moments, for a picture of it",
        scope=Scope.READ,
        answer=CallList,
        statuses=(404,),
    ),
    Endpoint(
        method="GET",
        path="/api/runs/{run_id}/outputs/{number}",
        handler=_picture,
        summary="A picture that a run displayed; the first output is 0",
        scope=Scope.READ,
        is_embedded=True,
        media_type="image/*",
        statuses=(404,),
    ),
)
