"""`coilclaw plugin`: programs of others as tools."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from coilclaw.cli.opening import expanded, settings_for
from coilclaw.cli.paging import confirmed
from coilclaw.cli.terminal import say, say_json, show_error, warn
from coilclaw.sdk import Diagnostic, OperatorError
from coilclaw.sdk.legible import as_name, one_line
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
    """List every installed plugin and its tools, or what is wrong with it."""
    found = list(plugins.found_in(_folder()))
    if as_json:
        say_json([_facts(place, manifest, problems) for place, manifest, problems in found])
        return
    if not found:
        say(f"No plugins in {as_name(str(_folder()))}", err=True)
    for place, manifest, problems in found:
        if manifest is None:
            say(f"{as_name(place.name)}  cannot be used")
            _show(problems)
            continue
        say(_titled(manifest))
        for each in manifest.tools:
            say(f"  {_told(each)}")


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
        if not yes and not confirmed(f"Install {as_name(copy.manifest.name)}?"):
            show_error("nothing was installed", None)
            sys.exit(1)
        digest = plugins.install(copy, replace=force)
    if as_json:
        say_json({**_facts(copy.place, copy.manifest, []), "digest": digest})
    else:
        say(f"Installed {_titled(copy.manifest)} in {as_name(str(copy.place))}")


@plugin.command(epilog="Example: coilclaw plugin remove weather")
@click.argument("name")
def remove(name: str) -> None:
    """Remove the plugin NAME and its files."""
    plugins.remove(name, _folder())
    say(f"Removed {as_name(name)}")


def _folder() -> Path:
    return settings_for().home / "plugins"


def _show(problems: list[Diagnostic]) -> None:
    for problem in problems:
        warn(str(problem))


def _show_offer(copy: plugins.Copy) -> None:
    verb = "replaces the installed one; it" if copy.replaces else "is new; it"
    say(f"The plugin {_titled(copy.manifest)} {verb} brings:", err=True)
    for each in copy.manifest.tools:
        say(f"  {_told(each)}", err=True)
        say(f"      runs      {one_line(shlex.join(each.command))}", err=True)
        say(f"      is given  {one_line(', '.join(each.contract.secrets)) or 'no secrets'}", err=True)
    say("Its programs run with your rights, outside the sandbox.", err=True)


def _titled(manifest: plugins.Manifest) -> str:
    return f"{as_name(manifest.name)} {as_name(manifest.version)}"


def _told(each: plugins.ManifestTool) -> str:
    first = each.contract.description.splitlines()[0] if each.contract.description else ""
    return f"{as_name(each.contract.id)}  {each.contract.risk.value}  {one_line(first)}"


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
