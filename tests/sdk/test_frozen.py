"""`Frozen`: as a frozen, keyword-only dataclass of the standard library."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import pytest

from coilclaw.sdk.frozen import Frozen


class Place(Frozen):
    kind: ClassVar[str] = "place"
    file: str
    line: int = 1


class Marked(Place):
    marks: list[str] = field(default_factory=list)
    note: str = field(default="", repr=False, compare=False)

    @cached_property
    def where(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, kw_only=True)
class Standard:
    file: str
    line: int = 1


def test_it_behaves_as_the_decorator_of_the_standard_library() -> None:
    made, same = Place(file="a", line=2), Place(file="a", line=2)
    assert (made, hash(made)) == (same, hash(same))
    assert made != Place(file="a")
    assert made != Standard(file="a", line=2)
    assert repr(made) == repr(Standard(file="a", line=2)).replace("Standard", "Place")
    assert asdict(made) == asdict(Standard(file="a", line=2))
    assert replace(made, line=3) == Place(file="a", line=3)
    assert [each.name for each in fields(Marked)] == ["file", "line", "marks", "note"]
    assert is_dataclass(made)
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made


@pytest.mark.parametrize("given", [{}, {"line": 1}, {"file": "a", "lin": 2}, {"lin": 2}, {"file": "a", "kind": "b"}])
def test_a_missing_or_unknown_field_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="there is no"):
        Place(**given)
    with pytest.raises(TypeError):
        Standard(**given)


def test_it_is_frozen() -> None:
    made = Place(file="a")
    with pytest.raises(FrozenInstanceError):
        made.line = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del made.line
    assert made == Place(file="a")


def test_subclasses_have_factories_and_what_is_not_compared() -> None:
    first, second = Marked(file="a", note="x"), Marked(file="a")
    assert first.marks is not second.marks
    assert first.where == "a:1"
    assert (first, first.marks) == (second, [])
    assert repr(first) == "Marked(file='a', line=1, marks=[])"


def test_a_subclass_checks_its_values_when_it_is_made_or_replaced() -> None:
    class Positive(Frozen):
        number: int

        def __post_init__(self) -> None:
            if self.number < 1:
                raise ValueError("not positive")

    with pytest.raises(ValueError, match="not positive"):
        replace(Positive(number=1), number=0)
