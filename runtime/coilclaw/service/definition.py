"""What the service is: its name, the command it runs, and the home it serves."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen

__all__ = ["ServiceDefinition", "service_name"]

_DIGITS: Final = 10


class ServiceDefinition(Frozen):
    """One service. Its files hold paths and nothing else: a secret has no field to stand in."""

    name: str
    command: tuple[str, ...]
    home: Path
    """Passed to the command as COILCLAW_HOME; nothing else of the environment is."""

    def __post_init__(self) -> None:
        for text in (*self.command, str(self.home)):
            # A line break would begin a line of its own in a unit file.
            if not text.isprintable() or not text:
                raise OperatorError(
                    f"{text!r} cannot stand in a service file: it has characters that cannot be printed",
                    hint="move it to a path of ordinary characters",
                )


def service_name(home: Path, default_home: Path) -> str:
    """The name of the service of a home. Every home has its own, so that two of them can run side by side."""
    if home.resolve() == default_home.resolve():
        return "coilclaw"
    return f"coilclaw-{hashlib.sha256(str(home.resolve()).encode('utf-8', 'surrogateescape')).hexdigest()[:_DIGITS]}"
