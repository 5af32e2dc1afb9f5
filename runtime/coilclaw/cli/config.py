"""`coilclaw config`: checking and showing the configuration."""

from __future__ import annotations

import json
import re
from typing import Any

import click

from coilclaw.cli.composition import settings_for
from coilclaw.cli.terminal import say, say_json
from coilclaw.sdk.legible import as_name, one_line

__all__ = ["config"]

_SECRET = re.compile(r"(secret(?!s$)|token(?!s$)|password|api_key)(?!.*(_env|_path)$)", re.IGNORECASE)


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
    """Check config.toml and report every problem at once."""
    settings = settings_for()
    found = settings.path if settings.path.exists() else f"{settings.path} does not exist; the defaults"
    say(f"Valid: {one_line(str(found))}")


@config.command("show", epilog="Example: coilclaw config show --json")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def show(as_json: bool) -> None:
    """Every value in force and where it comes from."""
    settings = settings_for()
    rows = [(key, _shown(key, value), source) for key, value, source in settings.rows()]
    if as_json:
        say_json({key: {"value": value, "source": source} for key, value, source in rows})
        return
    width = max(len(key) for key, _, _ in rows)
    for key, value, source in rows:
        say(f"{as_name(key):<{width}}  {one_line(json.dumps(value))}  # {one_line(source)}")


def _shown(key: str, value: Any) -> Any:
    return "[secret]" if value and _SECRET.search(key.rsplit(".", 1)[-1]) else value
