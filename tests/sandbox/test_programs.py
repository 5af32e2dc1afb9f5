"""Whole programs, as a model would hand them in: they check themselves and end in "ok"."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coilclaw.sandbox import Completed, Engine, Failed, Rejected

if TYPE_CHECKING:
    from tests.sandbox.conftest import Execute

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


PROBLEMS = [
    (name, source)
    for name, source in re.findall(
        r"^=== (\w+)\n(.*?)(?=^=== |\Z)",
        (Path(__file__).parent / "problems.txt").read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
]
ALL = [*((path.stem, path.read_text(encoding="utf-8")) for path in PROGRAMS), *PROBLEMS]

NOT_IN_RESTRICTED = {
    "async_taskgroup": "except*",
    "doctest_inline": "doctest",
    "inventory_sql": "sqlite3",
    "linked_list": "type parameters, before Python 3.12",
    "literal_eval_shlex": "argparse",
    "pickle_roundtrip": "pickle",
    "retry_decorator": "type parameters, before Python 3.12",
    "rule_filter": "eval",
    "simple_namespace_types": "inspect.signature",
    "singleton_metaclass": "a metaclass",
    "unittest_inline": "unittest",
}
"""What the restricted engine does not run, and the construct that stands in the way."""


def is_missing(name: str, engine: Engine) -> bool:
    if engine.name != "restricted" or name not in NOT_IN_RESTRICTED:
        return False
    return not (NOT_IN_RESTRICTED[name].endswith("3.12") and sys.version_info >= (3, 12))


@pytest.mark.req("R2", "R10", "R19")
@pytest.mark.parametrize(("name", "source"), ALL, ids=[name for name, _ in ALL])
def test_program_runs_unchanged(execute: Execute, engine: Engine, name: str, source: str) -> None:
    ran = execute(source, name=f"{name}.py")
    assert ran.calls == []
    if is_missing(name, engine):
        # Explained: where it is, and what to do about it or which module is missing.
        assert isinstance(ran.outcome, Failed | Rejected), ran.outcome
        assert ran.outcome.error.line
        assert ran.outcome.error.hint or "sandbox" in ran.outcome.error.message or "Syntax" in ran.outcome.error.type
    else:
        assert ran.outcome == Completed(value="ok")


def test_at_least_95_of_100_programs_run_on_both_engines() -> None:
    assert len(ALL) >= 250
    assert len(NOT_IN_RESTRICTED) <= 0.05 * len(ALL)
    assert set(NOT_IN_RESTRICTED) <= {name for name, _ in ALL}
