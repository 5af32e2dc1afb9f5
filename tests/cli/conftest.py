"""The real command in a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cli.forked import forks, mutation_environment
from tests.conftest import cache_folder


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Command:
    """Runs `coilclaw` as a person would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home/.coilclaw"
        self.workspace = folder / "home/coilclaw-workspace"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            # The compiled sandbox is shared by all tests; compiling it takes seconds.
            "XDG_CACHE_HOME": str(cache_folder().parent),
            **({"COVERAGE_PROCESS_START": start} if (start := os.environ.get("COVERAGE_PROCESS_START")) else {}),
            **mutation_environment(),
        }
        self.home.mkdir(parents=True, mode=0o700)

    @property
    def line(self) -> list[str]:
        return [str(Path(sys.executable).with_name("coilclaw"))]

    def __call__(self, *args: object, stdin: str | bytes = b"", **environment: str) -> Done:
        line = [*self.line, *map(str, args)]
        told = stdin.encode() if isinstance(stdin, str) else stdin
        surrounding = {**self.environment, **environment}
        # What Python reads before it runs anything needs a Python that starts.
        early = any(
            name.startswith(("PYTHON", "LC_", "LANG", "LD_")) for name in surrounding.keys() - mutation_environment()
        )
        if (parent := forks()) is not None and not early:
            code, out, err = parent.run(line[1:], told, surrounding, self.folder)
        else:
            done = subprocess.run(line, input=told, env=surrounding, cwd=self.folder, capture_output=True)
            code, out, err = done.returncode, done.stdout, done.stderr
        result = Done(code, out.decode(), err.decode())
        assert "Traceback (most recent call last)" not in result.err or "snippet" in result.err or ".py" in result.err
        return result

    def tool(self, path: str, text: str) -> Path:
        file = self.workspace / "tools" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


@pytest.fixture
def coilclaw(tmp_path: Path, engine: object) -> Command:
    """`engine` is asked for so that the sandbox is compiled before the first command runs."""
    return Command(tmp_path)
