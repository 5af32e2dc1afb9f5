"""`coilclaw doctor`: is everything a run needs in place?"""

from __future__ import annotations

import os
import platform
import shlex
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal

import click

from coilclaw.cli.config import doubts_about
from coilclaw.cli.opening import load_registry, open_app, settings_for
from coilclaw.cli.terminal import counted, say_json, say_wrapped, styled
from coilclaw.config import STORE_SUFFIXES, Settings
from coilclaw.policy import EmergencyStop
from coilclaw.sdk import CoilClawError
from coilclaw.sdk.legible import one_line, text_of

__all__ = ["doctor"]

_OTHERS: Final = 0o077
_OTHERS_ENTER: Final = 0o011
_TRIED_BYTES: Final = 65_536


@dataclass(frozen=True)
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
        say_json([asdict(finding) for finding in findings])
    else:
        colours = {"ok": "green", "warning": "yellow", "error": "red"}
        for finding in findings:
            mark = styled(f"{finding.state:<8}", fg=colours[finding.state])
            say_wrapped(f" {finding.check:<12} ", one_line(finding.detail), mark=mark)
            if finding.hint:
                say_wrapped(f"{'':<22}", one_line(finding.hint))
    sys.exit(1 if any(finding.state == "error" for finding in findings) else 0)


def _examine() -> Iterator[Finding]:
    yield Finding("python", "ok", f"{platform.python_version()} on {platform.platform()}")
    yield from _guarded("sandbox", _sandbox)
    try:
        settings = settings_for()
    except CoilClawError as error:
        for problem in getattr(error, "problems", [error.message]):
            yield Finding("config", "error", str(problem), hint=error.hint)
        return
    source = str(settings.path) if settings.path.exists() else "defaults (no config.toml)"
    yield Finding("config", "ok", source)
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
        yield Finding(check, "error", error.message, hint=error.hint)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        yield Finding(check, "error", f"{place}{error.strerror or type(error).__name__}")
    except Exception as error:
        told = one_line(text_of(error), 300)
        yield Finding(check, "error", f"the check itself failed: {type(error).__name__}: {told}")


def _sandbox() -> Iterator[Finding]:
    from coilclaw.sandbox.wasm import guest_build

    yield Finding("sandbox", "ok", f"wasm guest {guest_build()}, wasmtime {version('wasmtime')}, no WASI linked")


def _layers(settings: Settings) -> Iterator[Finding]:
    """What confines the processes of the restricted engine here. Off is no problem: somebody wanted it."""
    from coilclaw.sandbox.restricted import survey

    wanted = settings.config.sandbox.restricted
    for layer in survey(wanted.off):
        missing = layer.state == "unavailable"
        required = missing and layer.name in wanted.require
        yield Finding(
            "restricted",
            "error" if required else "warning" if missing else "ok",
            f"{layer.name}: {layer.state} ({layer.detail})",
            hint="`sandbox.restricted.require` names it, so the restricted engine runs nothing" if required else None,
        )


def _home(settings: Settings) -> Iterator[Finding]:
    """The runtime's own folder and files: writable for us, and out of reach for everybody else."""
    if not settings.home.exists():
        yield Finding("home", "warning", f"{settings.home} does not exist", hint="run `coilclaw init`")
        return
    problems = [_exposed("home", path, mode) for path, mode in _private_places(settings)]
    folders = dict.fromkeys((settings.home, settings.config.receipts.path.parent))
    problems += [_written("home", folder) for folder in folders if folder.exists()]
    found = [problem for problem in problems if problem is not None]
    yield from found or [Finding("home", "ok", f"{settings.home} (private and writable)")]


def _stopped(settings: Settings) -> Iterator[Finding]:
    if stopped := EmergencyStop.of_home(settings.home)():
        yield Finding("estop", "warning", stopped, hint="`coilclaw estop --clear` ends it")


def _workspace(settings: Settings) -> Iterator[Finding]:
    place = settings.config.workspace_dir
    if not place.is_dir():
        yield Finding("workspace", "warning", f"{place} does not exist", hint="run `coilclaw init`")
        return
    yield _written("workspace", place) or Finding("workspace", "ok", str(place))


def _tools(settings: Settings) -> Iterator[Finding]:
    registry = load_registry(settings)
    yield Finding("tools", "ok", counted(len(registry.tools), "tool"))
    for diagnostic in registry.diagnostics:
        where = f"{diagnostic.file}:{diagnostic.line}" if diagnostic.line else diagnostic.file
        yield Finding("tools", "warning", f"{where}: {diagnostic.message}", hint=diagnostic.hint)
    for doubt in doubts_about(settings, registry, complete=True):
        yield Finding("config", "warning", doubt)


def _receipts(settings: Settings) -> Iterator[Finding]:
    with open_app(settings) as claw:
        result = claw.verify()
    if result.ok:
        detail = f"{counted(result.count, 'receipt')}, chain and seal hold"
        yield Finding("receipts", "ok", detail)
    else:
        yield Finding("receipts", "error", str(result.problem), hint="`coilclaw receipt list` shows them")


def _written(check: str, folder: Path) -> Finding | None:
    """Try to write in a folder, and return what went wrong. Only a write finds a full disk or a read-only mount."""
    try:
        with tempfile.TemporaryFile(dir=folder, prefix=".coilclaw-doctor-") as file:
            file.write(bytes(_TRIED_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return Finding(
            check,
            "error",
            f"cannot write in {folder}: {error.strerror}",
            hint="make room on the disk, or make the folder writable",
        )
    return None


def _private_places(settings: Settings) -> Iterator[tuple[Path, str]]:
    """Everything that only its owner may reach, with the mode that makes it so."""
    receipts = settings.config.receipts
    yield settings.home, "700"
    for name in ("config.toml", "secrets.toml", "auth-profiles.json", "keys"):
        yield settings.home / name, "700" if name == "keys" else "600"
    yield receipts.key_path, "600"
    for suffix in STORE_SUFFIXES:
        yield Path(f"{receipts.path}{suffix}"), "600"


def _exposed(check: str, path: Path, mode: str) -> Finding | None:
    """Whether others than the owner can reach a file or folder, and the command that ends it."""
    try:
        facts = path.stat()
        around = path.resolve().parent.stat()
    except FileNotFoundError:
        return None
    if facts.st_uid not in (os.geteuid(), 0):
        return Finding(
            check,
            "error",
            f"{path} belongs to another user",
            hint=f"sudo chown {os.geteuid()} {shlex.quote(str(path))}",
        )
    # Nobody reaches a file through a folder that lets nobody in; a folder is judged by itself.
    is_open = stat.S_ISDIR(facts.st_mode) or around.st_mode & _OTHERS_ENTER
    if not facts.st_mode & _OTHERS or not is_open:
        return None
    done = "changed" if facts.st_mode & 0o022 else "read"
    return Finding(
        check,
        "error",
        f"{path} can be {done} by others (mode {stat.S_IMODE(facts.st_mode):o})",
        hint=f"chmod {mode} {shlex.quote(str(path))}",
    )
