"""The connection to one server: where requests may go, with which token, and what is made of answers.

The token goes to the given origin alone: redirects are not followed, proxies of the environment not used, and names
are resolved once for each connection.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from coilclaw.client.errors import BadAddress, ClientError, NotUnderstood, Unreachable, refusal
from coilclaw.net import Destination, make_reach
from coilclaw.net.transport import sync_client
from coilclaw.sdk import Bounds, ToolFailure
from coilclaw.sdk.version import VERSION

if TYPE_CHECKING:
    import httpx

__all__ = ["Connection", "path_of"]

_CONNECT_SECONDS: Final = 10.0
_NOT_SENT: Final = ("http_unreachable", "host_not_found", "tls_failed", "address_refused", "bad_url")
_LARGEST_REFUSAL: Final = 64 * 1024


class Connection:
    """Sends requests to one origin. Thread-safe."""

    def __init__(self, url: str, token: str | None, *, seconds: float, allow_insecure: bool) -> None:
        self.place = _checked_place(url, allow_insecure)
        self.url = f"{self.place.scheme}://{self.place.netloc}"
        if token is not None and not (token.isascii() and token.isprintable() and token and " " not in token):
            raise BadAddress("the token is not one: it has characters that no token has")
        self._headers = {"accept-encoding": "identity", "user-agent": f"coilclaw/{VERSION}"}
        self.has_token = token is not None
        if token is not None:
            self._headers["authorization"] = f"Bearer {token}"
        self._seconds = seconds
        # The time of one request, on the thread that makes it.
        self._allowed = threading.local()
        # Whatever the resolver says, `localhost` is this machine: without encryption the token goes no further.
        resolve = (lambda host, port: ["127.0.0.1", "::1"]) if self.place.host == "localhost" else None
        reach = make_reach((), Bounds(), {"url": self.url})
        self._client = sync_client(reach, lambda: getattr(self._allowed, "seconds", seconds), resolve)

    def close(self) -> None:
        self._client.close()

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        *,
        seconds: float | None = None,
    ) -> Any:
        """Send a request and return its answer as JSON data. Raises ClientError. Nothing is sent twice."""
        with self._answer(method, path, body, query, {}, seconds or self._seconds, None) as response:
            try:
                return json.loads(response.read())
            except ValueError:
                raise NotUnderstood(f"{self.url} does not answer in JSON", hint="check the address") from None

    @contextmanager
    def stream(
        self, path: str, headers: Mapping[str, str], *, seconds: float, silence: float
    ) -> Iterator[httpx.Response]:
        """A stream of events, which may be silent for some seconds and ends after more at the latest."""
        sent = {"accept": "text/event-stream", **headers}
        with self._answer("GET", path, None, None, sent, seconds, silence) as response:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "text/event-stream":
                raise NotUnderstood(f"{self.url} does not answer with events", hint="check the address")
            yield response

    @contextmanager
    def _answer(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        query: Mapping[str, str] | None,
        headers: Mapping[str, str],
        seconds: float,
        silence: float | None,
    ) -> Iterator[httpx.Response]:
        import httpx

        content = None if body is None else json.dumps(body).encode()
        sent = {**self._headers, **headers, **({} if content is None else {"content-type": "application/json"})}
        self._allowed.seconds = seconds
        limits = httpx.Timeout(silence or seconds, connect=min(_CONNECT_SECONDS, seconds))
        try:
            with self._client.stream(
                method, f"{self.url}{path}", content=content, params=query or None, headers=sent, timeout=limits
            ) as response:
                if response.is_redirect or response.has_redirect_location:
                    raise NotUnderstood(
                        f"{self.url} redirects elsewhere, which is not followed: the token is for this address alone",
                        hint="give the address that the server itself has",
                    )
                if not response.is_success:
                    raise refusal(response.status_code, _beginning(response))
                yield response
        except ToolFailure as failure:  # Its text speaks of tools; the network's own text may quote headers.
            raise self._failure(failure.code, method) from None
        except httpx.HTTPError:
            raise self._failure("http_protocol", method) from None
        finally:
            self._allowed.seconds = self._seconds

    def _failure(self, code: str, method: str) -> ClientError:
        where = f"{self.place.scheme}://{self.place.netloc}"
        if code == "tls_failed":
            return Unreachable(f"no trusted connection to {where}", hint="check the server's certificate")
        if code in _NOT_SENT:
            return Unreachable(f"nothing answers at {where}", hint="is the server running? `coilclaw serve` starts one")
        if code == "http_protocol":
            return NotUnderstood(f"{where} does not answer in HTTP", hint="check the address")
        if code == "http_timeout":
            hint = None if method == "GET" else "it may have arrived: look before you send it again"
            return Unreachable(f"{where} did not answer in time", hint=hint)
        return NotUnderstood(f"{where} sent an answer that cannot be read ({code})")


def path_of(template: str, *parts: str) -> str:
    """A path with the parts in it that come from elsewhere, each as one segment whatever it holds."""
    for part in parts:
        if part in ("", ".", ".."):
            raise BadAddress(f"{part!r} is not an id")
    return template.format(*(quote(part, safe="") for part in parts))


def _beginning(response: httpx.Response) -> Any:
    data = b""
    for piece in response.iter_raw():
        data += piece
        if len(data) > _LARGEST_REFUSAL:
            return None
    try:
        return json.loads(data)
    except ValueError:
        return None


def _checked_place(url: str, allow_insecure: bool) -> Destination:
    import httpx

    wanted = "write it like http://127.0.0.1:8625 or https://claw.example.org"
    try:
        given = httpx.URL(url)
        place = make_reach((), Bounds(), {"url": url}).destination(given)
    except (httpx.InvalidURL, ToolFailure, TypeError):
        raise BadAddress("the server's address cannot be used", hint=wanted) from None
    if given.raw_path not in (b"", b"/") or given.fragment:
        raise BadAddress("the server's address has more in it than scheme, host and port", hint=wanted)
    is_here = place.host == "localhost" or (not isinstance(place.host, str) and place.host.is_loopback)
    if place.scheme == "http" and not is_here and not allow_insecure:
        raise BadAddress(
            f"{place.netloc} is another machine, and without encryption anybody on the way could read the token",
            hint="use https, or an SSH tunnel to this machine",
        )
    return place
