"""Which server a command uses, and with which token.

A command in the server's own home makes a token for itself and removes it at its end; elsewhere COILCLAW_TOKEN has it.
It is never an argument: those are seen by everyone on the machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from coilclaw.cli.opening import open_app, settings_for, this_person
from coilclaw.config import home_folder
from coilclaw.sdk import OperatorError

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw, ServerNote
    from coilclaw.cli.remote.remote_app import RemoteApp

__all__ = ["connected", "open_place", "refuse_with_server", "server_option"]

_TOKEN_SECONDS: Final = 86_400.0
"""A run takes no longer. The token is removed when the command ends; if that is killed, nobody has its text."""

F = TypeVar("F", bound=Callable[..., Any])


def server_option(function: F) -> F:
    """Add `--server URL` to a command."""
    option = click.option(
        "--server",
        metavar="URL",
        envvar="COILCLAW_SERVER",
        help="Use the server at this address instead of this home; it may be COILCLAW_SERVER.",
    )
    return option(function)


def refuse_with_server(server: str | None, **options: object) -> None:
    """Refuse options that say something about this home when the command is for a server."""
    for name, value in options.items() if server is not None else ():
        if value:
            raise click.UsageError(f"--{name.replace('_', '-')} does not go with --server")


@contextmanager
def open_place(server: str | None, scope: str, *, record: bool = True) -> Iterator[CoilClaw | RemoteApp]:
    """Open the app of this home, or a server in its place, for a command that needs this scope there."""
    if server is None:
        with open_app(settings_for(), record=record) as claw:
            yield claw
    else:
        with connected(server, scope) as remote:
            yield remote


@contextmanager
def connected(url: str, scope: str) -> Iterator[RemoteApp]:
    """Connect to a server; it is asked for its version first, so that a wrong address or token is said at once."""
    from coilclaw.cli.remote.remote_app import RemoteApp
    from coilclaw.client import Client

    with _token(url, scope) as (place, token), Client(place, token=token) as client:
        _check(client, has_token=token is not None)
        yield RemoteApp(client)


def _check(client: Any, *, has_token: bool) -> None:
    from coilclaw.client import NotAuthenticated

    try:
        client.check()
    except NotAuthenticated:
        if has_token:
            raise OperatorError(
                f"{client.url} does not accept the token in COILCLAW_TOKEN: it is wrong, expired or revoked",
                hint="`coilclaw token create` where the server runs makes another",
            ) from None
        raise OperatorError(
            f"{client.url} needs a token, and it is no server of this home",
            hint="put one into COILCLAW_TOKEN; `coilclaw token create` where the server runs makes it",
        ) from None


@contextmanager
def _token(url: str, scope: str) -> Iterator[tuple[str, str | None]]:
    """Yield the address to connect to, and the token for it; None if there is none."""
    own = _own_server(url)
    if own is None:
        yield url, os.environ.get("COILCLAW_TOKEN") or None
        return
    from coilclaw.access import BadGrant, Scope

    with open_app(settings_for(), record=False) as claw:
        tokens = claw.access.tokens
        try:
            made = tokens.temporary(Scope(scope), name=this_person(), seconds=_TOKEN_SECONDS)
            text = made.__enter__()
        except BadGrant:  # A name that a token cannot have.
            made = tokens.temporary(Scope(scope), name=None, seconds=_TOKEN_SECONDS)
            text = made.__enter__()
        try:
            yield own, text
        finally:
            made.__exit__(None, None, None)


def _own_server(url: str) -> str | None:
    """The address of a running server of this home, if that is the one which is meant.

    `localhost` may lead to two addresses, and another user could listen at the second one: the token goes to the
    address that the server itself noted, and nowhere else.
    """
    from coilclaw.app import running_servers

    wanted = url.rstrip("/").lower()
    for note in running_servers(home_folder(os.environ)):
        if wanted == note.url.lower() or wanted == _by_name(note):
            return note.url
        if wanted == note.public_url.lower():
            return note.public_url
    return None


def _by_name(note: ServerNote) -> str:
    return note.url.lower().replace("://127.0.0.1:", "://localhost:").replace("://[::1]:", "://localhost:")
