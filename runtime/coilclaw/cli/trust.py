"""`coilclaw tool trust`: a person reads what was written through the bridge, and trusts it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from coilclaw.app import HeldFile, Quarantine, difference_rows, file_lines, odd_encoding
from coilclaw.cli.opening import expanded, open_app, settings_for, this_person
from coilclaw.cli.paging import Row, confirmed, say_rows
from coilclaw.cli.terminal import say, say_json, warn
from coilclaw.sdk import OperatorError, Quarantined
from coilclaw.sdk.legible import as_name, one_line
from coilclaw.workspace_tools import Sources

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
    with open_app(settings) as claw:
        quarantine = claw.quarantine
        held = quarantine.held()
        if not paths:
            _show_list([each.entry for each in held.values()], as_json)
            return
        trusted = []
        for name in dict.fromkeys(_name(path, root) for path in paths):
            if name not in held:
                _explain(name, quarantine.sources)
                continue
            receipt = _trust(held[name], quarantine, yes=yes, quiet=as_json)
            if receipt is None:
                say(f"{as_name(name)}: left in quarantine", err=True)
                quarantine.look()
                sys.exit(1)
            trusted.append({"path": name, "content_hash": held[name].entry.content_hash, "receipt": receipt})
        quarantine.look()
        _warn_of_changes(trusted, quarantine.sources)
    if as_json:
        say_json(trusted)


def _explain(name: str, sources: Sources) -> None:
    """Why there is nothing to trust."""
    if name.removeprefix("tools/") not in sources.read():
        problems = [each for each in sources.look().diagnostics if Path(each.file) == sources.root.parent / name]
        hint = "tool files are tools/<integration>/<name>.py"
        raise OperatorError(f"{name} is not a tool file" + "".join(f": {each.message}" for each in problems), hint=hint)
    say(f"{as_name(name)} is not quarantined; nothing to do.", err=True)


def _warn_of_changes(trusted: list[dict[str, str]], sources: Sources) -> None:
    present = sources.read()
    for each in trusted:
        source = present.get(each["path"].removeprefix("tools/"))
        if source is None or source.digest != each["content_hash"]:
            warn(f"{each['path']} has changed since it was shown; only what was shown is trusted.")


def _show_list(held: list[Quarantined], as_json: bool) -> None:
    if as_json:
        facts = [{"path": each.name, "content_hash": each.content_hash, "reason": each.reason} for each in held]
        say_json(facts)
        return
    for each in held:
        say(f"{as_name(each.name)}  {one_line(each.reason)}")
    if held:
        say(f"To read and trust one: coilclaw tool trust {as_name(held[0].name)}", err=True, dim=True)
    else:
        say("Nothing is quarantined.", err=True)


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
        f"{path} is not a file under {workspace / 'tools'}",
        hint="`coilclaw tool trust` without a path lists what is quarantined",
    )


def _trust(file: HeldFile, quarantine: Quarantine, *, yes: bool, quiet: bool) -> str | None:
    """Ask about exactly these bytes; if the file has changed meanwhile, what it holds now is still quarantined."""
    name, source = file.entry.name, file.source
    rows = _difference_rows(name, file.in_force, source.data)
    if not yes and not _confirmed(name, source.data, rows, err=quiet):
        return None
    if yes and not quiet:
        say_rows(rows)
        if encoding := odd_encoding(source.data):
            warn(encoding)
    receipt = quarantine.trust(file, by=this_person())
    if not quiet:
        say(f"Trusted {as_name(name)} ({source.digest[:12]}), {receipt}")
    return receipt


def _difference_rows(name: str, before: bytes | None, after: bytes) -> list[Row]:
    origin = "what was in force" if before is not None else "nothing"
    heading = [Row("--- ", origin), Row("+++ ", as_name(name))]
    return [*heading, *difference_rows(file_lines(before or b""), file_lines(after))]


def _confirmed(name: str, data: bytes, rows: list[Row], *, err: bool) -> bool:
    if encoding := odd_encoding(data):
        rows = [*rows, Row("", f"Warning: {one_line(encoding)}", "yellow")]
    return confirmed(f"Run {as_name(name)} outside the sandbox from now on?", rows, err=err)
