"""What may be asked: risk of a URL, headers, and where a redirect leads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from coilclaw.sdk import Forbid, Raised, Risk, ToolContext, ToolFailure

if TYPE_CHECKING:
    import httpx

__all__ = ["checked_headers", "judged", "next_hop", "plain_headers"]

_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_LONGEST_VALUE: Final = 8192
_REFUSED: Final = frozenset(
    {
        # What belongs to the connection, not to the request.
        "accept-encoding",
        "connection",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        # With these, a GET that was judged as reading would be another method on many servers.
        "x-http-method",
        "x-http-method-override",
        "x-method-override",
        # With these, another server or path than the one that was judged would answer.
        "forwarded",
        "x-forwarded-host",
        "x-forwarded-server",
        "x-host",
        "x-original-url",
        "x-rewrite-url",
    }
)
_PLAIN: Final = frozenset({"accept", "accept-language", "user-agent"})


def judged(url: str, headers: Mapping[str, str], ctx: ToolContext) -> Risk | Raised | Forbid:
    """Reading from a listed domain is a read; from any other public one it could carry data out, so it is a write."""
    try:
        place = ctx.destination(url)
        checked_headers(headers)
        if place.within(ctx.bounds.http_domains):
            return Risk.READ
        return Raised(risk=Risk.WRITE, reason=f"{place.netloc} is not in http_domains")
    except ToolFailure as failure:
        return Forbid(reason=f"{failure.message}; {failure.hint}" if failure.hint else failure.message)


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers in lower case. Those that would change what the request is are refused."""
    checked: dict[str, str] = {}
    for name, value in headers.items():
        lower = name.lower()
        if not _NAME.fullmatch(name) or lower in checked:
            raise ToolFailure(f"{name[:100]!r} is not a header, or is there twice", code="bad_request")
        if lower in _REFUSED:
            raise ToolFailure(f"the header {name!r} cannot be set", code="bad_request", hint="leave it out")
        if len(value) > _LONGEST_VALUE or not value.isascii() or not value.isprintable():
            raise ToolFailure(
                f"the value of the header {name!r} is not printable ASCII text, or is too long", code="bad_request"
            )
        checked[lower] = value.strip()
    return checked


def plain_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that may follow a redirect to another server."""
    return {name: value for name, value in headers.items() if name in _PLAIN}


def next_hop(answer: httpx.Response) -> str | None:
    """Where an answer redirects to, or None when it does not."""
    return str(answer.url.join(answer.headers["location"])) if answer.has_redirect_location else None
