"""HTTP clients that reach only the hosts a contract declares.

The check sits in the transport, below redirects, so every hop passes it. It compares names; it does
not stop a declared name from resolving to another address.
"""

from __future__ import annotations

import httpx

from coilclaw.sdk.errors import ToolFailure

__all__ = ["async_client", "sync_client"]

_DEFAULT_TIMEOUT_SECONDS = 20.0


def _check(hosts: tuple[str, ...], url: httpx.URL) -> None:
    authority = f"{url.host}:{url.port}" if url.port else url.host
    if url.host in hosts or authority in hosts:
        return
    declared = ", ".join(hosts) if hosts else "none"
    raise ToolFailure(
        f"host {authority!r} is not declared by this tool (declared: {declared})",
        code="host_not_declared",
        hint=f"the tool's author adds it: hosts=[{authority!r}]",
    )


class _DeclaredHosts(httpx.HTTPTransport):
    def __init__(self, hosts: tuple[str, ...]) -> None:
        super().__init__()
        self._hosts = hosts

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        _check(self._hosts, request.url)
        return super().handle_request(request)


class _DeclaredHostsAsync(httpx.AsyncHTTPTransport):
    def __init__(self, hosts: tuple[str, ...]) -> None:
        super().__init__()
        self._hosts = hosts

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        _check(self._hosts, request.url)
        return await super().handle_async_request(request)


def _timeout(remaining: float | None) -> float:
    return _DEFAULT_TIMEOUT_SECONDS if remaining is None else min(_DEFAULT_TIMEOUT_SECONDS, remaining)


def sync_client(hosts: tuple[str, ...], remaining: float | None) -> httpx.Client:
    """A client for plain handlers; proxies from the environment are not used."""
    return httpx.Client(transport=_DeclaredHosts(hosts), timeout=_timeout(remaining), trust_env=False)


def async_client(hosts: tuple[str, ...], remaining: float | None) -> httpx.AsyncClient:
    """A client for async handlers; proxies from the environment are not used."""
    return httpx.AsyncClient(transport=_DeclaredHostsAsync(hosts), timeout=_timeout(remaining), trust_env=False)
