"""Real servers on loopback, a resolver that says what the test says, and both ways to fetch."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.integrations.conftest import Answer, Loopback, serving

from coilclaw.net import GuardedNetwork
from coilclaw.net.connections import Resolver
from coilclaw.sdk import ToolContext

Fetch = Callable[..., httpx.Response]


def reaching(workspace: Path, *, resolve: Resolver | None = None, **given: Any) -> ToolContext:
    return ToolContext(workspace=workspace, network=partial(GuardedNetwork, resolve=resolve), **given)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serving() as running:
        running.answers["/"] = Answer(body=b"hello")
        yield running


@pytest.fixture
def other() -> Iterator[Loopback]:
    with serving() as running:
        running.answers["/"] = Answer(body=b"the other")
        yield running


def fetch_plain(context: ToolContext, method: str, url: str, **options: Any) -> httpx.Response:
    try:
        return context.http_sync.request(method, url, **options)
    finally:
        context.close()


def fetch_async(context: ToolContext, method: str, url: str, **options: Any) -> httpx.Response:
    async def fetch() -> httpx.Response:
        try:
            return await context.http.request(method, url, **options)
        finally:
            await context.aclose()

    return asyncio.run(fetch())


@pytest.fixture(params=[fetch_plain, fetch_async], ids=["plain", "async"])
def fetch(request: pytest.FixtureRequest) -> Fetch:
    found: Fetch = request.param
    return found


class Names:
    """A resolver that says what the test says, and remembers what it was asked."""

    def __init__(self, **answers: Sequence[str] | Sequence[Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(found) for name, found in answers.items()}
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        found = self._answers.get(host)
        if found is None:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        if found and not isinstance(found[0], str):
            return found.pop(0) if len(found) > 1 else found[0]
        return found  # type: ignore[return-value]
