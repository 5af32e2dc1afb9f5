"""`coilclaw secret`: keeping secrets, and saying where they come from; their values are never shown."""

from __future__ import annotations

import os
from typing import Any, Final

import click

from coilclaw.cli.opening import load_registry, settings_for
from coilclaw.cli.secret_input import no_secrets_here, read_secret
from coilclaw.cli.terminal import say, say_json, say_wrapped, warn
from coilclaw.config import SecretStore, check_secret_name
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name, one_line

__all__ = ["secret"]

_SHORTEST_HIDDEN: Final = 4
"""Shorter values are not taken out of results: that would garble ordinary text."""


@click.group()
def secret() -> None:
    """Set, list and remove secrets for tools.

    They are looked for in the environment, then in secrets.toml in CoilClaw's home folder.

    \b
    Example:
      coilclaw secret set GITHUB_TOKEN
      coilclaw secret list
    """


def _store(keyring: bool = False) -> SecretStore:
    return SecretStore(settings_for().home, os.environ, keyring=keyring)


@secret.command("list", epilog="Example: coilclaw secret list --json")
@click.option("--keyring", is_flag=True, help="Look into the system's keyring too.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_secrets(keyring: bool, as_json: bool) -> None:
    """List the names that are kept or needed, where each value comes from, and which tools use it."""
    store = _store(keyring)
    users: dict[str, list[str]] = {name: [] for name in store.names()}
    needed: set[str] = set()
    for tool in load_registry(settings_for()).tools.values():
        needed.update(tool.secrets)
        for name in (*tool.secrets, *tool.optional_secrets):
            users.setdefault(name, []).append(tool.id)
    rows: list[dict[str, Any]] = [
        {"name": name, "source": store.source(name), "required": name in needed, "tools": sorted(users[name])}
        for name in sorted(users)
    ]
    if as_json:
        say_json(rows)
        return
    if not rows:
        say("No secrets are kept, and no tool needs one.", err=True)
        return
    width = max(len(as_name(row["name"])) for row in rows)
    for row in rows:
        source = row["source"] or ("missing" if row["required"] else "not set")
        users_of = one_line(", ".join(row["tools"]))
        say_wrapped(f"{as_name(row['name']):<{width}}  {source:<12}  ", users_of)


@secret.command("set", epilog="Example: coilclaw secret set GITHUB_TOKEN < token.txt")
@click.argument("name")
@click.argument("rest", nargs=-1, type=click.UNPROCESSED, metavar="")
@click.option("--keyring", is_flag=True, help="Keep it in the system's keyring instead of the file.")
def set_secret(name: str, rest: tuple[str, ...], keyring: bool) -> None:
    """Set the secret NAME. It is asked for without showing it, or read from standard input."""
    no_secrets_here(rest)
    check_secret_name(name)
    value = read_secret("Value")
    store = _store(keyring)
    store.set(name, value, in_keyring=keyring)
    say(f"Kept {as_name(name)} in {'the keyring' if keyring else as_name(str(store.path))}", err=True)
    if len(value) < _SHORTEST_HIDDEN:
        warn(f"a value this short is not hidden when a tool returns it ({name}).")
    _warn_about_environment(name)


@secret.command("remove", epilog="Example: coilclaw secret remove GITHUB_TOKEN")
@click.argument("name")
@click.option("--keyring", is_flag=True, help="Remove it from the system's keyring instead of the file.")
def remove(name: str, keyring: bool) -> None:
    """Remove the secret NAME."""
    store = _store(keyring)
    place = "the keyring" if keyring else str(store.path)
    if not store.remove(name, in_keyring=keyring):
        raise OperatorError(f"{name} is not kept in {place}", hint="coilclaw secret list")
    say(f"Removed {as_name(name)} from {as_name(place)}", err=True)
    _warn_about_environment(name)


def _warn_about_environment(name: str) -> None:
    if os.environ.get(name):
        say(f"Note: the environment variable {as_name(name)} is set, and it comes first.", err=True)
