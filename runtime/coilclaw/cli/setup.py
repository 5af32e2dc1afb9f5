"""`coilclaw setup`: what the first run would otherwise have to wait for."""

from __future__ import annotations

import click

from coilclaw.cli.composition import make_engine, settings_for
from coilclaw.cli.terminal import say

__all__ = ["setup"]


@click.command(epilog="Example: coilclaw setup")
def setup() -> None:
    """Compile the sandbox for this machine, so that the first run starts at once."""
    settings = settings_for()
    engine = make_engine(settings, engine="wasm")
    say(f"Ready: {engine.build}")
    engine.close()
