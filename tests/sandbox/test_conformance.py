"""Python as models write it, and what a snippet's end looks like: the same on every engine.

The cases are in `conformance/*.txt`: `=== name`, the snippet, then what is expected of it under
`--- value` (JSON), `--- stdout`, `--- error` (the exception's type) and given to it under `--- inputs`.
What is different on the restricted engine stands under `--- restricted`, with the reason: the outcome
`rejected`, an exception's type (perhaps ` on` one version of Python only), or the version of Python from
which on there is no difference.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from coilclaw.sandbox import Completed, Engine, Failed, Rejected
from coilclaw.sdk.result import ToolCallError

if TYPE_CHECKING:
    from tests.sandbox.conftest import Execute, Ran

CORPUS = Path(__file__).parent / "conformance"


@dataclass(frozen=True)
class Case:
    name: str
    source: str
    expected: dict[str, str]


@dataclass(frozen=True)
class Difference:
    """What the restricted engine does instead."""

    kind: str
    reason: str

    @staticmethod
    def declared_in(case: Case) -> Difference | None:
        kind, _, reason = case.expected.get("restricted", "").strip().partition(": ")
        if kind.startswith("python ") and sys.version_info >= tuple(map(int, kind.split()[1].split("."))):
            return None
        kind, _, only_on = kind.partition(" on ")
        if only_on and only_on != f"{sys.version_info.major}.{sys.version_info.minor}":
            return None
        return Difference(kind, reason) if kind else None

    def check(self, ran: Ran) -> None:
        assert self.reason
        if self.kind == "rejected":
            assert isinstance(ran.outcome, Rejected), ran.outcome
            assert ran.outcome.error.line
            assert ran.outcome.error.hint or ran.outcome.error.type == "SyntaxError"
        elif self.kind.startswith("python "):
            assert isinstance(ran.outcome, Rejected | Failed | Completed), ran.outcome
        else:
            assert isinstance(ran.outcome, Failed), ran.outcome
            assert ran.outcome.error.type == self.kind


def read_cases(path: Path) -> list[Case]:
    _, *parts = re.split(r"^=== (.+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    cases = []
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        source, *expected = re.split(r"^--- (value|stdout|error|inputs|restricted)\n", body, flags=re.MULTILINE)
        cases.append(Case(name, source, dict(zip(expected[::2], expected[1::2], strict=True))))
    return cases


CASES = [
    pytest.param(case, id=f"{path.stem}: {case.name}")
    for path in sorted(CORPUS.glob("*.txt"))
    for case in read_cases(path)
]


def add(a: int, b: int) -> int:
    return a + b


def fail() -> None:
    raise ToolCallError("no_luck", "it failed", "try again")


def echo(**values: Any) -> dict[str, Any]:
    return values


TOOLS = {"math.add": add, "always.fail": fail, "echo": echo}


@pytest.mark.req("R3", "R19", "R20", "R21")
@pytest.mark.parametrize("case", CASES)
def test_snippet_does_what_python_does(execute: Execute, engine: Engine, case: Case) -> None:
    ran = execute(case.source, tools=TOOLS, inputs=json.loads(case.expected.get("inputs", "{}")))
    if engine.name == "restricted" and (difference := Difference.declared_in(case)):
        difference.check(ran)
        return
    if "error" in case.expected:
        assert isinstance(ran.outcome, Failed), ran.outcome
        assert ran.outcome.error.type == case.expected["error"].strip()
    else:
        assert isinstance(ran.outcome, Completed), ran.outcome
    if "value" in case.expected:
        # Compared as JSON text, where 1, 1.0 and true differ.
        assert json.dumps(ran.value, sort_keys=True) == json.dumps(json.loads(case.expected["value"]), sort_keys=True)
    if "stdout" in case.expected:
        assert ran.stdout.rstrip("\n") == case.expected["stdout"].rstrip("\n")


def test_every_case_expects_something_and_has_its_own_name() -> None:
    cases = [case for path in CORPUS.glob("*.txt") for case in read_cases(path)]
    assert all({"value", "stdout", "error"} & case.expected.keys() for case in cases)
    assert len({case.name for case in cases}) == len(cases) >= 120


def test_traceback_names_the_snippets_lines_only(execute: Execute) -> None:
    source = "import json\n\ndef parse(text):\n    return json.loads(text)\n\nparse('{')\n"
    outcome = execute(source, name="job.py").outcome
    assert isinstance(outcome, Failed)
    assert outcome.error.type == "JSONDecodeError"
    assert outcome.error.line == 4
    assert outcome.error.traceback is not None
    assert re.findall(r'File "([^"]+)", line (\d+)', outcome.error.traceback) == [("job.py", "6"), ("job.py", "4")]
    assert "return json.loads(text)" in outcome.error.traceback


def test_traceback_of_a_chain_and_a_group_names_the_snippets_lines_only(execute: Execute) -> None:
    source = (
        "import json\n"
        "async def bad():\n"
        "    try:\n        json.loads('[')\n"
        "    except ValueError as e:\n        raise KeyError('k') from e\n"
        "import asyncio\n"
        "async with asyncio.TaskGroup() as group:\n    group.create_task(bad())\n"
    )
    outcome = execute(source).outcome
    assert isinstance(outcome, Failed)
    assert outcome.error.traceback is not None
    assert {name for name in re.findall(r'File "([^"]+)"', outcome.error.traceback)} == {"snippet.py"}
    assert "JSONDecodeError" in outcome.error.traceback
    assert "KeyError: 'k'" in outcome.error.traceback


def test_syntax_error_is_rejected_with_its_line_and_nothing_runs(execute: Execute) -> None:
    ran = execute("print('started')\ntools.echo(a=1)\nx = = 3\n", tools=TOOLS)
    assert isinstance(ran.outcome, Rejected)
    assert ran.outcome.error.type == "SyntaxError"
    assert ran.outcome.error.line == 3
    assert (ran.stdout, ran.calls) == ("", [])


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    return 1",
        "def f(:\n  pass",
        "if True:\npass",
        "break",
        "x = 'unclosed",
        "a\n  b",
        "await = 1",
        "f(**a, *b)",
    ],
)
def test_what_is_not_python_is_rejected(execute: Execute, source: str) -> None:
    assert isinstance(execute(source).outcome, Rejected)


def test_visible_calls_are_shown_before_anything_runs(execute: Execute) -> None:
    ran = execute("print(1)\nif False:\n    tools.files.delete(path='x', **more)\n")
    assert [(call["path"], call["line"], call["named"], call["complete"]) for call in ran.host.previewed[0]] == [
        ("files.delete", 3, ["path"], False)
    ]
    assert ran.calls == []


@pytest.mark.req("R20")
def test_a_call_carries_its_arguments_and_line(execute: Execute) -> None:
    ran = execute("x = 1\n\ntools.echo(a=x)\ntools.math.add(1, b=2)\n", tools=TOOLS)
    assert [(call.tool, call.input, call.line) for call in ran.calls] == [
        ("echo", {"a": 1}, 3),
        ("math.add", [[1], {"b": 2}], 4),
    ]


@pytest.mark.parametrize(
    "call", ["tools.look()", "await tools.look.start()", "await asyncio.gather(tools.look.start())"]
)
def test_output_reaches_the_host_before_the_call_that_follows_it(execute: Execute, call: str) -> None:
    source = (
        "import asyncio, sys\nprint('one', end='')\n"
        f"{call}\nprint('two', end='', file=sys.stderr)\n{call}\nprint('three', end='')"
    )
    ran = execute(source, tools={"look": lambda: None})
    assert ran.host.crossed == ["one", "look", "two", "look", "three"]


def test_arguments_without_a_plain_meaning_reach_the_host_as_an_invalid_call(execute: Execute) -> None:
    ran = execute("tools.math.add(a=object(), b=1).ok", tools=TOOLS)
    assert ran.value is False
    assert len(ran.calls) == 1


def test_parallel_calls_run_at_the_same_time(execute: Execute) -> None:
    together = threading.Barrier(5)

    def meet() -> bool:
        together.wait(timeout=60)  # Passes only if all five calls are under way at once.
        return True

    source = "import asyncio\nall(r.unwrap() for r in await asyncio.gather(*(tools.meet.start() for _ in range(5))))"
    assert execute(source, tools={"meet": meet}).value is True


def test_runs_on_several_threads_do_not_mix(engine: Engine, execute: Execute) -> None:
    with ThreadPoolExecutor(4) as pool:
        rans = list(
            pool.map(lambda n: execute(f"print({n})\nx = {n}\ntools.echo(n=x).value['n'] * 2", tools=TOOLS), range(24))
        )
    assert [(ran.value, ran.stdout) for ran in rans] == [(n * 2, f"{n}\n") for n in range(24)]
