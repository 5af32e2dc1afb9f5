"""Which supervisor this machine has."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Final

from coilclaw.sdk.legible import one_line
from coilclaw.service.definition import ServiceDefinition
from coilclaw.service.errors import NoSupervisor
from coilclaw.service.launchd import Launchd
from coilclaw.service.supervisor import Control, Supervisor
from coilclaw.service.systemd import Systemd

__all__ = ["choose_supervisor"]

_OTHERWISE: Final = "start it yourself with `coilclaw serve`, or let another supervisor run that command"


def choose_supervisor(
    definition: ServiceDefinition, *, platform: str, user: int, environment: Mapping[str, str]
) -> Supervisor:
    """The supervisor of this user's services: launchd on macOS, systemd elsewhere. Raises NoSupervisor.

    `platform` is that of `sys.platform`; programs are looked for in the PATH of `environment`.
    """
    if not environment.get("HOME", "").startswith("/"):
        raise NoSupervisor("HOME is not set, so nobody knows where services are described", hint=_OTHERWISE)
    wanted = "launchctl" if platform == "darwin" else "systemctl"
    program = shutil.which(wanted, path=environment.get("PATH", ""))
    if program is None:
        what = "launchd" if platform == "darwin" else "systemd"
        raise NoSupervisor(f"there is no {what} here: no program {wanted} is in the PATH", hint=_OTHERWISE)
    control = Control(program, environment)
    if platform == "darwin":
        return Launchd(definition, control, environment, user)
    asked = control.tried("--user", "show", "--property=Version")
    if asked.returncode != 0:
        said = one_line(asked.stderr.strip(), 300)
        raise NoSupervisor(
            f"systemd does not answer for this user ({said})",
            hint=f"log in as this user rather than with su or sudo; where systemd does not run, {_OTHERWISE}",
        )
    return Systemd(definition, control, environment)
