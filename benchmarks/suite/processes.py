"""Whole commands, from the start of the process to its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from suite.stopwatch import TRIVIAL, seconds_of, typical

__all__ = ["ProcessProbe"]

_DEPENDENCIES = """
import os, apsw, click, wasmtime.component
from pydantic import BaseModel, Field, TypeAdapter, create_model
class One(BaseModel):
    field: int
os._exit(0)
"""


class ProcessProbe:
    """The `coilclaw` command in a home of its own, whose cache of compiled guests is shared with the suite."""

    def __init__(self, folder: Path, cache: Path) -> None:
        home, workspace = folder / "home", folder / "workspace"
        home.mkdir()
        workspace.mkdir()
        self._script = folder / "trivial.py"
        self._script.write_text(f"{TRIVIAL}\n")
        self._environment = {
            **os.environ,
            "COILCLAW_HOME": str(home),
            "COILCLAW_WORKSPACE": str(workspace),
            "XDG_CACHE_HOME": str(cache.parent),
            "PYDANTIC_DISABLE_PLUGINS": "1",  # As the command sets it for itself.
        }
        self._command = str(Path(sys.executable).parent / "coilclaw")
        self._run(self._command, "run", str(self._script))  # The first run makes the database and the key.

    def _run(self, *command: str) -> float:
        return seconds_of(lambda: subprocess.run(command, env=self._environment, check=True, capture_output=True))

    def commands(self, budget: float) -> dict[str, float]:
        """Seconds of a bare interpreter, of what it takes to load our dependencies, and of two commands."""
        return {
            "python -c pass": typical(lambda: self._run(sys.executable, "-c", "pass"), budget),
            "loading the dependencies": typical(lambda: self._run(sys.executable, "-c", _DEPENDENCIES), budget),
            "coilclaw --help": typical(lambda: self._run(self._command, "--help"), budget),
            "coilclaw run": typical(lambda: self._run(self._command, "run", str(self._script)), budget),
        }
