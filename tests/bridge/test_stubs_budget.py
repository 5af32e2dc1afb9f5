"""Stubs of many tools stay within a budget, and say how to learn what they leave out."""

from __future__ import annotations

import ast
from functools import cache
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from tests.sampling import whole_only

from coilclaw.bridge import Registry, build_registry, estimated_tokens, registry_stubs, registry_tools
from coilclaw.policy import Autonomy, Policy
from coilclaw.sdk import Tool, ToolContext, define_tool

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
    some = registry_stubs(registry_of(300), budget_tokens=16_000)
    assert some.level == "names"
    assert "# tools.service7.table7.fetch(customer, limit?, after?): The rows of a customer, newest first." in some.text
    assert some.text.count("fetch(") == 300
    fewer = registry_stubs(registry_of(300), budget_tokens=9000)
    assert fewer.level == "names"
    assert fewer.text.count("fetch(customer, limit?, after?)\n") == 300
    default = registry_stubs(registry_of(300), budget_tokens=6000)
    assert default.level == "summary"
    assert "# tools.service7: 10 tools: table127.fetch, " in default.text
    many = registry_stubs(registry_of(2000), budget_tokens=6000)
    assert many.level == "summary"
    assert many.text.count(": 10 tools") == 200


def test_the_short_form_has_signatures_with_results_in_place() -> None:
    registry = registry_of(20)
    whole = registry_stubs(registry)
    assert whole.level == "full"
    made = registry_stubs(registry, budget_tokens=whole.tokens - 1, policy=Policy(Autonomy.SUPERVISED))
    assert made.level == "short"
    assert (
        "def fetch(*, customer: str, limit: int = 20, after: str | None = None) -> "
        'Result[{"rows": list[{"id": str, "created": str, "total": float}], "next": str | None}]: ...'
        "  # write, asks for approval. The rows of a customer, newest first."
    ) in made.text
    assert 'tools.registry.describe(id="x.y")' in made.text
    assert "TypedDict" not in made.text


def test_an_empty_registry_has_stubs_too() -> None:
    made = registry_stubs(build_registry([]))
    ast.parse(made.text)
    assert "no tools" in made.text


# Counted with three public vocabularies: o200k, cl100k and Claude 2. The largest of the three stands here.
COUNTED = [
    ("def read(*, path: str, max_bytes: int = 262144) -> Result[Text]:", 22),
    ("# tools.shop.orders.list(customer, limit?) — Orders of a customer, newest first.", 22),
    ("The text of a UTF-8 file in the workspace; longer files are refused unless max_bytes is raised.", 23),
    ("sha256:5bc04577432836afae96ea0d2bc538ac", 20),
    ("class Entry(TypedDict):\n    path: str\n    kind: Literal[\"file\", \"folder\"]\n    size: int\n", 26),
    ("这是一个用于搜索文件的工具", 10),
]  # fmt: skip


@pytest.mark.parametrize(("text", "counted"), COUNTED, ids=range(len(COUNTED)))
def test_the_estimate_is_rather_too_high_than_too_low(text: str, counted: int) -> None:
    assert counted <= estimated_tokens(text) <= 4 * counted


@given(st.text(max_size=60), st.text(max_size=60))
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert estimated_tokens(text) <= estimated_tokens(text + more)
    assert estimated_tokens(f"{text}\n{more}") == estimated_tokens(text) + 1 + estimated_tokens(more)
    assert estimated_tokens(text) > 0 or not text.strip(" ")
