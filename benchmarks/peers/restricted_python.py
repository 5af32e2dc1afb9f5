"""Bare RestrictedPython: a compiler that refuses unsafe source; what it lets through runs in the host's interpreter."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from RestrictedPython import compile_restricted, safe_builtins  # type: ignore[import-not-found]
from RestrictedPython.Eval import default_guarded_getitem, default_guarded_getiter  # type: ignore[import-not-found]
from RestrictedPython.Guards import (  # type: ignore[import-not-found]
    full_write_guard,
    guarded_iter_unpack_sequence,
    guarded_unpack_sequence,
    safer_getattr,
)
from suite.stopwatch import seconds_of

from peers.answering import answer_requests


def _add(a: int, b: int) -> int:
    return a + b


class RestrictedPythonSandbox:
    """Compiles and runs each source with globals of its own and the guards the package comes with."""

    version = version("RestrictedPython")
    prelude = ""
    call = "add(i, 1)"

    def run(self, source: str) -> float:
        return seconds_of(lambda: self._run(source))

    def _run(self, source: str) -> None:
        names: dict[str, Any] = {
            "__builtins__": {**safe_builtins, "sum": sum},
            "_getattr_": safer_getattr,
            "_getitem_": default_guarded_getitem,
            "_getiter_": default_guarded_getiter,
            "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
            "_unpack_sequence_": guarded_unpack_sequence,
            "_write_": full_write_guard,
            "add": _add,
        }
        exec(compile_restricted(source, "snippet.py", "exec"), names)


if __name__ == "__main__":
    answer_requests(RestrictedPythonSandbox())
