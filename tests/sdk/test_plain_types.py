"""Types whose models can be made later: whatever counts as plain is certain to be possible."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime
from types import GenericAlias
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, create_model

from coilclaw.sdk import ToolContext, define_tool
from coilclaw.sdk.plain_types import fits, is_plain, is_plain_field

SCALARS: list[Any] = [str, int, float, bool, None, Any, list, dict]
KINDS = st.recursive(
    st.sampled_from([*SCALARS, Literal["a", 1, True]]),
    lambda inner: st.one_of(
        inner.map(lambda kind: GenericAlias(list, kind)),
        inner.map(lambda kind: GenericAlias(dict, (str, kind))),
        inner.map(lambda kind: kind | None if kind not in (None, Any) else kind),
    ),
    max_leaves=4,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.sampled_from(["", "a", "1"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)


@given(KINDS)
def test_a_plain_type_has_a_model(kind: Any) -> None:
    assert is_plain(kind)
    TypeAdapter(kind).json_schema(mode="serialization")
    create_model("Input", value=(kind, ...)).model_json_schema()


@given(KINDS, VALUES)
def test_an_example_that_fits_is_valid(kind: Any, value: Any) -> None:
    if fits({"value": value}, {"value": (kind, ...)}):
        create_model("Input", value=(kind, ...)).model_validate({"value": value})


def test_an_example_lacks_nothing_and_has_nothing_more() -> None:
    fields = {"a": (int, ...), "b": (str, "x")}
    assert fits({"a": 1}, fields)
    assert not any(
        fits(each, fields) for each in ({}, {"b": "y"}, {"a": 1, "c": 2}, {"a": True}, {"a": 1.0}, [1], None)
    )


@pytest.mark.parametrize("kind", [datetime, object, bytes, set[int], dict[int, str], tuple[int, ...], list[object], 5])
def test_another_type_is_left_to_pydantic(kind: Any) -> None:
    assert not is_plain(kind)


def test_a_name_that_a_model_has_already_is_left_to_pydantic() -> None:
    for name in dir(BaseModel):
        assert not is_plain_field(name, str, ...), name
    assert is_plain_field("path", str, ...)
    assert not is_plain_field("path", str, object())


def test_a_tool_with_plain_types_is_defined_without_pydantic_and_validates_with_it() -> None:
    code = (
        "import sys\n"
        "from coilclaw.sdk import ToolContext, define_tool\n"
        "@define_tool(id='a.b', risk='read', examples=[{'n': 1}], summary='Took {n}')\n"
        "def take(ctx: ToolContext, n: int, names: list[str] | None = None) -> dict[str, int]:\n"
        "    return {}\n"
        "early = 'pydantic' in sys.modules or 'pydantic_core' in sys.modules\n"
        "take.input(n=1)\n"
        "sys.exit(int(early))\n"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_models_are_made_once() -> None:
    @define_tool(id="a.b", risk="read")
    def take(ctx: ToolContext, n: int) -> int:
        return n

    assert take.input is take.models().input
    assert take.with_source().input is take.input
