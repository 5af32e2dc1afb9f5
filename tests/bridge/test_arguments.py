"""What a model is told about arguments that do not fit."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.arguments import signature, validate
from coilclaw.sdk import ToolContext, define_tool
from coilclaw.sdk.contract import Interface


@define_tool(id="shelf.take", risk="read")
def take(
    ctx: ToolContext, command: str | None = None, names: list[str] | None = None, seconds: float | int | None = None
) -> str:
    """Take things from the shelf."""
    return "taken"


def test_optional_arguments_are_told_with_their_types() -> None:
    assert signature(take) == "command?: str, names?: list[str], seconds?: float | int"


class Change(BaseModel):
    email: str | None = None
    until: datetime | None = None


class Long(BaseModel):
    first_of_many_names: str
    second_of_many_names: dict[str, list[int]]
    third_of_many_names: Literal["one", "two", "three"]


def test_types_are_spelled_as_in_the_stub() -> None:
    @define_tool(id="crm.update", risk="write")
    def update(
        ctx: ToolContext, changes: Change, more: list[Long], amount: Decimal, data: bytes, limit: int = 3
    ) -> None:
        """Update a contact."""

    assert signature(update) == (
        'changes: {"email": str | None, "until": datetime | None}, more: list, amount: Decimal, data: bytes, limit?: int'
    )


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": ["string", "null"]}, "str"),
        ({"$ref": "#/$defs/Thing"}, "Any"),
        ({"anyOf": "nonsense"}, "Any"),
        ({"anyOf": [7, None]}, "Any"),
        ("nonsense", "Any"),
        ({"type": "array"}, "list[Any]"),
        ({"anyOf": [{"anyOf": [{"anyOf": [{"anyOf": [{"anyOf": []}]}]}]}]}, "Any"),
    ],
)
def test_a_schema_may_have_anything_in_it(schema: Any, told: str) -> None:
    known = Interface(("given",), frozenset(), False, {"properties": {"given": schema}}, {})
    assert signature(replace(take, known=known)) == f"given?: {told}"


@pytest.mark.parametrize(
    ("sent", "told"), [(b'{"comand": "ls"}', "; did you mean 'command'?"), (b'{"cmd": "ls"}', "; did you mean 'command'?"),
                       (b'{"zzz": 1}', "it has no argument 'zzz'")],
)  # fmt: skip
def test_an_unknown_argument_is_told_with_the_nearest_one(sent: bytes, told: str) -> None:
    refused = validate(take, sent)
    assert isinstance(refused, Refusal)
    assert refused.message.endswith(told)
