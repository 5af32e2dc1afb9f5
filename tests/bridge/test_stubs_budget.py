"""Stubs of many tools stay within a budget, and say how to learn what they leave out."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from tests.sampling import whole_only

from coilclaw.bridge import Registry, build_registry, registry_stubs, registry_tools
from coilclaw.policy import Autonomy, Policy
from coilclaw.sdk import Tool, ToolContext, define_tool
from coilclaw.sdk.tokens import estimated_tokens

BUDGETS = [0, 1, 5, 12, 25, 40, 80, 150, 400, 1000, 3000, 6000, 20_000, 100_000]
LEVELS = ["none", "summary", "names", "short", "full"]


class Row(BaseModel):
    id: str
    created: str
    total: float


class Page(BaseModel):
    rows: list[Row]
    next: str | None


def handler(
    ctx: ToolContext, customer: str, limit: Annotated[int, Field(ge=1, le=100)] = 20, after: str | None = None
) -> Page:
    """The rows of a customer, newest first. There may be more: pass `next` as `after`.

    Rows that were deleted are not among them.
    """
    return Page(rows=[], next=None)


@cache
def tools_of(count: int) -> list[Tool]:
    return [
        define_tool(id=f"service{number % (count // 10 or 1)}.table{number}.fetch", risk="write", handler=handler)
        for number in range(count)
    ]


def registry_of(count: int, *, own: bool = True) -> Registry:
    return build_registry([(tools_of(count), ())], own=registry_tools if own else None)


@pytest.mark.parametrize("count", [3, 300, pytest.param(2000, marks=whole_only)])
@pytest.mark.parametrize("own", [True, False], ids=["searchable", "plain"])
def test_no_budget_is_exceeded_and_more_budget_never_tells_less(count: int, own: bool) -> None:
    registry = registry_of(count, own=own)
    policy = Policy(Autonomy.SUPERVISED)
    before = 0
    for budget in BUDGETS[: -2 if count > 1000 else None]:
        made = registry_stubs(registry, budget_tokens=budget, policy=policy)
        assert made.tokens <= budget
        assert made.tokens == estimated_tokens(made.text)
        ast.parse(made.text)
        assert LEVELS.index(made.level) >= before
        before = LEVELS.index(made.level)
        if made.level not in ("full", "none"):
            assert "tools.registry.search(" in made.text or not own
            assert "coilclaw tool list" in made.text or own
        if budget >= 40:
            assert made.level != "none"


def test_hundreds_of_tools_are_told_by_name_and_thousands_by_integration() -> None:
    named = registry_stubs(registry_of(300), budget_tokens=8000)
    assert named.level == "names"
    assert "# tools.service7.table7.fetch(customer, limit?, after?): The rows of a customer" in named.text
    assert named.text.count("fetch(") == 300
    fewer = registry_stubs(registry_of(300), budget_tokens=5000)
    assert fewer.level == "names"
    assert fewer.text.count("fetch(customer, limit?, after?)\n") == 300
    small = registry_stubs(registry_of(300), budget_tokens=3000)
    assert small.level == "summary"
    assert "# tools.service7: 10 tools: table127.fetch, " in small.text
    many = registry_stubs(registry_of(2000), budget_tokens=6000)
    assert many.level == "summary"
    assert many.text.count(": 10 tools") == 200


def test_the_short_form_has_signatures_with_results_in_place() -> None:
    registry = registry_of(20)
    whole = registry_stubs(registry)
    assert whole.level == "full"
    made = registry_stubs(registry, budget_tokens=int(whole.tokens * 0.95), policy=Policy(Autonomy.SUPERVISED))
    assert made.level == "short"
    assert (
        "def fetch(customer: str, limit: int = 20, after: str | None = None) -> "
        'Result[{"rows": list[{"id": str, "created": str, "total": float}], "next": str | None}]: ...'
        "  # write, asks for approval. The rows of a customer, newest first."
    ) in made.text
    assert 'tools.registry.describe(id="x.y")' in made.text


def test_tools_are_shortened_one_by_one_and_those_of_large_integrations_first() -> None:
    own = define_tool(id="shop.fetch", risk="read", handler=handler)
    registry = build_registry([([*tools_of(20), own], ())], own=registry_tools)
    levels, in_full = [], []
    for budget in (2000, 1900, 1500, 1000):
        made = registry_stubs(registry, budget_tokens=budget)
        levels.append(made.level)
        assert budget - 100 < made.tokens <= budget, "no more is left out than has to be"
        in_full.append(made.text.count("Rows that were deleted are not among them."))
        assert "-> Result[Page]:" in made.text.split("class shop:")[1], "it is the only tool of its integration"
    assert levels == ["short", "short", "names", "names"]
    assert in_full[0] > in_full[1] >= 1
    assert in_full[2] > in_full[3] >= 1


def test_an_empty_registry_has_stubs_too() -> None:
    made = registry_stubs(build_registry([]))
    ast.parse(made.text)
    assert "no tools" in made.text


COUNTED = json.loads(Path(__file__).with_name("counted_texts.json").read_text())
"""Texts with the numbers of their tokens in two public vocabularies, from `benchmarks/token_counts.py`."""


@pytest.mark.parametrize("counted", COUNTED, ids=lambda each: str(each["name"]))
@pytest.mark.parametrize("vocabulary", ["o200k", "cl100k"])
def test_the_estimate_is_within_a_tenth_of_a_real_count(counted: dict[str, Any], vocabulary: str) -> None:
    assert abs(estimated_tokens(counted["text"]) - counted[vocabulary]) <= counted[vocabulary] / 10


@given(st.text(max_size=60), st.text(max_size=60))
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert estimated_tokens(text) <= estimated_tokens(text + more)
    assert estimated_tokens(f"{text}\n{more}") == estimated_tokens(text) + 1 + estimated_tokens(more)
    assert estimated_tokens(text) > 0 or not text.strip(" ")
