"""`coilclaw doctor`: is everything a run needs in place?"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Literal

import click

from coilclaw.cli.composition import load_registry, open_log, settings_for
from coilclaw.config import Settings
from coilclaw.policy import EmergencyStop
from coilclaw.sdk import CoilClawError

__all__ = ["doctor"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    check: str
    state: Literal["ok", "warning", "error"]
    detail: str
    hint: str | None = None


@click.command(epilog="Example: coilclaw doctor --json")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def doctor(as_json: bool) -> None:
    """Check the configuration, the sandbox, the tools and the receipts (exit code 1 if something is broken)."""
    findings = list(_examine())
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings]))
    else:
        colours = {"ok": "green", "warning": "yellow", "error": "red"}
        for finding in findings:
            mark = click.style(f"{finding.state:<8}", fg=colours[finding.state])
            click.echo(f"{mark} {finding.check:<12} {finding.detail}")
            if finding.hint:
                click.echo(f"{'':<21} {finding.hint}")
    sys.exit(1 if any(finding.state == "error" for finding in findings) else 0)


def _examine() -> Iterator[Finding]:
    yield Finding(check="python", state="ok", detail=f"{platform.python_version()} on {platform.platform()}")
    yield _guarded("sandbox", _sandbox)
    try:
        settings = settings_for()
    except CoilClawError as error:
        yield Finding(check="config", state="error", detail=error.message, hint=error.hint)
        return
    source = str(settings.path) if settings.path.exists() else "defaults (no config.toml)"
    yield Finding(check="config", state="ok", detail=source)
    if stopped := EmergencyStop.of_home(settings.home)():
        yield Finding(check="estop", state="warning", detail=stopped, hint="`coilclaw estop --clear` ends it")
    yield from _layers(settings)
    yield _workspace(settings)
    yield from _guarded_all("tools", lambda: list(_tools(settings)))
    yield _guarded("receipts", lambda: _receipts(settings))


def _guarded(check: str, examine: Callable[[], Finding]) -> Finding:
    try:
        return examine()
    except CoilClawError as error:
        return Finding(check=check, state="error", detail=error.message, hint=error.hint)


def _guarded_all(check: str, examine: Callable[[], list[Finding]]) -> list[Finding]:
    try:
        return examine()
    except CoilClawError as error:
        return [Finding(check=check, state="error", detail=error.message, hint=error.hint)]


def _sandbox() -> Finding:
    from coilclaw.sandbox.wasm import guest_build

    return Finding(
        check="sandbox",
        state="ok",
        detail=f"wasm guest {guest_build()}, wasmtime {version('wasmtime')}, no WASI linked",
    )


def _layers(settings: Settings) -> Iterator[Finding]:
    """What confines the processes of the restricted engine here. Off is no problem: somebody wanted it."""
    from coilclaw.sandbox.restricted import survey

    wanted = settings.config.sandbox.restricted
    for layer in survey(wanted.off):
        missing = layer.state == "unavailable"
        required = missing and layer.name in wanted.require
        yield Finding(
            check="restricted",
            state="error" if required else "warning" if missing else "ok",
            detail=f"{layer.name}: {layer.state} ({layer.detail})",
            hint="`sandbox.restricted.require` names it, so the restricted engine runs nothing" if required else None,
        )


def _workspace(settings: Settings) -> Finding:
    place = settings.config.workspace_dir
    if place.is_dir():
        return Finding(check="workspace", state="ok", detail=str(place))
    return Finding(check="workspace", state="warning", detail=f"{place} does not exist", hint="run `coilclaw init`")


def _tools(settings: Settings) -> Iterator[Finding]:
    registry = load_registry(settings)
    yield Finding(check="tools", state="ok", detail=f"{len(registry.tools)} tools")
    for diagnostic in registry.diagnostics:
        where = f"{diagnostic.file}:{diagnostic.line}" if diagnostic.line else diagnostic.file
        yield Finding(check="tools", state="warning", detail=f"{where}: {diagnostic.message}", hint=diagnostic.hint)


def _receipts(settings: Settings) -> Finding:
    with open_log(settings) as log:
        result = log.verify()
    if result.ok:
        return Finding(check="receipts", state="ok", detail=f"{result.count} receipts, chain and seal hold")
    return Finding(
        check="receipts", state="error", detail=str(result.problem), hint="`coilclaw receipt list` shows them"
    )
