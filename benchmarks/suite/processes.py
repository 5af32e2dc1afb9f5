"""Whole commands, from the start of the process to its end, in CPU time: what a busy machine adds does not count."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Final

from suite.stopwatch import TRIVIAL

__all__ = ["ProcessProbe"]

_SAMPLES: Final = 3
_COMMANDS: Final = (
    "--version",
    "config show",
    "receipt list",
    "approval list",
    "tool list",
    "run -",
    "agent -m hello",
)


class ProcessProbe:
    """The `coilclaw` command in a home of its own, whose cache of compiled guests is shared with the suite."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self._environment = {
            **os.environ,
            "COILCLAW_HOME": str(folder / "home"),
            "XDG_CACHE_HOME": str(cache.parent),
        }
        self._command = str(Path(sys.executable).parent / "coilclaw")
        self._seconds(self._command, "init", "--workspace", str(folder / "workspace"))
        # The first run makes the database, the key and the index of contracts.
        self._seconds(self._command, "run", "-")
        # The first turn draws what a prompt says about the tools.
        self._seconds(self._command, "agent", "-m", "hello")

    def _seconds(self, *command: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, input=TRIVIAL.encode(), env=self._environment, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    def commands(self) -> dict[str, float]:
        """The least CPU seconds of several tries: of a bare interpreter, and of commands."""
        tried: dict[str, tuple[str, ...]] = {"python -c pass": (sys.executable, "-c", "pass")}
        tried |= {f"coilclaw {each}": (self._command, *each.split()) for each in _COMMANDS}
        least = dict.fromkeys(tried, float("inf"))
        for _ in range(_SAMPLES):
            for name, command in tried.items():
                least[name] = min(least[name], self._seconds(*command))
        return least
