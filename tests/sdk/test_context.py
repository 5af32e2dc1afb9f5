"""What a handler can reach through its context."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from coilclaw.net import GuardedNetwork
from coilclaw.sdk import ToolContext, ToolFailure


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.server.server_port}/page")  # type: ignore[attr-defined]
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None:
        return None


@pytest.fixture
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Page) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_declared_host_is_reached(server: str, tmp_path: Path) -> None:
    context = ToolContext(workspace=tmp_path, hosts=(server.removeprefix("http://"),), network=GuardedNetwork)
    assert context.http_sync.get(f"{server}/page").text == "hello"
    context.close()


def test_undeclared_host_is_refused(server: str, tmp_path: Path) -> None:
    context = ToolContext(workspace=tmp_path, hosts=("example.org",), network=GuardedNetwork)

    async def fetch() -> None:
        try:
            await context.http.get(f"{server}/page")
        finally:
            await context.aclose()

    with pytest.raises(ToolFailure, match="not declared") as caught:
        asyncio.run(fetch())
    assert caught.value.code == "host_not_declared"


def test_redirect_to_an_undeclared_host_is_refused(server: str, tmp_path: Path) -> None:
    context = ToolContext(workspace=tmp_path, hosts=(server.removeprefix("http://"),), network=GuardedNetwork)
    with pytest.raises(ToolFailure, match="localhost"):
        context.http_sync.get(f"{server}/away", follow_redirects=True)
    context.close()


def test_secrets_are_the_declared_ones_and_read_only(tmp_path: Path) -> None:
    context = ToolContext(workspace=tmp_path, secrets={"A": "1"})
    assert dict(context.secrets) == {"A": "1"}
    with pytest.raises(TypeError):
        context.secrets["B"] = "2"  # type: ignore[index]


def test_deadline_and_cancellation_are_visible(tmp_path: Path) -> None:
    state = {"cancelled": False}
    context = ToolContext(workspace=tmp_path, time_left=lambda: 95.0, is_cancelled=lambda: state["cancelled"])
    assert context.remaining_seconds is not None
    assert 90 < context.remaining_seconds <= 100
    context.raise_if_cancelled()
    state["cancelled"] = True
    with pytest.raises(ToolFailure):
        context.raise_if_cancelled()


def test_progress_reaches_whoever_waits(tmp_path: Path) -> None:
    told: list[str] = []
    ToolContext(workspace=tmp_path, report_progress=told.append).progress("half")
    assert told == ["half"]
