"""`coilclaw doctor`: is everything a run needs in place?"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from importlib.metadata import version

import click

from coilclaw.cli.doctor_places import Finding, exposed, private_places, written
from coilclaw.cli.doubts import doubts_about
from coilclaw.cli.opening import load_registry, open_app, settings_for
from coilclaw.cli.terminal import counted, say, say_json, styled
from coilclaw.config import Settings
from coilclaw.policy import EmergencyStop
from coilclaw.sdk import CoilClawError
from coilclaw.sdk.legible import one_line, text_of

__all__ = ["doctor"]


@click.command(epilog="Example: coilclaw doctor --json")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def doctor(as_json: bool) -> None:
    """Check the configuration, the sandbox, the tools and the receipts (exit code 1 if something is broken)."""
    findings = list(_examine())
    if as_json:
        say_json([asdict(finding) for finding in findings])
    else:
        colours = {"ok": "green", "warning": "yellow", "error": "red"}
        for finding in findings:
            mark = styled(f"{finding.state:<8}", fg=colours[finding.state])
            say(mark, f" {finding.check:<12} {one_line(finding.detail)}")
            if finding.hint:
                say(f"{'':<21} {one_line(finding.hint)}")
    sys.exit(1 if any(finding.state == "error" for finding in findings) else 0)


def _examine() -> Iterator[Finding]:
    yield Finding(check="python", state="ok", detail=f"{platform.python_version()} on {platform.platform()}")
    yield from _guarded("sandbox", _sandbox)
    try:
        settings = settings_for()
    except CoilClawError as error:
        for problem in getattr(error, "problems", [error.message]):
            yield Finding(check="config", state="error", detail=str(problem), hint=error.hint)
        return
    source = str(settings.path) if settings.path.exists() else "defaults (no config.toml)"
    yield Finding(check="config", state="ok", detail=source)
    checks: tuple[tuple[str, Callable[[Settings], Iterator[Finding]]], ...] = (
        ("home", _home),
        ("estop", _stopped),
        ("restricted", _layers),
        ("workspace", _workspace),
        ("tools", _tools),
        ("receipts", _receipts),
    )
    for name, check in checks:
        yield from _guarded(name, partial(check, settings))


def _guarded(check: str, examine: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Whatever a check dies of is its finding, and the next one is made all the same."""
    try:
        yield from examine()
    except CoilClawError as error:
        yield Finding(check=check, state="error", detail=error.message, hint=error.hint)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        yield Finding(check=check, state="error", detail=f"{place}{error.strerror or type(error).__name__}")
    except Exception as error:
        told = one_line(text_of(error), 300)
        yield Finding(check=check, state="error", detail=f"the check itself failed: {type(error).__name__}: {told}")


def _sandbox() -> Iterator[Finding]:
    from coilclaw.sandbox.wasm import guest_build

    yield Finding(
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


def _home(settings: Settings) -> Iterator[Finding]:
    """The runtime's own folder and files: writable for us, and out of reach for everybody else."""
    if not settings.home.exists():
        yield Finding(
            check="home", state="warning", detail=f"{settings.home} does not exist", hint="run `coilclaw init`"
        )
        return
    problems = [exposed("home", path, mode) for path, mode in private_places(settings)]
    folders = dict.fromkeys((settings.home, settings.config.receipts.path.parent))
    problems += [written("home", folder) for folder in folders if folder.exists()]
    found = [problem for problem in problems if problem is not None]
    yield from found or [Finding(check="home", state="ok", detail=f"{settings.home} (private and writable)")]


def _stopped(settings: Settings) -> Iterator[Finding]:
    if stopped := EmergencyStop.of_home(settings.home)():
        yield Finding(check="estop", state="warning", detail=stopped, hint="`coilclaw estop --clear` ends it")


def _workspace(settings: Settings) -> Iterator[Finding]:
    place = settings.config.workspace_dir
    if not place.is_dir():
        yield Finding(check="workspace", state="warning", detail=f"{place} does not exist", hint="run `coilclaw init`")
        return
    yield written("workspace", place) or Finding(check="workspace", state="ok", detail=str(place))


def _tools(settings: Settings) -> Iterator[Finding]:
    registry = load_registry(settings)
    yield Finding(check="tools", state="ok", detail=counted(len(registry.tools), "tool"))
    for diagnostic in registry.diagnostics:
        where = f"{diagnostic.file}:{diagnostic.line}" if diagnostic.line else diagnostic.file
        yield Finding(check="tools", state="warning", detail=f"{where}: {diagnostic.message}", hint=diagnostic.hint)
    for doubt in doubts_about(settings.config, registry, complete=True):
        yield Finding(check="config", state="warning", detail=doubt)


def _receipts(settings: Settings) -> Iterator[Finding]:
    with open_app(settings) as claw:
        result = claw.verify()
    if result.ok:
        detail = f"{counted(result.count, 'receipt')}, chain and seal hold"
        yield Finding(check="receipts", state="ok", detail=detail)
    else:
        yield Finding(
            check="receipts", state="error", detail=str(result.problem), hint="`coilclaw receipt list` shows them"
        )
