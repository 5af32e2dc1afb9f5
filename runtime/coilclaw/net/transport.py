"""HTTP clients that reach only what `Reach` allows, for as long as they may.

The checks sit in the transport, below redirects, so every hop passes them. There are no proxies and no
Unix sockets. A request ends at its deadline, however slowly the server drips.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import httpcore
import httpx

from coilclaw.net.bodies import ACCEPTED_ENCODINGS, Unpacking
from coilclaw.net.connections import ENDS, AsyncCheckedBackend, CheckedBackend, Directory, Resolver, look_up
from coilclaw.net.hosts import Destination, Reach
from coilclaw.sdk import ToolFailure

__all__ = ["async_client", "sync_client"]

_FIRST_PLACE: Final = "coilclaw.first_place"
_FOLLOWS_ANYWHERE: Final = frozenset(
    {b"accept", b"accept-encoding", b"accept-language", b"cache-control", b"connection", b"user-agent"}
)
"""Headers that may follow a redirect to another server: none of them can hold a credential."""


@cache
def _trusted() -> ssl.SSLContext:
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


class _Gate:
    """What the plain and the async transport have in common."""

    def __init__(self, reach: Reach, seconds: Callable[[], float], resolve: Resolver, tls: ssl.SSLContext | None):
        self._reach = reach
        self.directory = Directory(reach, resolve)
        self._seconds = seconds
        self._tls = tls

    def pool(self, kind: type[Any], scheme: str, backend: Any) -> Any:
        # Loading the trusted certificates takes longer than a request on this machine; plain HTTP does without.
        context = (self._tls or _trusted()) if scheme == "https" else None
        return kind(ssl_context=context, network_backend=backend, retries=0, max_connections=20)

    def admit(self, request: httpx.Request) -> tuple[Destination, httpcore.Request, float]:
        """The same request for where it really goes, without what must not go there, and when it ends."""
        place = self._reach.destination(request.url)
        first = request.extensions.get(_FIRST_PLACE, place)
        request.extensions = {**request.extensions, _FIRST_PLACE: first}
        headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"host"]
        if not place.is_place_of(first):
            if request.method not in ("GET", "HEAD"):
                raise ToolFailure(
                    f"{first.netloc!r} redirects a {request.method} to {place.netloc!r}, which was not sent there",
                    code="redirect_refused",
                    hint="call the other server directly if that is meant",
                )
            headers = [(name, value) for name, value in headers if name.lower() in _FOLLOWS_ANYWHERE]
        total = self._seconds()
        if total <= 0:
            raise _too_slow(place)
        given = request.extensions.get("timeout", {})
        timeouts = {key: min(total, given.get(key) or total) for key in ("connect", "read", "write", "pool")}
        admitted = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=place.scheme.encode(),
                host=str(place.host).encode(),
                port=place.port,
                target=request.url.raw_path,
            ),
            headers=[(b"Host", place.netloc.encode()), *headers],
            content=request.stream,
            extensions={"timeout": timeouts},
        )
        return place, admitted, time.monotonic() + total


def _too_slow(place: Destination) -> ToolFailure:
    return ToolFailure(
        f"{place.netloc!r} did not answer in time", code="http_timeout", hint="try again later, or ask for less"
    )


@contextmanager
def _explained(place: Destination) -> Iterator[None]:
    """Errors of the network in the words of the caller. Texts of the library stay out: some quote headers."""
    try:
        yield
    except httpcore.TimeoutException:
        raise _too_slow(place) from None
    except httpcore.NetworkError as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, ssl.SSLError):
            cause = cause.__cause__ or cause.__context__
        if cause is not None:
            reason = getattr(cause, "verify_message", None) or getattr(cause, "reason", None) or "no agreement"
            raise ToolFailure(f"no trusted connection to {place.netloc!r}: {reason}", code="tls_failed") from None
        raise ToolFailure(
            f"{place.netloc!r} cannot be reached", code="http_unreachable", hint="try again later"
        ) from None
    except httpcore.LocalProtocolError:
        raise ToolFailure(
            "the request cannot be sent as it is", code="bad_request", hint="look for line breaks in header values"
        ) from None
    except (httpcore.ProtocolError, httpcore.UnsupportedProtocol):
        raise ToolFailure(f"{place.netloc!r} does not answer in HTTP", code="http_protocol") from None


def _opened(answer: httpcore.Response, url: httpx.URL) -> tuple[Unpacking, list[tuple[bytes, bytes]]]:
    """How to unpack the body, and the headers that are still true afterwards."""
    encodings = [value.decode("latin-1") for name, value in answer.headers if name.lower() == b"content-encoding"]
    unpacking = Unpacking(", ".join(encodings))
    gone = (b"content-encoding", b"content-length") if encodings else ()
    headers = [(name, value) for name, value in answer.headers if name.lower() not in gone]
    _check_redirect(httpx.Response(answer.status, headers=headers), url)
    return unpacking, headers


def _check_redirect(answer: httpx.Response, url: httpx.URL) -> None:
    """The client looks at where an answer redirects to even if nobody follows; what is no URL would crash it."""
    if not answer.has_redirect_location:
        return
    location = answer.headers["location"]
    try:
        target = httpx.URL(location)
        url.join(target.copy_with(host=url.host) if target.scheme and not target.host else target)
    except (httpx.InvalidURL, ValueError):
        raise ToolFailure(f"the server redirects to {location[:200]!r}, which is not a URL", code="bad_url") from None


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: Any, place: Destination, ends: float, unpacking: Unpacking) -> None:
        self._stream, self._place, self._ends, self._unpacking = stream, place, ends, unpacking

    def __iter__(self) -> Iterator[bytes]:
        pieces = iter(self._stream)
        while True:
            ENDS.set(self._ends)
            with _explained(self._place):
                data = next(pieces, None)
            if data is None:
                break
            yield from self._unpacking.feed(data)
        yield from self._unpacking.end()

    def close(self) -> None:
        self._stream.close()


class _AsyncBody(httpx.AsyncByteStream):
    def __init__(self, stream: Any, place: Destination, ends: float, unpacking: Unpacking) -> None:
        self._stream, self._place, self._ends, self._unpacking = stream, place, ends, unpacking

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = aiter(self._stream)
        while True:
            ENDS.set(self._ends)
            with _explained(self._place):
                data = await anext(pieces, None)
            if data is None:
                break
            for piece in self._unpacking.feed(data):
                yield piece
        for piece in self._unpacking.end():
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Transport(httpx.BaseTransport):
    def __init__(self, gate: _Gate) -> None:
        self._gate = gate
        self._pools: dict[str, httpcore.ConnectionPool] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        place, admitted, ends = self._gate.admit(request)
        if place.scheme not in self._pools:
            backend = CheckedBackend(self._gate.directory)
            self._pools[place.scheme] = self._gate.pool(httpcore.ConnectionPool, place.scheme, backend)
        ENDS.set(ends)
        with _explained(place):
            answer = self._pools[place.scheme].handle_request(admitted)
        try:
            unpacking, headers = _opened(answer, request.url)
        except ToolFailure:
            answer.close()
            raise
        return httpx.Response(answer.status, headers=headers, stream=_Body(answer.stream, place, ends, unpacking))

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()


class _AsyncTransport(httpx.AsyncBaseTransport):
    def __init__(self, gate: _Gate) -> None:
        self._gate = gate
        self._pools: dict[str, httpcore.AsyncConnectionPool] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        place, admitted, ends = self._gate.admit(request)
        if place.scheme not in self._pools:
            backend = AsyncCheckedBackend(self._gate.directory)
            self._pools[place.scheme] = self._gate.pool(httpcore.AsyncConnectionPool, place.scheme, backend)
        ENDS.set(ends)
        with _explained(place):
            answer = await self._pools[place.scheme].handle_async_request(admitted)
        try:
            unpacking, headers = _opened(answer, request.url)
        except ToolFailure:
            await answer.aclose()
            raise
        return httpx.Response(answer.status, headers=headers, stream=_AsyncBody(answer.stream, place, ends, unpacking))

    async def aclose(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()


_HEADERS: Final = {"Accept-Encoding": ACCEPTED_ENCODINGS, "User-Agent": "coilclaw"}


def sync_client(
    reach: Reach, seconds: Callable[[], float], resolve: Resolver | None = None, tls: ssl.SSLContext | None = None
) -> httpx.Client:
    """A client for plain handlers. `seconds` says how long a request that begins now may take."""
    transport = _Transport(_Gate(reach, seconds, resolve or look_up, tls))
    return httpx.Client(transport=transport, timeout=None, trust_env=False, headers=_HEADERS)  # noqa: S113


def async_client(
    reach: Reach, seconds: Callable[[], float], resolve: Resolver | None = None, tls: ssl.SSLContext | None = None
) -> httpx.AsyncClient:
    """A client for async handlers."""
    transport = _AsyncTransport(_Gate(reach, seconds, resolve or look_up, tls))
    return httpx.AsyncClient(transport=transport, timeout=None, trust_env=False, headers=_HEADERS)  # noqa: S113
