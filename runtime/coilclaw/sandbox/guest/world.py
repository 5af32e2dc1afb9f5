"""The component's entry point."""

from __future__ import annotations

import gc
import io
import json
import random
import sys
import time

import wit_world

from coilclaw.sandbox.guest.display import make_display
from coilclaw.sandbox.guest.ending import use_exits
from coilclaw.sandbox.guest.guide import library_help, make_help
from coilclaw.sandbox.guest.inputs import typed_inputs
from coilclaw.sandbox.guest.loop import use_snippet_loops
from coilclaw.sandbox.guest.output import Output
from coilclaw.sandbox.guest.pending_calls import Completions
from coilclaw.sandbox.guest.preload import preload
from coilclaw.sandbox.guest.program import run_program
from coilclaw.sandbox.guest.snapshot import TOUCH, fill_gaps, lasting_objects, located, warm_up
from coilclaw.sandbox.guest.tools import Tools
from coilclaw.sdk.result import Err, Ok, Result, ToolCallError

__all__ = ["WitWorld"]


class _Host:
    """The imports of the world. Output crosses before a call does, so that their order stays visible."""

    @staticmethod
    def call(tool: str, input: str, line: int) -> str:
        if _written:
            _flush()
        return wit_world.call(tool, input, line)

    @staticmethod
    def begin(tool: str, input: str, line: int) -> int:
        _flush()
        return wit_world.begin(tool, input, line)

    @staticmethod
    def wait(nanoseconds: int) -> str:
        _flush()
        return wit_world.wait(nanoseconds)

    @staticmethod
    def withdraw(number: int) -> None:
        wit_world.withdraw(number)

    @staticmethod
    def linger(tasks: str) -> None:
        wit_world.linger(tasks.encode("utf-8", "backslashreplace").decode())

    @staticmethod
    def sleep(nanoseconds: int) -> None:
        _flush()
        wit_world.sleep(nanoseconds)


_written: list[Output] = []


def _flush() -> None:
    while _written:
        _written.pop().flush()


_LONGEST_SLEEP = 2**63
_host = _Host()
_completions = Completions(_host)


def _sleep(seconds: float, /) -> None:
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    _host.sleep(min(int(seconds * 1e9), _LONGEST_SLEEP))


preload()
use_snippet_loops(_completions)
use_exits()
time.sleep = _sleep  # type: ignore[assignment]
sys.stdin = sys.__stdin__ = io.StringIO("")  # type: ignore[assignment,misc]
sys.dont_write_bytecode = True
_seed = random.seed
ToolCallError.__module__ = "__main__"  # A snippet knows it by its plain name, and so do tracebacks.


class WitWorld(wit_world.WitWorld):
    """One instance, one run; the host throws the instance away afterwards."""

    def run(self, request: str) -> str:
        fields = json.loads(request or TOUCH)  # The host's first touch pages in what every run needs.
        random.seed = _seed
        _seed(fields["seed"])
        sys.argv = [fields["name"]]
        sys.stdout = Output(1, wit_world.write, _written)  # type: ignore[assignment]
        sys.stderr = Output(2, wit_world.write, _written)  # type: ignore[assignment]
        sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[assignment,misc]
        names = {
            **typed_inputs(fields["inputs"]),
            "tools": Tools(_completions),
            "Ok": Ok,
            "Err": Err,
            "Result": Result,
            "ToolCallError": ToolCallError,
            "ToolError": ToolCallError,
            "display": make_display(wit_world.write, _flush),
            "help": make_help(library_help),
        }
        try:
            return run_program(fields["source"], fields["name"], names, _completions, wit_world.preflight)
        finally:
            _flush()


warm_up(wit_world.__dict__, WitWorld().run)
# The component seeds it again when it is first called, with thousands of random bytes that no run ever uses.
random.seed = lambda: None  # type: ignore[assignment,misc]
gc.collect()
_filling = fill_gaps()
_lasting = lasting_objects()
_located = located(_lasting)
# What was loaded so far stays for ever; looking through it again would only touch its pages.
gc.freeze()
