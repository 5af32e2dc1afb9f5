"""A plain `python -c` subprocess: no sandbox at all, and nothing it could ask the host."""

from __future__ import annotations

import platform
import subprocess
import sys

from suite.stopwatch import seconds_of

from peers.answering import answer_requests


class PlainPythonSandbox:
    """One interpreter process for each source."""

    version = platform.python_version()
    prelude = ""
    call = None

    def run(self, source: str) -> float:
        return seconds_of(lambda: subprocess.run([sys.executable, "-c", source], check=True, capture_output=True))


if __name__ == "__main__":
    answer_requests(PlainPythonSandbox())
