"""A real server on loopback, with an operator's token."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import cache_folder

from coilclaw.access import Scope
from coilclaw.app import CoilClaw
from coilclaw.gateway import Address, Endpoint, Gateway, Server, bound_socket
from coilclaw.gateway.served import SERVED


@dataclass(frozen=True, kw_only=True)
class Served:
    """An app and the server in front of it, on a thread of this process."""

    claw: CoilClaw
    gateway: Gateway
    base: str
    token: str
    """Of an operator."""
    http: httpx.Client
    """Sends the operator's token."""

    @property
    def port(self) -> int:
        return self.gateway.address.port

    def client(self, token: str | None = None, **headers: str) -> httpx.Client:
        """A client with another token, or with none. Whoever asks for it closes it."""
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return httpx.Client(base_url=self.base, headers=headers, timeout=60, trust_env=False)

    def client_with(self, scope: Scope) -> httpx.Client:
        return self.client(self.claw.access.tokens.create(scope).text)


@contextmanager
def serving(claw: CoilClaw, endpoints: Iterable[Endpoint] = SERVED, **address: Any) -> Iterator[Served]:
    """Serve an app on any free port of loopback until the end."""
    with bound_socket("127.0.0.1", 0) as bound, ExitStack() as stack:
        gateway = Gateway(claw, Address(port=bound.getsockname()[1], **address))
        started = threading.Event()
        server = Server(gateway, bound, endpoints=endpoints, started=started.set)
        thread = threading.Thread(target=server.run, name="server")
        thread.start()
        stack.callback(thread.join, 60)
        stack.callback(server.stop)
        assert started.wait(60)
        token = claw.access.tokens.create(Scope.OPERATOR, name="tests").text
        base = f"http://127.0.0.1:{gateway.address.port}"
        headers = {"Authorization": f"Bearer {token}"}
        http = stack.enter_context(httpx.Client(base_url=base, headers=headers, timeout=60, trust_env=False))
        yield Served(claw=claw, gateway=gateway, base=base, token=token, http=http)


Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serves an app of its own, opened as `CoilClaw.open` would with these arguments."""
    with ExitStack() as stack:

        def start(**options: Any) -> Served:
            workspace = tmp_path / "workspace"
            workspace.mkdir(exist_ok=True)
            given = {"workspace": workspace, "cache": cache_folder(), "pool": 1, **options}
            claw = stack.enter_context(CoilClaw.open(tmp_path / "home", **given))
            return stack.enter_context(serving(claw))

        yield start


@pytest.fixture
def served(serve: Serve) -> Served:
    """A server over a home with the built-in tools, where writes need approval."""
    return serve()
