"""`coilclaw service`: keep the gateway running, with the supervisor that this machine has."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any, Final, NoReturn

import click

from coilclaw.cli.terminal import say, say_json, warn
from coilclaw.config import home_folder
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name
from coilclaw.service import NoSupervisor, ServiceDefinition, Supervisor, choose_supervisor, service_name

__all__ = ["service"]

_OTHERS: Final = ("COILCLAW_HOME", "COILCLAW_LOG", "COILCLAW_TOKEN", "COILCLAW_SERVER")
"""Variables that the service has no use for, or gets anyway."""


@click.group()
def service() -> None:
    """Install, start and stop the gateway as a service of this user.

    systemd keeps it running on Linux, launchd on macOS. Each home folder has a service of its own.

    \b
    Example:
      coilclaw service install
      coilclaw service start
      coilclaw service status --json
    """


@service.command(epilog="Example: coilclaw service install --yes")
@click.option("--yes", is_flag=True, help="Do not ask.")
def install(yes: bool) -> None:
    """Show the service file, then write it and have the gateway started at every login.

    The file holds paths and no secret. The service gets COILCLAW_HOME and nothing else of this shell's environment:
    keys that it needs belong into `coilclaw auth` and `coilclaw secret`.
    """
    found = _supervisor()
    if _is_current(found):
        if not found.state().enabled:
            found.install()
        say(f"Installed already: {as_name(str(found.file))}")
        return
    say(f"This is written to {as_name(str(found.file))}:", bold=True)
    say()
    for line in found.contents.decode().splitlines():
        say(f"  {line}".rstrip())
    if found.install_commands:
        say()
        say("Then:", bold=True)
        for command in found.install_commands:
            say(f"  {' '.join(command)}")
    say()
    _tell_variables()
    if not yes:
        _confirm("Install it?")
    was_running = found.state().running
    found.install()
    say(f"Installed. {found.advice}")
    if was_running:
        say("The service runs as it was installed before; `coilclaw service stop` and `start` change that.")
    else:
        say("To start it now: coilclaw service start")


@service.command(epilog="Example: coilclaw service uninstall --yes")
@click.option("--yes", is_flag=True, help="Do not ask.")
def uninstall(yes: bool) -> None:
    """Stop the service and remove its file. Runs, receipts and everything else of the home stay."""
    found = _supervisor()
    state = found.state()
    if not state.installed and not state.running:
        say("The service is not installed.")
        return
    say(f"This {'stops the service and ' if state.running else ''}removes {as_name(str(found.file))}.")
    if not yes:
        _confirm("Uninstall it?")
    found.uninstall()
    say("Uninstalled.")


@service.command(epilog="Example: coilclaw service start")
def start() -> None:
    """Start the service now. One that runs already is left alone."""
    found = _supervisor()
    state = found.state()
    if not state.installed:
        raise OperatorError("the service is not installed", hint="coilclaw service install")
    if state.running:
        say(f"Running already{_process(state.pid)}.")
        return
    if not _is_current(found):
        warn(f"{found.file} is not what `coilclaw service install` would write; install it again to renew it")
    found.start()
    state = found.state()
    if not state.running:
        raise OperatorError("the service was started and ended again", hint=_log_hint(found))
    say(f"Started{_process(state.pid)}.")


@service.command(epilog="Example: coilclaw service stop")
def stop() -> None:
    """Stop the service until the next login or `coilclaw service start`. Suspended runs stay as they are."""
    found = _supervisor()
    if not found.state().running:
        say("The service does not run.")
        return
    found.stop()
    say("Stopped.")


@service.command(epilog="Example: coilclaw service status --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(as_json: bool) -> NoReturn:
    """Say whether the service is installed and runs: exit code 0 if it runs, 1 if not."""
    home = home_folder(os.environ)
    facts: dict[str, Any] = {"supervisor": None, "file": None, "installed": False, "enabled": False}
    facts |= {"running": False, "pid": None, "current": False, "home": str(home), "problem": None}
    try:
        found = _supervisor()
    except NoSupervisor as error:
        if not as_json:
            raise
        facts["problem"] = error.message
        say_json(facts)
        sys.exit(1)
    state = found.state()
    facts |= {"supervisor": found.name, "file": str(found.file), "installed": state.installed}
    facts |= {"enabled": state.enabled, "running": state.running, "pid": state.pid, "current": _is_current(found)}
    if as_json:
        say_json(facts)
    else:
        say(f"Runs{_process(state.pid)}." if state.running else "Does not run.")
        if not state.installed:
            say("Not installed; `coilclaw service install` does that.")
        else:
            say(f"Installed: {as_name(str(found.file))}" + ("" if state.enabled else ", but not started at login"))
            if not facts["current"]:
                say("The file is not what `coilclaw service install` would write; install it again to renew it.")
    sys.exit(0 if state.running else 1)


def _supervisor() -> Supervisor:
    home = home_folder(os.environ)
    default = Path(os.environ.get("HOME", "/")) / ".coilclaw"
    definition = ServiceDefinition(name=service_name(home, default), command=(_program(), "serve"), home=home)
    return choose_supervisor(definition, platform=sys.platform, user=os.getuid(), environment=os.environ)


def _program() -> str:
    """The command of this installation: whatever else is called `coilclaw` in some PATH is not meant."""
    program = Path(sysconfig.get_path("scripts")) / "coilclaw"
    if not os.access(program, os.X_OK):
        raise OperatorError(
            f"there is no {program} that a service could start", hint="install coilclaw as a package, with pip or pipx"
        )
    return str(program)


def _is_current(found: Supervisor) -> bool:
    try:
        return found.file.read_bytes() == found.contents
    except OSError:
        return False


def _tell_variables() -> None:
    names = sorted(name for name in os.environ if name.startswith("COILCLAW_") and name not in _OTHERS)
    if names:
        warn(f"the service does not get {', '.join(map(as_name, names))}; config.toml can say the same")


def _confirm(question: str) -> None:
    from coilclaw.cli.paging import confirmed

    if not confirmed(question):
        say("Nothing was changed.", err=True)
        sys.exit(1)


def _process(pid: int | None) -> str:
    return f", process {pid}" if pid is not None else ""


def _log_hint(found: Supervisor) -> str:
    if found.name == "systemd":
        return f"its log says why: journalctl --user --unit {found.file.name}"
    return "its log says why: serve.log in the home folder"
