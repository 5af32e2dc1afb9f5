"""`/api/session`: exchange a one-time code for a browser's session, see who one is, and sign out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.errors import ApiError
from coilclaw.gateway.principal import Scope

__all__ = ["SESSION"]


class CodeGiven(BaseModel):
    """The code of a one-time link."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(max_length=200)


class SessionBegun(BaseModel):
    """A new session; its cookie comes in a header that no script can read."""

    name: str
    secret: str
    """To be sent as `X-CoilClaw-Secret` with every request. It is nowhere else."""
    expires_at: str


class SessionShown(BaseModel):
    """Who sends this request."""

    kind: Literal["session", "token"]
    name: str
    scope: Scope
    expires_at: str | None


class SessionEnded(BaseModel):
    """The session counts no longer."""

    status: Literal["ended"] = "ended"


async def _begin(call: ApiCall[CodeGiven, NoQuery]) -> Response:
    gateway = call.gateway
    begun = await gateway.blocking(gateway.claw.access.sessions.exchange, call.body.code)
    if begun is None:
        raise ApiError(
            401,
            "code_not_valid",
            "this link was used before, or it is too old",
            hint="`coilclaw serve link` prints a new one",
        )
    session = begun.session
    answer = SessionBegun(name=session.name, secret=begun.secret, expires_at=_moment(session.expires_at))
    response = JSONResponse(answer.model_dump(), 201)
    address = gateway.address
    response.set_cookie(
        address.cookie_name,
        begun.cookie,
        expires=datetime.fromtimestamp(session.expires_at, UTC),
        path="/",
        secure=address.is_secure,
        httponly=True,
        samesite="strict",
    )
    return response


async def _show(call: ApiCall[NoBody, NoQuery]) -> SessionShown:
    sender = call.sender
    expires = None if sender.expires_at is None else _moment(sender.expires_at)
    return SessionShown(kind=sender.kind, name=sender.name, scope=sender.scope, expires_at=expires)


async def _end(call: ApiCall[NoBody, NoQuery]) -> Response:
    if call.sender.kind != "session":
        raise ApiError(409, "not_a_session", "a token is not a session", hint="`coilclaw token revoke` ends a token")
    await call.gateway.blocking(call.gateway.claw.access.sessions.end, call.sender.id)
    response = JSONResponse(SessionEnded().model_dump())
    response.delete_cookie(call.gateway.address.cookie_name, path="/", httponly=True, samesite="strict")
    return response


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


SESSION: Final = (
    Endpoint(
        method="POST",
        path="/api/session",
        handler=_begin,
        summary="Exchange a one-time code for a session",
        scope=None,
        body=CodeGiven,
        answer=SessionBegun,
        status=201,
        statuses=(401,),
        body_bytes=4096,
    ),
    Endpoint(
        method="GET",
        path="/api/session",
        handler=_show,
        summary="Who sends this request",
        scope=Scope.READ,
        answer=SessionShown,
    ),
    Endpoint(
        method="DELETE",
        path="/api/session",
        handler=_end,
        summary="Sign out",
        scope=Scope.READ,
        answer=SessionEnded,
        statuses=(409,),
    ),
)
