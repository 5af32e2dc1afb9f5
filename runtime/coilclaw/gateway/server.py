"""The HTTP server process: binds the address, serves the gateway, and ends within seconds when asked to."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import uvicorn

from coilclaw.gateway.application import make_application
from coilclaw.gateway.connection import Connection
from coilclaw.gateway.endpoints import ENDPOINTS
from coilclaw.sdk import OperatorError

if TYPE_CHECKING:
    from coilclaw.gateway.endpoint import Endpoint
    from coilclaw.gateway.gateway import Gateway

__all__ = ["Server", "bound_socket"]

_MOST_CONNECTIONS: Final = 1000
_KEEP_ALIVE_SECONDS: Final = 15
_GRACE_SECONDS: Final = 5
"""For requests under way when the server is asked to end."""
_HEAD_BYTES: Final = 32 * 1024
"""The request line and all headers."""


def bound_socket(host: str, port: int) -> socket.socket:
    """Bind an address, so that nobody else can; port 0 is any that is free. Raises OperatorError."""
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError as error:
        raise OperatorError(f"{host} is not an address of this machine: {error.strerror}") from None
    # Said to be TCP: only then answers are sent at once, and not held back until the one before is acknowledged.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # A port that was used a moment ago can be bound again; one that is in use cannot.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen(socket.SOMAXCONN)
    except OSError as error:
        made.close()
        if error.errno == errno.EADDRINUSE:
            raise OperatorError(
                f"port {port} of {host} is in use, by another server or another program",
                hint=f"coilclaw serve --port {port + 1 if port < 65535 else 8625}",
            ) from None
        raise OperatorError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    return made


class Server:
    """Serves a gateway on a bound socket until it is asked to end."""

    def __init__(
        self,
        gateway: Gateway,
        bound: socket.socket,
        *,
        endpoints: Iterable[Endpoint] = ENDPOINTS,
        certificate: Path | None = None,
        key: Path | None = None,
        started: Callable[[], None] = lambda: None,
    ) -> None:
        """`started` is called once requests are answered."""
        self._bound = bound
        config = uvicorn.Config(
            make_application(gateway, endpoints),
            http=Connection,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,  # It would show queries; receipts and events say what happened.
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            h11_max_incomplete_event_size=_HEAD_BYTES,
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
        self._server = _Uvicorn(config, started)
        # What it says of itself is not worth a line; invalid requests are.
        logging.getLogger("uvicorn.error").setLevel(logging.WARNING)

    def run(self) -> None:
        """Serve until SIGINT, SIGTERM or `stop`; on the main thread, so that signals arrive."""
        self._server.run(sockets=[self._bound])

    def stop(self) -> None:
        """Ask it to end; from any thread."""
        self._server.should_exit = True


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell_started = started

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with super().capture_signals():
            yield
            # They would be raised again, and end the process before the app is closed.
            self._captured_signals.clear()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell_started()
