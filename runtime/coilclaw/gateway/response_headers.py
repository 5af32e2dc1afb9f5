"""Headers of every response: what a browser may do with it, and that nobody keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.types import Message, Send

    from coilclaw.gateway.request_body import RequestBody

__all__ = ["CONTENT_POLICY", "strict"]

CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS: Final = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""An endpoint may send its own of a name; then that one is sent alone."""
_ENCODED: Final = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]


def strict(send: Send, body: RequestBody) -> Send:
    """Return a `send` that adds the headers to a response.

    A response that is sent before the request was read to its end closes the connection: the rest is not waited for.
    """

    async def send_strictly(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [
                (name, value)
                for name, value in message.get("headers", [])
                if not name.lower().startswith(b"access-control-")
            ]
            names = {name.lower() for name, _ in own}
            more = [(name, value) for name, value in _ENCODED if name not in names]
            if not body.is_complete and b"connection" not in names:
                more.append((b"connection", b"close"))
            message = {**message, "headers": [*own, *more]}
        await send(message)

    return send_strictly
