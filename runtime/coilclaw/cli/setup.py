"""`coilclaw setup`: what the first run would otherwise have to wait for."""

from __future__ import annotations

import click

from coilclaw.cli.opening import open_app, settings_for
from coilclaw.cli.terminal import say

__all__ = ["setup"]


@click.command(epilog="Example: coilclaw setup")
def setup() -> None:
    """Compile the sandbox for this machine, so that the first run starts at once."""
    with open_app(settings_for()) as claw:
        say(f"Ready: {claw.engines.get('wasm').build}")
