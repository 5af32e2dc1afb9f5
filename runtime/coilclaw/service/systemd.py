"""The service as a systemd unit of this user."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from coilclaw.service.definition import ServiceDefinition
from coilclaw.service.errors import ServiceFailed
from coilclaw.service.service_file import remove_file, write_file
from coilclaw.service.supervisor import Control, ServiceState

__all__ = ["Systemd", "unit_text"]

_UNIT: Final = """\
# Written by `coilclaw service install`, which writes it again when something changes.
[Unit]
Description=CoilClaw gateway

[Service]
Type=exec
Environment={environment}
ExecStart={command}
Restart=on-failure
RestartSec=2
# Wrong usage or configuration: starting again would not help.
RestartPreventExitStatus=2
UMask=0077

[Install]
WantedBy=default.target
"""
_PROPERTIES: Final = "LoadState,ActiveState,MainPID,UnitFileState"


class Systemd:
    """systemd's manager of this user's services."""

    name = "systemd"
    advice = "It starts when you log in and ends with your last session. To have it run always: loginctl enable-linger"

    def __init__(self, definition: ServiceDefinition, control: Control, environment: Mapping[str, str]) -> None:
        self._control = control
        self._unit = f"{definition.name}.service"
        given = environment.get("XDG_CONFIG_HOME", "")
        # A relative one is to be ignored, says its specification.
        settings = Path(given) if given.startswith("/") else Path(environment["HOME"]) / ".config"
        self.file = settings / "systemd/user" / self._unit
        self.contents = unit_text(definition).encode()
        self.install_commands: tuple[tuple[str, ...], ...] = (
            ("systemctl", "--user", "daemon-reload"),
            ("systemctl", "--user", "enable", self._unit),
        )

    def install(self) -> None:
        write_file(self.file, self.contents)
        for _, *arguments in self.install_commands:
            self._control(*arguments)

    def uninstall(self) -> None:
        state = self.state()
        if state.running:
            self.stop()
        if state.enabled:
            self._control("--user", "disable", self._unit)
        remove_file(self.file)
        self._control("--user", "daemon-reload")

    def start(self) -> None:
        self._control("--user", "start", self._unit)  # systemd itself never starts a unit twice.

    def stop(self) -> None:
        self._control("--user", "stop", self._unit)

    def state(self) -> ServiceState:
        said = self._control("--user", "show", self._unit, f"--property={_PROPERTIES}")
        facts = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
        pid = facts.get("MainPID", "0")
        running = facts.get("ActiveState") in ("active", "activating", "reloading")
        return ServiceState(
            installed=self.file.is_file(),
            enabled=facts.get("UnitFileState") == "enabled",
            running=running,
            pid=int(pid) if running and pid.isdecimal() and pid != "0" else None,
        )


def unit_text(definition: ServiceDefinition) -> str:
    """The unit file of a service."""
    program, *arguments = definition.command
    if any(character in program for character in "'\"\\"):  # However it is written: systemd refuses such a program.
        raise ServiceFailed(
            f"systemd starts no program with a quote or a backslash in its path: {program}",
            hint="install coilclaw at another path",
        )
    return _UNIT.format(
        environment=_quoted(f"COILCLAW_HOME={definition.home}"),
        # The colon keeps systemd from replacing variables: a dollar sign in a path is a dollar sign.
        command=" ".join([_quoted(f":{program}"), *map(_quoted, arguments)]),
    )


def _quoted(text: str) -> str:
    """One word of a unit file. A percent sign would begin a specifier."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
