"""HTTP to model services. The one module of the providers that knows the client library.

Redirects are not followed and proxies of the environment not used: a credential goes to the configured host alone.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import SplitResult, urlsplit

import httpx

from coilclaw.providers.errors import ProviderError
from coilclaw.providers.failures import NotTaken, failure_of_status
from coilclaw.providers.reading import malformed
from coilclaw.sdk import OperatorError
from coilclaw.sdk.version import VERSION

__all__ = ["Answer", "Wire", "check_address"]

_LARGEST_ANSWER: Final = 8 * 1024 * 1024
_LARGEST_FAILURE: Final = 64 * 1024
_CONNECT_SECONDS: Final = 10.0


def check_address(provider: str, url: str) -> str:
    """Return an address without the slash at its end. Raises OperatorError for one that cannot be used, unrepeated."""
    parts = _parts(url)
    if parts is None:
        raise OperatorError(
            f"`base_url` of the provider {provider} is not an address",
            hint="write it like http://localhost:1234/v1 or https://api.example.org/v1",
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise OperatorError(
            f"`base_url` of the provider {provider} has more in it than host and path",
            hint="a key goes into `api_key_env`, `api_key`, or `coilclaw auth add`",
        )
    return url.rstrip("/")


def _parts(url: str) -> SplitResult | None:
    """Return the parts of an address that both the standard library and the client can read."""
    try:
        parts = urlsplit(url)
        is_place = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        return None
    return parts if is_place and url.isascii() and url.isprintable() and " " not in url else None


class Answer:
    """The body of a successful answer, which is read once and within bounds."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The bytes as they arrive."""
        async for piece in _bounded(self._response, _LARGEST_ANSWER):
            yield piece

    async def body(self) -> bytes:
        return b"".join([piece async for piece in self.pieces()])


class Wire:
    """Connections to one service, which may be silent for some seconds between two pieces of an answer."""

    def __init__(self, base_url: str, seconds: float) -> None:
        self._seconds = seconds
        self._base_url = base_url
        parts = urlsplit(base_url)
        self._place = f"{parts.scheme}://{parts.netloc}"
        self._is_encrypted = parts.scheme == "https"
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @asynccontextmanager
    async def post(
        self, path: str, headers: Mapping[str, str], body: bytes, *, secret: str | None
    ) -> AsyncIterator[Answer]:
        """Send a request and give its answer, once the service has said that it succeeds. Leaving closes it.

        Raises ProviderError for all else; `secret` is what its message must not contain.
        """
        try:
            async with self._connected().stream(
                "POST", f"{self._base_url}{path}", headers={**_HEADERS, **headers}, content=body
            ) as response:
                if not response.is_success:
                    raise failure_of_status(
                        response.status_code, response.headers, await _beginning(response), secret=secret
                    )
                if response.headers.get("content-encoding", "identity").lower() != "identity":
                    raise malformed("it is compressed, which was not asked for")
                yield Answer(response)
        except httpx.HTTPError as error:  # Its text and its cause hold the request, so neither is passed on.
            raise self._failure(error) from None
        except httpx.StreamError:
            raise malformed("it ended in an unexpected place") from None

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    def _connected(self) -> httpx.AsyncClient:
        """Return the client of the running event loop.

        It keeps no connection for later: one that the service closes meanwhile would look like a failure of its own.
        """
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._loop = loop
            self._client = httpx.AsyncClient(
                timeout=httpx.Timeout(self._seconds, connect=min(_CONNECT_SECONDS, self._seconds)),
                limits=httpx.Limits(max_keepalive_connections=0),
                verify=True if self._is_encrypted else _trusting_nobody(),
                follow_redirects=False,
                trust_env=False,
            )
        return self._client

    def _failure(self, error: httpx.HTTPError) -> ProviderError:
        hint = "check `base_url`, and that the service runs"
        match error:
            case httpx.ConnectTimeout() | httpx.PoolTimeout():
                return NotTaken(f"no connection to {self._place} in time", kind="timeout", hint=hint)
            case httpx.ConnectError():
                return NotTaken(f"no connection to {self._place}", kind="network", hint=hint)
            case httpx.TimeoutException():
                return ProviderError(f"{self._place} has gone silent", kind="timeout", hint="try again")
            case httpx.RemoteProtocolError() | httpx.ReadError() | httpx.WriteError() | httpx.CloseError():
                return ProviderError(f"{self._place} hung up too early", kind="network", hint="try again")
            case _:
                return ProviderError(f"the connection to {self._place} has failed", kind="network", hint=hint)


_HEADERS: Final = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "accept-encoding": "identity",  # A few compressed bytes can become gigabytes.
    "user-agent": f"coilclaw/{VERSION}",
}


def _trusting_nobody() -> ssl.SSLContext:
    """For addresses without encryption: reading all certificates takes longer than the rest of a request."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def _bounded(response: httpx.Response, most: int) -> AsyncGenerator[bytes, None]:
    left = most
    async for piece in response.aiter_raw():
        left -= len(piece)
        if left < 0:
            raise malformed(f"it is longer than {most} bytes")
        yield piece


async def _beginning(response: httpx.Response) -> bytes:
    """What fits of an answer about a failure, which is read for its message alone."""
    pieces: list[bytes] = []
    try:
        async for piece in _bounded(response, _LARGEST_FAILURE):
            pieces.append(piece)
    except (ProviderError, httpx.HTTPError):
        return b""  # The status says enough.
    return b"".join(pieces)
