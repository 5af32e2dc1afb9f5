"""Every limit has an outcome of its own, and whatever a snippet does ends that snippet alone."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from tests.sandbox.conftest import MIB, assert_healthy, ends_with

from coilclaw.sandbox import (
    Completed,
    Crashed,
    Deadline,
    Engine,
    Failed,
    Limits,
    Outcome,
    OutOfMemory,
    OutputExceeded,
    Pins,
    Rejected,
    Snippet,
    TimedOut,
)
from coilclaw.sdk import EvidenceUnavailable

if TYPE_CHECKING:
    from tests.sandbox.conftest import Execute

pytestmark = pytest.mark.req("R2", "R19")

SHORT = 0.3

# Memory -----------------------------------------------------------------------------------------------

HUGE = {
    "list growth": "x = []\nwhile True: x.append('a' * 10 ** 6)",
    "one long list": "[0] * 10 ** 8",
    "list of a range": "list(range(10 ** 9))",
    "string": "len('x' * 2 ** 30)",
    "bytearray": "len(bytearray(2 ** 30))",
    "width of an f-string": "len(f'{1:{10 ** 9}}')",
    "doubling string": "s = 'x'\nwhile True: s += s",
    "dictionary": "d = {}\nwhile True: d[len(d)] = bytearray(10 ** 5)",
    "decompression": "import zlib\nzlib.decompress(zlib.compress(bytes(2 * 10 ** 7))) * 100",
}


@pytest.mark.parametrize("source", HUGE.values(), ids=HUGE.keys())
def test_what_needs_too_much_memory_is_out_of_memory(execute: Execute, source: str) -> None:
    ran = ends_with(execute, OutOfMemory, source, memory_bytes=128 * MIB)
    assert ran.outcome == OutOfMemory(memory_bytes=128 * MIB)


@pytest.mark.parametrize("source", ["bytearray(2 ** 31)", "'a' * 10 ** 10", "bytes(10 ** 12)", "[None] * 2 ** 62"])
def test_what_no_memory_could_hold_ends_the_snippet_alone(execute: Execute, source: str) -> None:
    ends_with(execute, (OutOfMemory, Failed), f"len({source})")


def test_a_snippet_may_recover_from_a_memory_error(execute: Execute) -> None:
    source = "x = []\ntry:\n    while True: x.append(bytearray(10 ** 6))\nexcept MemoryError: del x\n'recovered'"
    assert ends_with(execute, Completed, source, memory_bytes=128 * MIB).value == "recovered"


def test_memory_is_limited_per_run(execute: Execute) -> None:
    source = "len(bytearray(100 * 2 ** 20)) >> 20"
    ends_with(execute, OutOfMemory, source, memory_bytes=96 * MIB)
    assert execute(source, memory_bytes=256 * MIB).value == 100


# Output -----------------------------------------------------------------------------------------------

FLOODS = {
    "lines": "while True: print('x' * 1000)",
    "one line": "print('x' * 10 ** 7)",
    "stderr": "import sys\nwhile True: sys.stderr.write('x' * 1000)",
    "a flood that swallows everything": "while True:\n    try: print('x' * 10 ** 5)\n    except BaseException: pass",
    "long last expression": "'x' * (2 * 2 ** 20)",
    "long list as last expression": "['x' * 100] * 20_000",
    "long repr": "class C:\n    def __repr__(self): return 'x' * 10 ** 7\nC()",
    "long message of an exception": "raise ValueError('x' * 10 ** 7)",
    "doubled dictionary": "d = {'a': 1}\nfor _ in range(17): d = {'x': d, 'y': d}\nd",
}


@pytest.mark.parametrize("source", FLOODS.values(), ids=FLOODS.keys())
def test_too_much_output_is_output_exceeded(execute: Execute, source: str) -> None:
    ran = ends_with(execute, OutputExceeded, source)
    assert ran.outcome == OutputExceeded(output_bytes=MIB)
    assert len(ran.stdout) <= MIB


def test_output_is_limited_per_run(execute: Execute) -> None:
    ends_with(execute, OutputExceeded, "print('x' * 200)", output_bytes=100)
    assert execute("print('x' * 50)", output_bytes=100).stdout == "x" * 50 + "\n"


def test_a_dictionary_that_doubles_sixty_times_does_not_hang(execute: Execute) -> None:
    source = "d = {'a': 1}\nfor _ in range(60): d = {'x': d, 'y': d}\nd"
    ends_with(execute, (TimedOut, OutOfMemory, OutputExceeded), source, seconds=SHORT)


# Stack ------------------------------------------------------------------------------------------------


def test_deep_recursion_fails_with_recursion_error(execute: Execute) -> None:
    outcome = ends_with(execute, Failed, "def f(): f()\nf()").outcome
    assert isinstance(outcome, Failed)
    assert outcome.error.type == "RecursionError"


ABUSES = {
    "plain": "def f(n): return f(n + 1) + 1\nf(0)",
    "repr": "class A:\n    def __repr__(self): return repr(self)\nrepr(A())",
    "getattr": "class A:\n    def __getattr__(self, n): return getattr(self, n + 'x')\nA().y",
    "sorted": "def f(n): return sorted([n], key=f)\nf(0)",
    "swallowing": "def f():\n    try: f()\n    finally: f()\nf()",
}


@pytest.mark.parametrize("source", ABUSES.values(), ids=ABUSES.keys())
def test_recursion_without_a_limit_ends_the_snippet_alone(execute: Execute, source: str) -> None:
    kinds = (Failed, Crashed, OutOfMemory, TimedOut)
    ends_with(execute, kinds, f"import sys\nsys.setrecursionlimit(10 ** 9)\n{source}", seconds=SHORT)


DEEP_VALUES = {
    "repr": "repr(x)",
    "value": "x",
    "comparison": "x == [x]",
    "json": "import json\njson.dumps(x)",
    "deepcopy": "import copy\ncopy.deepcopy(x)",
    "pickle": "import pickle\npickle.dumps(x)",
    "argument": "tools.twice(n=x)",
    "parsing": "import json\njson.loads('[' * 100_000)",
}


@pytest.mark.parametrize("use", DEEP_VALUES.values(), ids=DEEP_VALUES.keys())
def test_a_hundred_thousand_nested_lists_end_the_snippet_alone(execute: Execute, use: str) -> None:
    source = f"x = []\nfor _ in range(100_000): x = [x]\n{use}"
    ends_with(execute, (Completed, Failed, Crashed), source, tools={"twice": lambda n: n})


# Source -----------------------------------------------------------------------------------------------

TOO_DEEP = {
    "brackets": "(" * 500 + ")" * 500,
    "lists": "[" * 500 + "]" * 500,
    "brackets of 250 levels": "(" * 250 + "1" + ")" * 250,
    "open brackets": "(" * 10_000,
    "minus signs": "-" * 100_000 + "1",
    "nots": "not " * 100_000 + "1",
    "lambdas": "lambda:" * 5000 + "1",
    "f-strings": 'f"{' * 200,
    "indentation": "".join(" " * n + "if 1:\n" for n in range(120)) + " " * 120 + "pass",
}


@pytest.mark.parametrize("source", TOO_DEEP.values(), ids=TOO_DEEP.keys())
def test_source_that_is_nested_too_deeply_is_rejected(execute: Execute, source: str) -> None:
    ends_with(execute, Rejected, source)


LONG = {
    "sum": "+".join(["1"] * 100_000),
    "attributes": "x" + ".y" * 100_000,
    "calls": "f" + "()" * 100_000,
    "concatenation": "+".join(["'a'"] * 50_000),
    "elifs": "if 0: pass\n" + "elif 0: pass\n" * 10_000,
}


@pytest.mark.parametrize("source", LONG.values(), ids=LONG.keys())
def test_a_long_expression_ends_the_snippet_alone(execute: Execute, source: str) -> None:
    ends_with(execute, (Completed, Failed, Rejected, Crashed), source)


@pytest.mark.parametrize("evaluate", ["eval", "import ast\nast.literal_eval"])
def test_deep_source_in_eval_ends_the_snippet_alone(execute: Execute, evaluate: str) -> None:
    ends_with(execute, (Failed, OutOfMemory, Crashed, Rejected), f"{evaluate}('-' * 100_000 + '1')")
    ends_with(execute, (Failed, OutOfMemory, Crashed, Rejected), f"{evaluate}('(' * 500 + ')' * 500)")


NOT_TEXT = {
    "null byte": "x\x00y",
    "null byte in a string": "'a\x00b'",
    "null byte in a comment": "1  # \x00",
    "lone surrogate": "x = '\ud800'",
    "lone surrogate in a name": "\udfff = 1",
}


@pytest.mark.parametrize("source", NOT_TEXT.values(), ids=NOT_TEXT.keys())
def test_source_that_is_not_text_is_rejected(execute: Execute, source: str) -> None:
    ends_with(execute, Rejected, source)


def test_ten_megabytes_of_source_are_rejected(execute: Execute) -> None:
    ran = ends_with(execute, Rejected, "x = 1\n" * (10 * MIB // 6))
    assert ran.stdout == ""


def test_the_size_of_source_is_counted_in_bytes(execute: Execute) -> None:
    ends_with(execute, Rejected, "'" + "é" * 60 + "'", source_bytes=100)
    assert execute("'" + "e" * 60 + "'", source_bytes=100).value == "e" * 60


@pytest.mark.parametrize("text", ["\\ud800", "\\x00", "\\U0010ffff", "a\\udfffb"])
def test_odd_characters_may_be_printed_and_returned(execute: Execute, text: str) -> None:
    ran = ends_with(execute, Completed, f"print('{text}')\nlen('{text}') > 0")
    assert ran.value is True
    assert ran.stdout.encode()


@pytest.mark.parametrize("text", ["\\ud800", "a\\udfffb"])
def test_lone_surrogates_in_arguments_do_not_break_the_host(execute: Execute, text: str) -> None:
    ends_with(execute, Completed, f"tools.twice(n='{text}')", tools={"twice": lambda n: len(n)})


# Exits ------------------------------------------------------------------------------------------------


@pytest.mark.req("R24")
@pytest.mark.parametrize(
    "source",
    [
        "import os\nos._exit(0)",
        "import os\nos._exit(3)",
        "import os\nos.abort()",
        "import os\ntry:\n    1 / 0\nfinally:\n    os._exit(0)",
        "import signal\nsignal.raise_signal(9)",
        "import faulthandler\nfaulthandler._sigsegv()",
    ],
)
def test_ending_the_interpreter_is_a_crash_of_the_sandbox_alone(execute: Execute, engine: Engine, source: str) -> None:
    # What ends an interpreter is not there on the restricted engine.
    ends_with(execute, Crashed if engine.name == "wasm" else Failed, f"print('before')\n{source}")


EXITS: dict[str, type[Outcome]] = {
    "import sys\nsys.exit()": Completed,
    "raise SystemExit": Completed,
    "exit()": Completed,
    "import sys\ntry:\n    1 / 0\nfinally:\n    sys.exit(0)": Completed,
    "import sys\ntry:\n    1 / 0\nfinally:\n    sys.exit(1)": Failed,
    "raise SystemExit('because')": Failed,
    "raise KeyboardInterrupt": Failed,
    "raise GeneratorExit": Failed,
    "class E(BaseException): pass\nraise E": Failed,
    "import asyncio\nraise asyncio.CancelledError": Failed,
    "import asyncio\nawait asyncio.sleep(0)\nraise SystemExit(2)": Failed,
    "import asyncio\nawait asyncio.sleep(0)\nraise SystemExit(0)": Completed,
    "import asyncio\nasync def f(): raise SystemExit(2)\nasyncio.run(f())": Failed,
}


@pytest.mark.parametrize(("source", "kind"), EXITS.items(), ids=map(repr, EXITS))
def test_exceptions_that_mean_the_end_end_the_snippet(execute: Execute, source: str, kind: type[Outcome]) -> None:
    ends_with(execute, kind, source)


@pytest.mark.parametrize(
    "source",
    [
        "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
        "class E(Exception):\n    def __str__(self): raise SystemExit(0)\nraise E",
        "class E(Exception):\n    __traceback__ = property(lambda self: 1 / 0)\nraise E",
        "e = ValueError()\ne.__cause__ = KeyError()\ne.__cause__.__cause__ = e\nraise e",
        "e = None\nfor n in range(5000):\n    f = ValueError(n)\n    f.__cause__ = e\n    e = f\nraise e",
    ],
    ids=["str raises", "str exits", "traceback raises", "circular causes", "thousands of causes"],
)
def test_hostile_exceptions_still_fail(execute: Execute, source: str) -> None:
    # A class that defines `__traceback__` is refused by the restricted engine.
    ends_with(execute, (Failed, OutputExceeded, Rejected), source)


# The bridge -------------------------------------------------------------------------------------------


def test_pending_calls_that_never_end_do_not_keep_the_run_beyond_its_time(execute: Execute) -> None:
    release = threading.Event()
    try:
        source = "for _ in range(50): tools.stuck.start()\n'left'"
        ends_with(execute, TimedOut, source, tools={"stuck": lambda: release.wait(60)}, seconds=2)
    finally:
        release.set()


def test_a_call_from_a_destructor_reaches_the_host(execute: Execute) -> None:
    source = "class D:\n    def __del__(self): tools.twice(n=1)\nd = D()\ndel d\n1"
    assert len(ends_with(execute, Completed, source, tools={"twice": lambda n: n}).calls) == 1


def test_an_argument_of_tens_of_megabytes_does_not_break_the_host(execute: Execute) -> None:
    source = "tools.size(text='x' * 20_000_000)"
    ends_with(execute, (Completed, OutOfMemory), source, tools={"size": lambda text: len(text)})


def test_an_answer_that_does_not_fit_is_out_of_memory(execute: Execute) -> None:
    source = "kept = []\nfor _ in range(100): kept.append(tools.big().value)"
    tools = {"big": lambda: "x" * 4_000_000}
    ends_with(execute, (OutOfMemory, Crashed), source, memory_bytes=96 * MIB, tools=tools)


class BrokenHost:
    """A bridge none of whose functions works."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def preflight(self, calls: bytes) -> bytes:
        return b"[]"

    def call(self, tool: str, input: bytes, line: int) -> bytes:
        raise self._error

    def begin(self, tool: str, input: bytes, line: int) -> int:
        raise self._error

    def withdraw(self, number: int) -> None:
        raise NotImplementedError

    def linger(self, tasks: str) -> None:
        raise NotImplementedError

    def wait(self, seconds: float | None) -> bytes:
        raise self._error

    def write(self, stream: int, text: str) -> None:
        raise self._error


@pytest.mark.parametrize("call", ["tools.x()", "tools.x.start()", "print(1)"])
def test_a_failure_of_the_host_cannot_be_swallowed_by_the_snippet(engine: Engine, execute: Execute, call: str) -> None:
    snippet = Snippet(source=f"while True:\n    try: {call}\n    except BaseException: pass")
    outcome = engine.execute(snippet, Limits(seconds=20), BrokenHost(KeyError()), Deadline(20), Pins())
    assert isinstance(outcome, Crashed)
    assert_healthy(execute)


def test_a_host_without_receipts_ends_more_than_the_run(engine: Engine, execute: Execute) -> None:
    snippet = Snippet(source="while True:\n    try: tools.x()\n    except BaseException: pass")
    host = BrokenHost(EvidenceUnavailable("no receipts"))
    with pytest.raises(EvidenceUnavailable):
        engine.execute(snippet, Limits(seconds=20), host, Deadline(20), Pins())
    assert_healthy(execute)
