"""What a model is told about arguments that do not fit."""

from __future__ import annotations

from typing import Any

import pytest

from coilclaw.bridge.answers import Refusal
from coilclaw.bridge.arguments import signature, type_words, validate
from coilclaw.sdk import ToolContext, define_tool


@define_tool(id="shelf.take", risk="read")
def take(
    ctx: ToolContext, command: str | None = None, names: list[str] | None = None, seconds: float | int | None = None
) -> str:
    """Take things from the shelf."""
    return "taken"


def test_optional_arguments_are_told_with_their_types() -> None:
    assert signature(take) == "command?: string, names?: list of strings, seconds?: number or integer"


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": ["string", "null"]}, "string"),
        ({"$ref": "#/$defs/Thing"}, "object"),
        ({"anyOf": "nonsense"}, "any"),
        ({"anyOf": [7, None]}, "any"),
        ("nonsense", "any"),
        ({"type": "array"}, "list"),
        ({"anyOf": [{"anyOf": [{"anyOf": [{"anyOf": [{"anyOf": []}]}]}]}]}, "any"),
    ],
)
def test_a_schema_may_have_anything_in_it(schema: Any, told: str) -> None:
    assert type_words(schema) == told


@pytest.mark.parametrize(
    ("sent", "told"), [(b'{"comand": "ls"}', "; did you mean 'command'?"), (b'{"cmd": "ls"}', "; did you mean 'command'?"),
                       (b'{"zzz": 1}', "it has no argument 'zzz'")],
)  # fmt: skip
def test_an_unknown_argument_is_told_with_the_nearest_one(sent: bytes, told: str) -> None:
    refused = validate(take, sent)
    assert isinstance(refused, Refusal)
    assert refused.message.endswith(told)
