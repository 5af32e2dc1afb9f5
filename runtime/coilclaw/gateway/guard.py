"""The guard in front of every request: authenticates it before anything of it is parsed.

It looks at the headers and the path alone, in this order: is the request meant for this server (`Host`), does it come
from a page of another origin (`Origin`, `Sec-Fetch-Site`), does its address send too many, and who sends it. What is
not open is refused here without a sender, whatever is routed to the path; an endpoint then asks whether that sender
is enough for it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Final

from starlette.routing import compile_path

from coilclaw.access import RunToken
from coilclaw.gateway.address import is_loopback
from coilclaw.gateway.authentication import Identity, RequestHeaders, Sender, authenticate
from coilclaw.gateway.errors import ApiError, error_response
from coilclaw.gateway.lasting_response import while_valid
from coilclaw.gateway.rate_limit import RateLimit
from coilclaw.gateway.request_body import RequestBody
from coilclaw.gateway.response_headers import strict

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from coilclaw.gateway.endpoint import Endpoint
    from coilclaw.gateway.gateway import Gateway

__all__ = ["TOOL_PATHS", "Guard"]

_logger: Final = logging.getLogger(__name__)

TOOL_PATHS: Final = "/api/tools/"
"""Run tokens are taken below this path, and nowhere else; nothing else is taken there."""
_MOST_HEADERS: Final = 100
_HEAD_BYTES: Final = 32 * 1024
_READING: Final = ("GET", "HEAD")


class Guard:
    """Finds out who sends a request, and lets an endpoint ask whether that is enough."""

    def __init__(self, app: ASGIApp, gateway: Gateway, endpoints: Iterable[Endpoint]) -> None:
        self._app = app
        self._gateway = gateway
        self._open = [
            (_methods(each), compile_path(each.path)[0])
            for each in endpoints
            if each.scope is None and each.tool_operation is None
        ]
        self._failures = RateLimit(burst=10, per_second=1 / 6)
        self._requests = RateLimit(burst=400, per_second=100)
        self._log_lines = RateLimit(burst=20, per_second=1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError(f"the gateway serves HTTP alone, not {scope['type']}")
        headers = RequestHeaders(scope["headers"])
        body = RequestBody(receive, headers)
        send = strict(send, body)
        try:
            sender = await self._sender(scope, headers)
            admission = Admission(sender, scope, body)
        except ApiError as error:
            self._log(scope, error)
            await error_response(error)(scope, receive, send)
            return
        scope["coilclaw.sender"] = admission.identity
        scope["coilclaw.admit"] = admission.admit
        if sender.identity is not None:
            send = while_valid(send, partial(self._is_valid, headers))
        try:
            await self._app(scope, body.receive, send)
        except Exception:
            # It was logged and answered; a response that had begun already ends here, cut off.
            return

    async def _sender(self, scope: Scope, headers: RequestHeaders) -> Sender:
        """Authenticate a request, and refuse it without a sender unless it is for something open."""
        _check_head(scope)
        _check_length(headers)
        is_open = self._is_open(scope)
        self._check_host(headers)
        self._check_origin(scope, headers, is_open)
        address = self._address_of(scope, headers)
        is_limited = not is_loopback(address)
        if is_limited:
            self._within(self._requests, address)
            self._requests.take(address)
        if is_open:
            return Sender(None, presented=False)
        if is_limited:
            self._within(self._failures, address)
        sender = await self._authenticated(headers)
        if sender.identity is None:
            if is_limited and sender.presented:
                self._failures.take(address)
            what = "what was sent is not valid, or no longer" if sender.presented else "this needs to know who sends it"
            raise ApiError(
                401, "unauthenticated", what, hint="send an API token: `coilclaw token create`, or open a session"
            )
        return sender

    async def _authenticated(self, headers: RequestHeaders) -> Sender:
        gateway = self._gateway
        return await gateway.blocking(authenticate, gateway.claw.access, headers, gateway.address.cookie_name)

    async def _is_valid(self, headers: RequestHeaders) -> bool:
        """Whether what a request was sent with still counts."""
        return (await self._authenticated(headers)).identity is not None

    def _is_open(self, scope: Scope) -> bool:
        return any(scope["method"] in methods and pattern.match(scope["path"]) for methods, pattern in self._open)

    def _check_host(self, headers: RequestHeaders) -> None:
        """Refuse a request for another name: one whose name was made to lead here is no page of this server's."""
        if (headers.one("host") or "").lower() not in self._gateway.address.hosts:
            raise ApiError(
                421,
                "wrong_host",
                "the request is for another host than this server",
                hint="use the address that `coilclaw serve` printed; `--public-name` adds one",
            )

    def _check_origin(self, scope: Scope, headers: RequestHeaders, is_open: bool) -> None:
        origin, site = headers.one("origin"), headers.one("sec-fetch-site")
        if origin is not None and origin not in self._gateway.address.origins:
            raise ApiError(403, "foreign_origin", "the request comes from a page of another origin")
        # Somebody may follow a link to an open page; a page of another origin may use nothing.
        follows = is_open and scope["method"] in _READING and headers.one("sec-fetch-mode") == "navigate"
        if site not in (None, "same-origin", "none") and not follows:
            raise ApiError(403, "foreign_origin", "the request comes from a page of another origin")

    def _address_of(self, scope: Scope, headers: RequestHeaders) -> str:
        client = scope.get("client")
        address = client[0] if client else ""
        if self._gateway.address.is_behind_proxy and (named := headers.all("x-forwarded-for")):
            # The last was added by the proxy itself; those before it are what the client said.
            return named[-1].rpartition(",")[2].strip()[:64]
        return address

    def _within(self, limit: RateLimit, address: str) -> None:
        if seconds := limit.wait(address):
            raise ApiError(
                429, "too_many_requests", f"too many requests; wait {math.ceil(seconds)} s", details={"wait": seconds}
            )

    def _log(self, scope: Scope, error: ApiError) -> None:
        """Leave a line about a refused request, without anything of it that may be a secret."""
        if self._log_lines.wait(""):
            return  # Somebody who sends thousands does not fill the log.
        self._log_lines.take("")
        client = scope.get("client")
        facts = {
            "code": error.code,
            "method": scope["method"],
            "path": scope["path"][:200],
            "from": client and client[0],
        }
        _logger.warning("request.refused", extra={"event": facts})


class Admission:
    """The sender of one request, for the endpoint that it is routed to."""

    def __init__(self, sender: Sender, scope: Scope, body: RequestBody) -> None:
        self._sender = sender
        self._scope = scope
        self._body = body

    @property
    def identity(self) -> Identity | None:
        """Who sends the request; None at open endpoints."""
        return self._sender.identity

    def admit(self, endpoint: Endpoint) -> Identity | None:
        """Return who sends the request. Raises ApiError if that is not enough for an endpoint."""
        identity = self._sender.identity
        is_for_runs = endpoint.tool_operation is not None or self._scope["path"].startswith(TOOL_PATHS)
        if is_for_runs or isinstance(identity, RunToken):
            _check_run_token(identity, endpoint)
        elif endpoint.scope is not None:
            if identity is None:
                raise ApiError(401, "unauthenticated", "this needs a session or an API token")
            if not self._sender.has_secret and not (endpoint.is_embedded and self._scope["method"] in _READING):
                raise ApiError(403, "secret_missing", "a session also needs its secret in the header X-CoilClaw-Secret")
            if not identity.scope.includes(endpoint.scope):
                raise ApiError(
                    403, "forbidden", f"this needs the scope {endpoint.scope}, and the sender has {identity.scope}"
                )
        self._body.allow(endpoint.body_bytes)
        return identity


def _check_length(headers: RequestHeaders) -> None:
    if headers.all("content-length") and headers.all("transfer-encoding"):
        # A proxy in front may go by the one and this server by the other, and what follows is a request to one of them.
        raise ApiError(400, "invalid_request", "the length of the body is given in two ways")


def _check_head(scope: Scope) -> None:
    """The server bounds heads that arrive in pieces; one that arrives at once may be larger."""
    sizes = [len(name) + len(value) for name, value in scope["headers"]]
    if len(sizes) > _MOST_HEADERS or sum(sizes) + len(scope["raw_path"]) + len(scope["query_string"]) > _HEAD_BYTES:
        raise ApiError(431, "head_too_large", "the headers or the path are too large")


def _check_run_token(identity: Identity | None, endpoint: Endpoint) -> None:
    if not isinstance(identity, RunToken):
        raise ApiError(403, "needs_run_token", "this path takes the token of a run, and nothing else")
    if endpoint.tool_operation is None:
        raise ApiError(403, "forbidden", f"the token of a run is good for {TOOL_PATHS} alone")
    if endpoint.tool_operation != endpoint.ANY_OPERATION and not identity.allows(endpoint.tool_operation):
        raise ApiError(403, "forbidden", f"this run may not do {endpoint.tool_operation}")


def _methods(endpoint: Endpoint) -> tuple[str, ...]:
    return ("GET", "HEAD") if endpoint.method == "GET" else (endpoint.method,)
