"""`GET /api/tools/whoami`: what the token of a run allows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from pydantic import BaseModel

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery

__all__ = ["RUN_TOKEN"]


class RunTokenShown(BaseModel):
    """A run's token: the run and project it is bound to, and what it may do there."""

    run_id: str
    project_id: str
    operations: list[str]
    expires_at: str


async def _show(call: ApiCall[NoBody, NoQuery]) -> RunTokenShown:
    token = call.run_token
    return RunTokenShown(
        run_id=token.run_id,
        project_id=token.project_id,
        operations=list(token.operations),
        expires_at=datetime.fromtimestamp(token.expires_at, UTC).isoformat().replace("+00:00", "Z"),
    )


RUN_TOKEN: Final = (
    Endpoint(
        method="GET",
        path="/api/tools/whoami",
        handler=_show,
        summary="What the token of a run allows",
        scope=None,
        tool_operation=Endpoint.ANY_OPERATION,
        answer=RunTokenShown,
    ),
)
