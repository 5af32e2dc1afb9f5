"""smolagents' local executor: walks the syntax tree in the host's interpreter."""

from __future__ import annotations

from importlib.metadata import version

from smolagents import LocalPythonExecutor  # type: ignore[import-not-found]
from suite.stopwatch import seconds_of

from peers.answering import answer_requests


def _add(a: int, b: int) -> int:
    return a + b


class SmolagentsSandbox:
    """One executor for each source, with its state empty."""

    version = version("smolagents")
    prelude = ""
    call = "add(i, 1)"

    def run(self, source: str) -> float:
        return seconds_of(lambda: self._run(source))

    def _run(self, source: str) -> None:
        executor = LocalPythonExecutor([], additional_functions={"add": _add})
        executor.send_tools({})
        executor(source)


if __name__ == "__main__":
    answer_requests(SmolagentsSandbox())
