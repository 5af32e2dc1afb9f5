"""The service as a launch agent of this user, for macOS."""

from __future__ import annotations

import plistlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from coilclaw.service.definition import ServiceDefinition
from coilclaw.service.errors import ServiceFailed
from coilclaw.service.service_file import remove_file, write_file
from coilclaw.service.supervisor import Control, ServiceState

__all__ = ["Launchd", "property_list"]

_RUNNING: Final = re.compile(r"^\tstate = running$", re.MULTILINE)
_PID: Final = re.compile(r"^\tpid = (\d+)$", re.MULTILINE)
_OWNER_ONLY: Final = 0o077


class Launchd:
    """launchd's domain of this user."""

    name = "launchd"
    install_commands: tuple[tuple[str, ...], ...] = ()
    advice = "It starts when you log in and ends when you log out."

    def __init__(
        self, definition: ServiceDefinition, control: Control, environment: Mapping[str, str], user: int
    ) -> None:
        self._control = control
        self._domain = f"gui/{user}"
        self._target = f"{self._domain}/{definition.name}"
        self.file = Path(environment["HOME"]) / "Library/LaunchAgents" / f"{definition.name}.plist"
        self.contents = property_list(definition)

    def install(self) -> None:
        write_file(self.file, self.contents)  # It is loaded from there at the next login.

    def uninstall(self) -> None:
        self.stop()
        remove_file(self.file)

    def start(self) -> None:
        if self._print() is None:
            try:
                self._control("bootstrap", self._domain, str(self.file))
            except ServiceFailed:
                if self._print() is None:  # Otherwise somebody else has just loaded it.
                    raise
        self._control("kickstart", self._target)  # Does nothing to a service that runs.

    def stop(self) -> None:
        if self._print() is not None:
            self._control("bootout", self._target)

    def state(self) -> ServiceState:
        said, installed = self._print(), self.file.is_file()
        running = said is not None and _RUNNING.search(said) is not None
        pid = _PID.search(said) if said is not None and running else None
        return ServiceState(
            installed=installed, enabled=installed, running=running, pid=int(pid[1]) if pid is not None else None
        )

    def _print(self) -> str | None:
        """What launchd knows of the service; None if it is not loaded."""
        done = self._control.tried("print", self._target)
        return done.stdout if done.returncode == 0 else None


def property_list(definition: ServiceDefinition) -> bytes:
    """The property list of a service."""
    log = str(definition.home / "serve.log")
    return plistlib.dumps(
        {
            "Label": definition.name,
            "ProgramArguments": list(definition.command),
            "EnvironmentVariables": {"COILCLAW_HOME": str(definition.home)},
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ProcessType": "Background",
            "Umask": _OWNER_ONLY,
            "StandardOutPath": log,
            "StandardErrorPath": log,
        }
    )
