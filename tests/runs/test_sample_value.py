"""Values that are made up from a schema."""

from __future__ import annotations

import json
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter

from coilclaw.runs.sample_value import sample_of


class Made(BaseModel):
    id: int = Field(ge=1)
    name: str


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Node(BaseModel):
    name: Annotated[str, Field(min_length=3, max_length=10)]
    colour: Colour
    kind: Literal["leaf", "branch"]
    size: Annotated[float, Field(gt=2, lt=3)]
    level: Annotated[int, Field(ge=3, multiple_of=5)]
    below: Annotated[int, Field(lt=-4)]
    tags: Annotated[list[str], Field(min_length=2)]
    pair: tuple[int, str]
    parent: Node | None = None
    children: list[Node] = []
    extra: dict[str, int] = {}
    note: str | None
    given: int = Field(examples=[42])
    of: Annotated[int | str, Field(description="either")] = "default"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (int, 0),
        (float, 0),
        (str, "stub"),
        (bool, False),
        (None, None),
        (list[int], []),
        (dict[str, int], {}),
        (Any, None),
        (Literal["a", "b"], "a"),
        (Colour, "red"),
        (str | None, "stub"),
        (int | str, 0),
        (tuple[int, str], [0, "stub"]),
        (Made, {"id": 1, "name": "stub"}),
        (list[Made], []),
        (Annotated[str, Field(max_length=2)], "st"),
        (Annotated[str, Field(min_length=6)], "stubxx"),
        (Annotated[int, Field(gt=0)], 1),
        (Annotated[int, Field(lt=0)], -1),
        (Annotated[int, Field(ge=7, multiple_of=4)], 8),
    ],
    ids=str,
)
def test_a_made_up_value_is_small_and_of_its_type(kind: Any, value: Any) -> None:
    adapter = TypeAdapter(kind)
    made = sample_of(adapter.json_schema(mode="serialization"))
    assert made == value
    adapter.validate_json(json.dumps(made))


def test_a_made_up_model_is_one_its_tool_could_return() -> None:
    made = sample_of(Node.model_json_schema(mode="serialization"))
    node = Node.model_validate(made)
    assert (node.parent, node.children, node.given, node.of) == (None, [], 42, "default")
    assert made == sample_of(Node.model_json_schema(mode="serialization")), "always the same"


@pytest.mark.parametrize("name", ["date-time", "date", "time", "uuid", "email", "uri", "ipv4", "ipv6", "duration"])
def test_a_made_up_text_has_its_format(name: str) -> None:
    import datetime
    import ipaddress
    import uuid

    kinds: dict[str, Any] = {
        "date-time": datetime.datetime,
        "date": datetime.date,
        "time": datetime.time,
        "uuid": uuid.UUID,
        "ipv4": ipaddress.IPv4Address,
        "ipv6": ipaddress.IPv6Address,
        "duration": datetime.timedelta,
    }
    made = sample_of({"type": "string", "format": name})
    if name in kinds:
        TypeAdapter(kinds[name]).validate_json(json.dumps(made))
    assert made != "stub"


HOSTILE: dict[str, Any] = {
    "itself": {"$ref": "#"},
    "a circle": {"$ref": "#/a", "a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}},
    "nothing": {"$ref": "#/nowhere/at/all"},
    "elsewhere": {"$ref": "file:///etc/passwd"},
    "a million": {"type": "array", "minItems": 10**9, "items": {"type": "string", "minLength": 10**9}},
    "a tower": {
        "type": "array",
        "minItems": 50,
        "items": {"$ref": "#/$defs/a"},
        "$defs": {"a": {"type": "array", "minItems": 50, "items": {"type": "array", "minItems": 50}}},
    },
    "many names": {"type": "object", "minProperties": 10**9, "additionalProperties": {"type": "integer"}},
    "a pattern": {"type": "string", "pattern": "(a+)+$"},
    "not a schema": {"type": 5, "properties": 7, "anyOf": "x", "enum": 3, "required": {"a": 1}},
    "not even that": 17,
    "numbers": {"type": "number", "minimum": float("inf"), "multipleOf": -1, "exclusiveMaximum": float("nan")},
    "no number": {"type": "integer", "minimum": 5, "maximum": 1, "multipleOf": 0},
    "not JSON": {"enum": [float("nan")], "default": {1, 2}, "examples": [object()]},
    "long": {"const": "x" * 10**7},
    "only itself": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_a_hostile_schema_costs_little_and_gives_json(name: str) -> None:
    made = json.dumps(sample_of(HOSTILE[name]), allow_nan=False)
    assert len(made) < 600_000
