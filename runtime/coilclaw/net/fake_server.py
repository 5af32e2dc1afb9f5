"""A real HTTP server on this machine that stands in for the services a tool calls."""

from __future__ import annotations

import json as json_module
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from coilclaw.net.hosts import Reach

__all__ = ["FakeServer", "ReceivedRequest"]


@dataclass(frozen=True, kw_only=True)
class ReceivedRequest:
    """One request as it arrived."""

    method: str
    host: str
    """The host the tool asked for, which this server answered in the place of."""
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes = field(repr=False)

    @cached_property
    def json(self) -> Any:
        return json_module.loads(self.body)


@dataclass(frozen=True)
class _Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


class FakeServer:
    """A real HTTP server on this machine, with the answers a test gives it.

    A request that no answer was given for gets 404 and says so. Several answers for the same request
    are given in their order, the last one again and again.
    """

    def __init__(self) -> None:
        self.requests: list[ReceivedRequest] = []
        self._replies: dict[tuple[str, str], list[_Reply]] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def reply(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        text: str | None = None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer requests of this method and path (without its query) with JSON, or with text."""
        body = text.encode() if text is not None else json_module.dumps(json).encode()
        kind = "text/plain; charset=utf-8" if text is not None else "application/json"
        with self._lock:
            answers = self._replies.setdefault((method.upper(), path), [])
            answers.append(_Reply(status, {"Content-Type": kind, **(headers or {})}, body))

    def client(self, reach: Reach) -> httpx.Client:
        """Return a client that checks the host that is asked for, then asks this server instead."""
        return httpx.Client(transport=_Routed(reach, self), trust_env=False)

    def async_client(self, reach: Reach) -> httpx.AsyncClient:
        """The same for async handlers."""
        return httpx.AsyncClient(transport=_RoutedAsync(reach, self), trust_env=False)

    def _answer(self, request: ReceivedRequest) -> _Reply:
        with self._lock:
            self.requests.append(request)
            answers = self._replies.get((request.method, request.path), [])
            if not answers:
                text = f"no reply was given for {request.method} {request.path}"
                return _Reply(404, {"Content-Type": "text/plain"}, text.encode())
            return answers.pop(0) if len(answers) > 1 else answers[0]

    def close(self) -> None:
        """Stop listening. Closing twice does nothing."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> FakeServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _handler_for(server: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10

        def handle_one_request(self) -> None:
            self.raw_requestline = self.rfile.readline(65537)
            if not self.raw_requestline or not self.parse_request():
                self.close_connection = True
                return
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            reply = server._answer(
                ReceivedRequest(
                    method=self.command,
                    host=self.headers.get("Host", ""),
                    path=parts.path,
                    query={name: values[-1] for name, values in parse_qs(parts.query).items()},
                    headers={name.lower(): value for name, value in self.headers.items()},
                    body=self.rfile.read(length),
                )
            )
            self.send_response(reply.status)
            for name, value in {**reply.headers, "Content-Length": str(len(reply.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)
            self.wfile.flush()

        def log_message(self, format: str, *args: Any) -> None:
            return None

    return Handler


class _Routed(httpx.HTTPTransport):
    def __init__(self, reach: Reach, server: FakeServer) -> None:
        super().__init__()
        self._reach = reach
        self._server = server

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return super().handle_request(_led(request, self._reach, self._server))


class _RoutedAsync(httpx.AsyncHTTPTransport):
    def __init__(self, reach: Reach, server: FakeServer) -> None:
        super().__init__()
        self._reach = reach
        self._server = server

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await super().handle_async_request(_led(request, self._reach, self._server))


def _led(request: httpx.Request, reach: Reach, server: FakeServer) -> httpx.Request:
    reach.destination(request.url)
    # The Host header stays the one that was asked for, so a test can look at it.
    place = request.url.copy_with(scheme="http", host="127.0.0.1", port=server.port)
    return httpx.Request(
        request.method, place, headers=request.headers, stream=request.stream, extensions=request.extensions
    )
