"""What a model is shown of the tools."""

from __future__ import annotations

import ast
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from coilclaw.bridge import build_registry, registry_stubs
from coilclaw.sdk import ToolContext, define_tool


class Order(BaseModel):
    id: str
    total: float
    tags: list[str] = []
    parent: Order | None = None


@define_tool(id="shop.orders.find", risk="read")
def find(
    ctx: ToolContext,
    customer: str,
    state: Literal["open", "closed"] = "open",
    limit: Annotated[int, Field(ge=1)] = 10,
    near: tuple[float, float] | None = None,
) -> list[Order]:
    """Orders of a customer.

    Newest first; a \\ and \"\"\"quotes\"\"\" do no harm.
    """
    return []


@define_tool(id="shop.reset", risk="destructive")
def reset(ctx: ToolContext) -> dict[str, Any]:
    return {}


STUBS = registry_stubs(build_registry([([find, reset], ())]))


def test_stubs_are_valid_python() -> None:
    tree = ast.parse(STUBS)
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    assert set(names) == {"Order", "tools", "shop", "orders", "reset", "find"}
    assert len(names) == 6


def test_arguments_and_results_are_typed() -> None:
    assert "customer: str, state: Literal['open', 'closed'] = 'open', limit: int = 10" in STUBS
    assert "near: tuple[float, float] | None = None" in STUBS
    assert "-> Result[list[Order]]" in STUBS
    assert "parent: Order | None" in STUBS
    assert "total: float" in STUBS
    assert "-> Result[dict[str, Any]]:  # destructive" in STUBS


def test_docstrings_are_there() -> None:
    assert "Orders of a customer." in STUBS
    assert "Newest first" in STUBS
