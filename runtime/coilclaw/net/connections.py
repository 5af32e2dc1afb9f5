"""Connections to addresses that were checked, on which nothing takes longer than its request may.

A name is looked up once, every address it has is checked, and the connection goes to one of those very
addresses: a name that answers differently the next time gains nothing. Encryption happens above, by name.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any, Final, TypeAlias

import httpcore

from coilclaw.net.addresses import Address, canonical_host, read_address
from coilclaw.net.hosts import Reach
from coilclaw.sdk import ToolFailure

__all__ = ["ENDS", "AsyncCheckedBackend", "CheckedBackend", "Directory", "Resolver", "look_up"]

Resolver: TypeAlias = Callable[[str, int], Sequence[str]]
"""The addresses of a name, as text."""

ENDS: Final[ContextVar[float]] = ContextVar("coilclaw_http_ends", default=float("inf"))
"""When the request that is being sent or read now is over, on the monotonic clock."""

_MOST_ADDRESSES: Final = 4
_WRITE_PIECE: Final = 64 * 1024


def look_up(host: str, port: int) -> list[str]:
    """Ask the system's resolver."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def _left(given: float | None) -> float:
    left = ENDS.get() - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the request's time is over")
    return left if given is None else min(given, left)


class Directory:
    """Looks names up, and gives out allowed addresses only."""

    def __init__(self, reach: Reach, resolve: Resolver) -> None:
        self._reach = reach
        self._resolve = resolve

    def begin(self, host: str, port: int) -> Future[Sequence[str]]:
        """The system's resolver cannot be interrupted, so it is asked on a thread that can be left alone."""
        answer: Future[Sequence[str]] = Future()
        answer.set_running_or_notify_cancel()

        def ask() -> None:
            try:
                answer.set_result(self._resolve(host, port))
            except (OSError, UnicodeError):
                answer.set_exception(_not_found(host))
            except BaseException as error:
                answer.set_exception(error)

        threading.Thread(target=ask, name="coilclaw-look-up", daemon=True).start()
        return answer

    def admitted(self, host: str | Address, port: int, found: Iterable[str]) -> list[Address]:
        """The addresses to connect to. One that is not allowed refuses the host."""
        # An address of one network interface is judged without its scope, and then it is refused.
        try:
            addresses = [read_address(text.partition("%")[0]) for text in found]
        except ValueError:
            addresses = []
        if not addresses:
            raise _not_found(host)
        self._reach.admit(host, port, addresses)
        return list(dict.fromkeys(addresses))[:_MOST_ADDRESSES]


def _not_found(host: str | Address) -> ToolFailure:
    return ToolFailure(f"the host {str(host)!r} cannot be found", code="host_not_found", hint="check its spelling")


class _Stream(httpcore.NetworkStream):
    """A connection on which nothing takes longer than the request has left."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _WRITE_PIECE):
            self._inner.write(buffer[start : start + _WRITE_PIECE], _left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, _left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _AsyncStream(httpcore.AsyncNetworkStream):
    def __init__(self, inner: httpcore.AsyncNetworkStream) -> None:
        self._inner = inner

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await self._inner.read(max_bytes, _left(timeout))

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._inner.write(buffer, _left(timeout))

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        return _AsyncStream(await self._inner.start_tls(ssl_context, server_hostname, _left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class CheckedBackend(httpcore.NetworkBackend):
    """Makes the connections of a plain client."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        name = canonical_host(host)
        try:
            found = self._directory.begin(host, port).result(_left(timeout)) if isinstance(name, str) else [host]
        except TimeoutError:
            raise httpcore.ConnectTimeout("looking up the name took too long") from None
        failure: Exception = httpcore.ConnectError("no address")
        for address in self._directory.admitted(name, port, found):
            try:
                return _Stream(self._inner.connect_tcp(str(address), port, _left(timeout)))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


class AsyncCheckedBackend(httpcore.AsyncNetworkBackend):
    """Makes the connections of an async client."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._inner: Any = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        import asyncio

        name = canonical_host(host)
        try:
            found: Sequence[str] = [host]
            if isinstance(name, str):
                answer = asyncio.wrap_future(self._directory.begin(host, port))
                found = await asyncio.wait_for(answer, _left(timeout))
        except TimeoutError:
            raise httpcore.ConnectTimeout("looking up the name took too long") from None
        failure: Exception = httpcore.ConnectError("no address")
        for address in self._directory.admitted(name, port, found):
            try:
                return _AsyncStream(await self._inner.connect_tcp(str(address), port, _left(timeout)))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure
