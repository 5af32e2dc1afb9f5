"""`coilclaw config`: checking and showing the configuration."""

from __future__ import annotations

import json
import os

import click

from coilclaw.cli.opening import settings_for
from coilclaw.cli.terminal import say, say_json, warn
from coilclaw.config import load_settings
from coilclaw.sdk.legible import as_name, one_line

__all__ = ["config"]


@click.group()
def config() -> None:
    """Check and show the configuration.

    \b
    Example:
      coilclaw config validate
      coilclaw config show --json
    """


@config.command("validate", epilog="Example: coilclaw config validate")
def validate() -> None:
    """Check config.toml and report every problem at once.

    What is valid but has no effect is a warning, and the exit code stays 0. Rules are compared with the tools that are
    installed; `coilclaw doctor` knows those of the workspace too.
    """
    from coilclaw.app import installed_registry, make_policy
    from coilclaw.cli.doubts import doubts_about

    settings = load_settings(os.environ, workspace_exists=True)
    for doubt in doubts_about(settings.config, installed_registry(make_policy(settings.config)), complete=False):
        warn(doubt)
    found = settings.path if settings.path.exists() else f"{settings.path} does not exist; the defaults"
    say(f"Valid: {one_line(str(found))}")


@config.command("show", epilog="Example: coilclaw config show --json")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def show(as_json: bool) -> None:
    """Show every value in force and where it comes from. Values that may hold a secret are hidden."""
    rows = list(settings_for().rows())
    if as_json:
        say_json({key: {"value": value, "source": source} for key, value, source in rows})
        return
    width = max(len(key) for key, _, _ in rows)
    for key, value, source in rows:
        say(f"{as_name(key):<{width}}  {one_line(json.dumps(value))}  # {one_line(source)}")
