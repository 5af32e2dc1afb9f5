"""`GET /api/openapi.json`: the description of the API, made from the table of endpoints."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.openapi import describe
from coilclaw.gateway.principal import Scope

__all__ = ["DESCRIPTION"]


@lru_cache(1)
def _described() -> dict[str, Any]:
    from coilclaw.gateway.endpoints import ENDPOINTS  # The table has this endpoint too.

    return describe(ENDPOINTS)


async def _openapi(call: ApiCall[NoBody, NoQuery]) -> dict[str, Any]:
    return await call.gateway.blocking(_described)


DESCRIPTION: Final = (
    Endpoint(
        method="GET",
        path="/api/openapi.json",
        handler=_openapi,
        summary="Describe this API",
        scope=Scope.READ,
    ),
)
