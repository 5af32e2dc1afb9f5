"""The list of `make mutants` fits the source, and whoever runs it is told of survivors."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from tests.mutants.mutation import DoesNotApply, Mutation, mutated_source
from tests.mutants.mutations import MUTATIONS
from tests.mutants.run import Result, main, places, report, try_mutation, unusable

ROOT = Path(__file__).parents[2]

SOURCE = """
LIMIT: int = 3

class A:
    @property
    def size(self):
        return LIMIT + 1

def size():
    return LIMIT + 1
"""


def test_the_list_is_long_and_fits_the_source() -> None:
    assert len(MUTATIONS) >= 300
    assert unusable(MUTATIONS) == []


def test_every_selection_names_tests_that_are_there() -> None:
    assert {each.tests for each in MUTATIONS if not all(is_named(word, each) for word in words_of(each))} == set()


def words_of(mutation: Mutation) -> list[str]:
    """The files, the tests and the words of `-k` that a mutation selects its tests by."""
    return [word for word in re.findall(r"[\w/.]+", mutation.tests) if word not in ("k", "not", "and", "or")]


def is_named(word: str, mutation: Mutation) -> bool:
    files = [ROOT / place.partition("::")[0] for place in places([mutation])]
    sources = [each for file in files for each in (file.rglob("test_*.py") if file.is_dir() else [file])]
    return (ROOT / word).exists() or any(word in source.read_text() for source in sources)


def test_every_mutation_stands_once() -> None:
    count = Counter((each.where, each.old, each.new) for each in MUTATIONS)
    assert [place for place, times in count.items() if times > 1] == []


def test_every_mutation_is_in_the_list_and_beside_those_of_its_package() -> None:
    folder = Path(__file__).parent / "mutations"
    found: list[Mutation] = []
    for name in sorted({path.stem for path in folder.glob("*.py")} - {"__init__", "selections"}):
        part: tuple[Mutation, ...] = import_module(f"tests.mutants.mutations.{name}").MUTATIONS
        assert {each.module.split(".")[1] for each in part} == {
            name.removesuffix("_admission").removesuffix("_auth").removesuffix("_guest").removesuffix("_sop")
        }
        found += part
    assert found == list(MUTATIONS)


@pytest.mark.parametrize(
    ("symbol", "old", "new", "changed"),
    [
        ("A.size", "+ 1", "- 1", "    def size(self):\n        return LIMIT - 1"),
        ("size", "+ 1", "- 1", "def size():\n    return LIMIT - 1"),
        ("LIMIT", "3", "4", "LIMIT: int = 4"),
        ("A.size", "@property", "@staticmethod", "    @staticmethod\n    def size(self):"),
    ],
)
def test_only_the_symbol_is_changed(symbol: str, old: str, new: str, changed: str) -> None:
    result = mutated_source(SOURCE, f"m:{symbol}", old, new)
    assert changed in result
    assert sum(a != b for a, b in zip(SOURCE.splitlines(), result.splitlines(), strict=True)) == 1


@pytest.mark.parametrize(
    ("symbol", "old", "new", "reason"),
    [
        ("A.length", "+ 1", "- 1", "no such symbol"),
        ("A.size", "+ 2", "- 1", "occurs 0 times"),
        ("A.size", "I", "J", "occurs 2 times"),
        ("A.size", "+ 1", "+", "not Python"),
        ("A.size", "+ 1", "+  1", "changes nothing"),
    ],
)
def test_a_mutation_that_does_not_fit_is_an_error_that_says_so(symbol: str, old: str, new: str, reason: str) -> None:
    with pytest.raises(DoesNotApply, match=reason):
        mutated_source(SOURCE, f"m:{symbol}", old, new)


def mutation(old: str, new: str, tests: str, where: str = "coilclaw.sdk.result:Err.unwrap") -> Mutation:
    return Mutation(where, old, new, f"--noconftest tests/sdk/test_result.py -k {tests}", "something")


def test_a_mutation_is_noticed_missed_or_never_in_use() -> None:
    noticed = try_mutation(mutation("raise", "return", "value_until_it_is_unwrapped"))
    assert (noticed.noticed, noticed.how) == (
        True,
        "tests/sdk/test_result.py::test_err_is_a_value_until_it_is_unwrapped",
    )
    missed = try_mutation(mutation("raise", "return", "ok_carries_its_value"))
    assert (missed.noticed, missed.how) == (False, "SURVIVED")
    unused = try_mutation(mutation("[", "[*", "ok_carries_its_value", "coilclaw.integrations.posthog.client:__all__"))
    assert (unused.noticed, unused.how) == (False, "the tests never loaded the module")


def test_survivors_are_named_and_end_the_run_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    noticed, missed = (Result(each, each is MUTATIONS[0], "how", 1.0) for each in MUTATIONS[:2])
    assert report([noticed], 10) == 0
    assert report([noticed, missed], 10) == 1
    told = capsys.readouterr().out
    assert "1 of 1 noticed" in told
    assert "1 of 2 noticed" in told
    assert f"not noticed: {MUTATIONS[1].where}: {MUTATIONS[1].breaks}" in told


def test_a_list_that_does_not_fit_is_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    stale = Mutation("coilclaw.sdk.risk:Risk.raised_to", "no such text", "x", "tests/policy/test_policy.py", "nothing")
    assert main([], [stale]) == 1
    assert "edit tests/mutants/mutations" in capsys.readouterr().out
