"""A real HTTP server on loopback, which tells what it was asked."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def answer_json(value: Any, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json", **named})


class Loopback:
    """Answers by path (without the query), 404 for all others."""

    def __init__(self, server: ThreadingHTTPServer, scheme: str) -> None:
        self._server = server
        self.port: int = server.server_address[1]
        self.authority = f"127.0.0.1:{self.port}"
        self.url = f"{scheme}://{self.authority}"
        self.answers: dict[str, Answer | Callable[[Seen], Answer]] = {}
        self.seen: list[Seen] = []

    def answer(self, seen: Seen) -> Answer:
        self.seen.append(seen)
        found = self.answers.get(seen.path.partition("?")[0], Answer(404, b"{}"))
        return found if isinstance(found, Answer) else found(seen)


@contextmanager
def serving(tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> Iterator[Loopback]:
    loopback: Loopback

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = loopback.answer(Seen(self.command, self.path, headers, body))
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        do_GET = do_POST = do_HEAD = do_PATCH = do_DELETE = _any

        def log_message(self, format: str, *args: object) -> None:
            return None

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        def handle_error(self, request: Any, client_address: Any) -> None:
            return None  # A client that hangs up in the middle is what some tests are about.

    with Server((host, 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=True)
        loopback = Loopback(server, "https" if tls else "http")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield loopback
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def raw_serving(talk: Callable[[socket.socket, threading.Event], None]) -> Iterator[int]:
    """A server that speaks as the test likes; the event says that the test is over."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            try:
                while True:
                    client, _ = listener.accept()
                    threading.Thread(target=speak, args=(client,), daemon=True).start()
            except OSError:
                return

        def speak(client: socket.socket) -> None:
            with client:
                try:
                    talk(client, over)
                except OSError:
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)
    thread.join(timeout=60)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serving() as running:
        yield running
