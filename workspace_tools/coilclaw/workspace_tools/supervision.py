"""How a program of a plugin or an MCP server is started, so that nothing it starts outlives it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from coilclaw.confinement import supervision

__all__ = ["supervised_command"]

_SUPERVISOR: Final = str(Path(__file__).with_name("supervisor.py"))
_SOURCE: Final = str(Path(supervision.__file__).parents[2])


def supervised_command(control: int, status: int, command: list[str]) -> list[str]:
    """The command line that starts the supervisor of a command. Elsewhere than on Linux there is none."""
    if sys.platform != "linux":
        return command
    return [sys.executable, "-I", "-S", _SUPERVISOR, _SOURCE, str(control), str(status), *command]
