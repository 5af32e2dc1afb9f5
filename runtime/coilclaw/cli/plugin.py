"""`coilclaw plugin`: programs of others as tools."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from coilclaw.cli.composition import expanded, settings_for
from coilclaw.cli.terminal import printable, show_error
from coilclaw.sdk import Diagnostic, OperatorError
from coilclaw.workspace_tools import plugins

__all__ = ["plugin"]


@click.group()
def plugin() -> None:
    """List, install and remove plugins.

    \b
    Example:
      coilclaw plugin install ./weather
      coilclaw plugin list
      coilclaw plugin remove weather
    """


@plugin.command("list", epilog="Example: coilclaw plugin list --json")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_plugins(as_json: bool) -> None:
    """Every installed plugin and its tools, or what is wrong with it."""
    found = list(plugins.found_in(_folder()))
    if as_json:
        click.echo(json.dumps([_facts(place, manifest, problems) for place, manifest, problems in found]))
        return
    if not found:
        click.echo(f"No plugins in {_folder()}", err=True)
    for place, manifest, problems in found:
        if manifest is None:
            click.echo(printable(f"{place.name}  cannot be used"))
            _show(problems)
            continue
        click.echo(f"{manifest.name} {printable(manifest.version)}")
        for each in manifest.tools:
            click.echo(f"  {_told(each)}")


@plugin.command(epilog="Example: coilclaw plugin install ./weather --yes")
@click.argument("path")
@click.option("--yes", is_flag=True, help="Install without asking.")
@click.option("--force", is_flag=True, help="Replace a plugin of the same name.")
@click.option("--json", "as_json", is_flag=True, help="Print what was installed as a JSON object.")
def install(path: str, yes: bool, force: bool, as_json: bool) -> None:
    """Copy the plugin in the folder PATH into this installation.

    A plugin is a program that runs with your rights, outside the sandbox. What it will be able to do is
    shown before anything is installed.
    """
    source = expanded(path)
    with plugins.prepare(source, _folder()) as (copy, problems):
        if copy is None:
            _show(problems)
            raise OperatorError(f"{source} was not installed: {len(problems)} problem(s)", hint="see the lines above")
        if copy.replaces and not force:
            raise OperatorError(
                f"the plugin {copy.manifest.name!r} is installed already", hint="use --force to replace it"
            )
        _show_offer(copy)
        if not yes and not _agreed(copy):
            show_error("nothing was installed", None)
            sys.exit(1)
        digest = plugins.install(copy, replace=force)
    if as_json:
        click.echo(json.dumps({**_facts(copy.place, copy.manifest, []), "digest": digest}))
    else:
        click.echo(f"Installed {copy.manifest.name} {printable(copy.manifest.version)} in {copy.place}")


@plugin.command(epilog="Example: coilclaw plugin remove weather")
@click.argument("name")
def remove(name: str) -> None:
    """Remove the plugin NAME and its files."""
    plugins.remove(name, _folder())
    click.echo(f"Removed {name}")


def _folder() -> Path:
    return settings_for().home / "plugins"


def _show(problems: list[Diagnostic]) -> None:
    for problem in problems:
        click.secho(printable(f"Warning: {problem}"), err=True, fg="yellow")


def _show_offer(copy: plugins.Copy) -> None:
    verb = "replaces the installed one; it" if copy.replaces else "is new; it"
    click.echo(f"The plugin {copy.manifest.name} {printable(copy.manifest.version)} {verb} brings:", err=True)
    for each in copy.manifest.tools:
        click.echo(f"  {_told(each)}", err=True)
        click.echo(f"      runs      {printable(shlex.join(each.command))}", err=True)
        click.echo(f"      is given  {', '.join(each.contract.secrets) or 'no secrets'}", err=True)
    click.echo("Its programs run with your rights, outside the sandbox.", err=True)


def _agreed(copy: plugins.Copy) -> bool:
    if not sys.stdin.isatty():
        raise OperatorError(
            "a person has to agree and nobody could be asked", hint="run it on a terminal, or with --yes"
        )
    return click.confirm(f"Install {copy.manifest.name}?", default=False, err=True)


def _told(each: plugins.ManifestTool) -> str:
    first = each.contract.description.splitlines()[0] if each.contract.description else ""
    return printable(f"{each.contract.id}  {each.contract.risk.value}  {first}")


def _facts(place: Path, manifest: plugins.Manifest | None, problems: list[Diagnostic]) -> dict[str, Any]:
    return {
        "name": manifest.name if manifest else place.name,
        "version": manifest.version if manifest else None,
        "folder": str(place),
        "tools": [
            {
                "id": each.contract.id,
                "risk": each.contract.risk.value,
                "description": each.contract.description,
                "command": list(each.command),
                "secrets": list(each.contract.secrets),
                "timeout_seconds": each.seconds,
            }
            for each in (manifest.tools if manifest else ())
        ],
        "problems": [str(problem) for problem in problems],
    }
