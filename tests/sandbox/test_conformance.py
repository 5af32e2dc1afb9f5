"""Python as models write it, and what a snippet's end looks like: the same on every engine.

The cases are in `conformance/*.txt`: `=== name`, the snippet, then what is expected of it under
`--- value` (JSON), `--- stdout`, `--- error` (the exception's type) and given to it under `--- inputs`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from coilclaw.sandbox import Completed, Failed
from coilclaw.sdk.result import ToolCallError

if TYPE_CHECKING:
    from tests.sandbox.conftest import Execute

CORPUS = Path(__file__).parent / "conformance"


@dataclass(frozen=True)
class Case:
    name: str
    source: str
    expected: dict[str, str]


def read_cases(path: Path) -> list[Case]:
    _, *parts = re.split(r"^=== (.+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    cases = []
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        source, *expected = re.split(r"^--- (value|stdout|error|inputs)\n", body, flags=re.MULTILINE)
        cases.append(Case(name, source, dict(zip(expected[::2], expected[1::2], strict=True))))
    return cases


CASES = [pytest.param(case, id=f"{path.stem}: {case.name}") for path in sorted(CORPUS.glob("*.txt")) for case in read_cases(path)]


def add(a: int, b: int) -> int:
    return a + b


def fail() -> None:
    raise ToolCallError("no_luck", "it failed", "try again")


def echo(**values: Any) -> dict[str, Any]:
    return values


TOOLS = {"math.add": add, "always.fail": fail, "echo": echo}


@pytest.mark.req("R3", "R19", "R20", "R21")
@pytest.mark.parametrize("case", CASES)
def test_snippet_does_what_python_does(execute: Execute, case: Case) -> None:
    ran = execute(case.source, tools=TOOLS, inputs=json.loads(case.expected.get("inputs", "{}")))
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
    cases = [param.values[0] for param in CASES]
    assert all({"value", "stdout", "error"} & case.expected.keys() for case in cases)
    assert len({case.name for case in cases}) == len(cases) >= 120
