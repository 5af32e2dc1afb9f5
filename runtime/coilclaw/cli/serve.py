"""`coilclaw serve`: the HTTP server of a home, and links to it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coilclaw.cli.logs import log_event
from coilclaw.cli.opening import open_app, settings_for, this_person
from coilclaw.cli.terminal import say, say_json, warn
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw, ServerNote
    from coilclaw.gateway import Address

__all__ = ["serve"]

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(invoke_without_command=True, epilog="Example: coilclaw serve --port 8625")
@click.option("--host", metavar="HOST", help="The address to listen on. By default [gateway] host: this machine alone.")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="The port; 0 is any that is free. By default [gateway] port."
)
@click.option("--tls-cert", type=_FILE, help="A certificate (PEM): serve HTTPS.")
@click.option("--tls-key", type=_FILE, help="The certificate's private key (PEM).")
@click.option("--behind-proxy", is_flag=True, help="A proxy in front speaks HTTPS to browsers.")
@click.option("--public-name", multiple=True, metavar="NAME[:PORT]", help="A name that browsers use, over HTTPS.")
@click.option("--workspace", metavar="DIR", help="The workspace, instead of the configured one.")
@click.pass_context
def serve(ctx: click.Context, /, host: str | None, port: int | None, workspace: str | None, **options: Any) -> None:
    """Serve this home over HTTP, until Ctrl-C.

    It listens on this machine alone. A link that opens a session in a browser is printed; programs use
    `coilclaw token create`. Any other address than loopback needs TLS.
    """
    if ctx.invoked_subcommand is not None:
        return
    _check_installed()
    settings = settings_for(workspace, gateway__host=host)
    section = settings.config.gateway
    with open_app(settings, watch=True, pool=settings.config.sandbox.pool) as claw:
        _serve(claw, section.host, section.port if port is None else port, **options)


@serve.command("link", epilog="Example: coilclaw serve link")
@click.option("--port", type=click.IntRange(1, 65535), help="Which server, if several are running.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def link(port: int | None, as_json: bool) -> None:
    """Print a new link that opens a session in a browser. It works once, within ten minutes."""
    settings = settings_for()
    from coilclaw.app import running_servers

    servers = [each for each in running_servers(settings.home) if port in (None, each.port)]
    if len(servers) != 1:
        which = "no server of this home is running" if not servers else "several servers of this home are running"
        hint = "coilclaw serve" if not servers else f"coilclaw serve link --port {servers[0].port}"
        raise OperatorError(which, hint=hint)
    with open_app(settings) as claw:
        made = _session_link(claw, servers[0])
    if as_json:
        say_json({"link": made, "url": servers[0].public_url})
    else:
        say(made)


def _check_installed() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("starlette", "uvicorn", "sse_starlette") if find_spec(name) is None]
    if missing:
        raise OperatorError(
            f"the server needs packages that are not installed: {', '.join(missing)}",
            hint="pip install 'coilclaw[gateway]'",
        )


def _serve(
    claw: CoilClaw,
    host: str,
    port: int,
    *,
    tls_cert: Path | None,
    tls_key: Path | None,
    behind_proxy: bool,
    public_name: tuple[str, ...],
) -> None:
    from coilclaw.app import noted_server
    from coilclaw.gateway import Address, Gateway, Server, bound_socket

    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key go together")
    chosen = Address(
        host=host,
        port=port,
        has_tls=tls_cert is not None,
        is_behind_proxy=behind_proxy,
        public_names=public_name,
    )
    chosen.check()
    with bound_socket(host, port) as bound:
        address = chosen.at_port(bound.getsockname()[1])
        with noted_server(
            claw.settings.home, url=address.url, public_url=address.public_url, port=address.port
        ) as note:
            server = Server(
                Gateway(claw, address, environment=os.environ),
                bound,
                certificate=tls_cert,
                key=tls_key,
                started=lambda: _greet(claw, note, address),
            )
            server.run()
    say("The server has ended.", err=True)


def _greet(claw: CoilClaw, note: ServerNote, address: Address) -> None:
    log_event("server.started", url=address.url, process=note.pid)
    say(f"CoilClaw serves {as_name(str(claw.settings.home))} at {address.url}", err=True)
    say("Open this link in a browser; it works once, within ten minutes:", err=True)
    say(f"  {_session_link(claw, note)}")
    say("For programs: coilclaw token create --scope run", err=True)
    if address.is_behind_proxy:
        warn("a proxy is trusted to speak HTTPS; nobody else may reach this address")


def _session_link(claw: CoilClaw, note: ServerNote) -> str:
    # In the fragment, which no browser sends: the code is in no log of a server and no Referer.
    return f"{note.public_url}/#code={claw.access.sessions.make_link(this_person())}"
