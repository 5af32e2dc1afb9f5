"""`GET /health`: whether the server answers. Open to anybody, so it says nothing else."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery

__all__ = ["HEALTH"]


class Health(BaseModel):
    """The server answers."""

    status: Literal["ok"] = "ok"


async def _health(call: ApiCall[NoBody, NoQuery]) -> Health:
    return Health()


HEALTH: Final = (
    Endpoint(
        method="GET", path="/health", handler=_health, summary="Whether the server answers", scope=None, answer=Health
    ),
)
