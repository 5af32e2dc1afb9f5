"""A supervisor: the program of the system that starts a service at login and keeps it running."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import one_line
from coilclaw.service.errors import ServiceFailed

__all__ = ["Control", "ServiceState", "Supervisor"]

_SECONDS: Final = 90.0
"""For one command of the supervisor. Stopping waits for calls under way."""
_LONGEST: Final = 500


class ServiceState(Frozen):
    """How the service stands."""

    installed: bool
    enabled: bool
    """Whether it starts by itself at the next login."""
    running: bool
    pid: int | None = None


class Supervisor(Protocol):
    """Installs, starts and stops one service of this user."""

    name: str
    file: Path
    """The file that describes the service to the supervisor."""
    contents: bytes
    """What belongs into that file."""
    install_commands: tuple[tuple[str, ...], ...]
    """Commands that `install` runs after it has written the file."""
    advice: str
    """What a person should know about when the service runs."""

    def install(self) -> None:
        """Write the file and have the service started at every login. Does not start it now."""

    def uninstall(self) -> None:
        """Stop the service and remove its file."""

    def start(self) -> None:
        """Start the service now. One that runs already is left alone."""

    def stop(self) -> None:
        """Stop the service until the next login or `start`."""

    def state(self) -> ServiceState:
        """How the service stands now."""
        ...


class Control:
    """Runs the program that controls a supervisor: `systemctl` or `launchctl`."""

    def __init__(self, program: str, environment: Mapping[str, str]) -> None:
        self._program = program
        self._environment = dict(environment)

    def __call__(self, *arguments: str) -> str:
        """Run it and return what it printed. Raises ServiceFailed with what it said."""
        done = self.tried(*arguments)
        if done.returncode != 0:
            said = one_line((done.stderr or done.stdout).strip(), _LONGEST) or f"exit code {done.returncode}"
            raise ServiceFailed(f"`{self.shown(*arguments)}` failed: {said}")
        return done.stdout

    def tried(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run it and return how it ended, whatever that is."""
        try:
            return subprocess.run(  # noqa: S603
                [self._program, *arguments],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ServiceFailed(f"`{self.shown(*arguments)}` did not end within {_SECONDS:.0f} s") from None
        except OSError as error:
            raise ServiceFailed(f"cannot run {self._program}: {error.strerror}") from None

    def shown(self, *arguments: str) -> str:
        return " ".join((Path(self._program).name, *arguments))
