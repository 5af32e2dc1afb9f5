"""`coilclaw tool trust`: a person reads what was written through the bridge, and vouches for it."""

from __future__ import annotations

import difflib
import getpass
import json
import sys
from pathlib import Path

import click

from coilclaw.cli.composition import Evidence, expanded, make_policy, open_evidence, settings_for
from coilclaw.cli.terminal import printable
from coilclaw.cli.toolbox import Toolbox
from coilclaw.sdk import OperatorError, Quarantined
from coilclaw.workspace_tools import RELOAD_REQUEST

__all__ = ["trust"]


@click.command(epilog="Example: coilclaw tool trust tools/posthog/tools.py")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--workspace", metavar="DIR", help="The workspace the files are in.")
@click.option("--yes", is_flag=True, help="Do not ask. For scripts of a person who has read the change.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list; without PATH, of what is quarantined.")
def trust(paths: tuple[str, ...], workspace: str | None, yes: bool, as_json: bool) -> None:
    """Show how quarantined tool files differ from what was in force, and trust exactly that content.

    Without PATH, list what is quarantined. A file that changes again after it was trusted through
    the bridge is quarantined again.
    """
    settings = settings_for(workspace)
    root = settings.config.workspace_dir
    with open_evidence(settings) as evidence:
        toolbox = Toolbox(settings, evidence.ledger, make_policy(settings.config))
        # Looks at the files without running any of them.
        evidence.ledger.recover(toolbox.workspace.sources.digests)
        held = _quarantined(toolbox, evidence)
        if not paths:
            _show_list(list(held.values()), as_json)
            return
        wanted = [_name(path, root) for path in paths]
        trusted = []
        for name in dict.fromkeys(wanted):
            receipt = _trust(name, toolbox, evidence, name in held, yes=yes, quiet=as_json)
            if receipt is None:
                click.echo(f"{name}: left in quarantine", err=True)
                sys.exit(1)
            trusted.append({"path": name, **receipt})
        (root / "tools" / RELOAD_REQUEST).touch()  # Processes that watch the folder look again at once.
    if as_json:
        click.echo(json.dumps(trusted))


def _quarantined(toolbox: Toolbox, evidence: Evidence) -> dict[str, Quarantined]:
    held = {}
    for name, source in toolbox.workspace.sources.read().items():
        if source.data.strip() and (reason := evidence.ledger.reason_against(name, source.digest)):
            held[f"tools/{name}"] = Quarantined(
                name=f"tools/{name}", path=source.path, content_hash=source.digest, reason=reason
            )
    return held


def _show_list(held: list[Quarantined], as_json: bool) -> None:
    if as_json:
        facts = [{"path": each.name, "content_hash": each.content_hash, "reason": each.reason} for each in held]
        click.echo(json.dumps(facts))
        return
    for each in held:
        click.echo(printable(f"{each.name}  {each.reason}"))
    if not held:
        click.echo("Nothing is quarantined.", err=True)


def _name(path: str, workspace: Path) -> str:
    """The name below the workspace, for a path relative to it or to where the person stands."""
    place = expanded(path)
    candidates = [place] if place.is_absolute() else [workspace / place, Path.cwd() / place]
    for candidate in candidates:
        absolute = candidate.absolute()
        for base in (workspace.absolute(), workspace.resolve()):
            if absolute.is_file() and absolute.is_relative_to(base / "tools"):
                return absolute.relative_to(base).as_posix()
    raise OperatorError(
        f"{printable(path)} is not a file under {workspace / 'tools'}",
        hint="`coilclaw tool trust` without a path lists what is quarantined",
    )


def _trust(
    name: str, toolbox: Toolbox, evidence: Evidence, is_held: bool, *, yes: bool, quiet: bool
) -> dict[str, str] | None:
    source = toolbox.workspace.sources.read().get(name.removeprefix("tools/"))
    if source is None:
        raise OperatorError(f"{name} is not a tool file", hint="tool files are tools/<integration>/<name>.py")
    if not is_held:
        click.echo(f"{name} is not quarantined; nothing to do.", err=True)
        return {"content_hash": source.digest, "receipt": ""}
    if not quiet:
        _show_difference(name, evidence.ledger.in_force(source.name), source.data)
    if not yes and not _confirmed(name):
        return None
    # Exactly the bytes that were shown: if the file has changed since, it is still quarantined.
    receipt = evidence.ledger.trust(source.name, source.data, _who())
    if not quiet:
        click.echo(f"Trusted {name} ({source.digest[:12]}), {receipt}")
    return {"content_hash": source.digest, "receipt": receipt}


def _show_difference(name: str, before: bytes | None, after: bytes) -> None:
    old = (before or b"").decode(errors="replace").splitlines()
    new = after.decode(errors="replace").splitlines()
    origin = "what was in force" if before is not None else "nothing"
    for line in difflib.unified_diff(old, new, origin, name, lineterm=""):
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        click.secho(printable(line), fg=colour)


def _confirmed(name: str) -> bool:
    if not sys.stdin.isatty():
        raise OperatorError(
            f"nobody is there to say whether {name} is trusted", hint="run it on a terminal, or add --yes"
        )
    return click.confirm(f"Run {name} outside the sandbox from now on?", default=False, err=True)


def _who() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
