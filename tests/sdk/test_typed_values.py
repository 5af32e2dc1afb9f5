"""Plans of values, and the reading of answers by them."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from coilclaw.sdk.typed_values import Record, duration_text, plan_reader
from coilclaw.sdk.value_plan import value_plan

FORMATS = ("date-time", "date", "time", "duration", "decimal", "uuid", "binary", "base64", "base64url", "hex")
TREE: dict[str, Any] = {
    "type": "object",
    "properties": {
        **{name: {"type": "string", "format": name} for name in FORMATS},
        "kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string", "format": "date"}]},
        "either": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "string", "format": "date"}, {"type": "null"}]},
    },
    "additionalProperties": {"type": "string", "format": "date"},
}
SCHEMA = {"$ref": "#/$defs/Tree", "$defs": {"Tree": TREE}}
texts = st.sampled_from(["", "2026-01-02", "P1D", "1.5", "x", "YQ==", "\ud800", "9" * 5000]) | st.text(max_size=8)
names = st.sampled_from([*TREE["properties"], "other", "__class__"])
values = st.recursive(
    texts | st.integers() | st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


def received(value: Any) -> Any:
    return json.loads(json.dumps(value), object_hook=Record)


@given(values)
def test_no_answer_breaks_its_reader(value: Any) -> None:
    plan_reader(value_plan(SCHEMA))(received([value]))
    plan_reader(value_plan(SCHEMA))(received(value))


def test_one_bad_value_leaves_the_others_typed() -> None:
    schema = {"type": "array", "items": {"type": "object", "properties": {"on": {"type": "string", "format": "date"}}}}
    rows = received([{"on": "2026-01-02"}, {"on": "never"}, {"on": None}, {}, 7, {"on": "2026-01-03"}])
    read = plan_reader(value_plan(schema))(rows)
    assert read == [{"on": dt.date(2026, 1, 2)}, {"on": "never"}, {"on": None}, {}, 7, {"on": dt.date(2026, 1, 3)}]


def test_readers_take_text_alone() -> None:
    for form, value in [("decimal", 0.1), ("decimal", True), ("base64", b"YQ=="), ("base64url", b"YQ"), ("hex", b"0")]:
        assert plan_reader(json.dumps([form]))(value) is value


def endless(depth: int) -> dict[str, Any]:
    names = [f"T{number}" for number in range(depth)]
    definitions: dict[str, Any] = {
        name: {"type": "array", "items": {"anyOf": [{"$ref": f"#/$defs/{each}"} for each in names[:20]]}}
        for name in names
    }
    definitions["T0"] = {"type": "string", "format": "date"}
    return {"$ref": f"#/$defs/{names[-1]}", "$defs": definitions}


WIDE = {"type": "object", "properties": {f"field{n}": {"type": "string", "format": "date"} for n in range(5000)}}
HOSTILE: list[Any] = [
    None,
    True,
    7,
    [],
    {"$ref": 7},
    {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}},
    {"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string", "format": "date"}]}}},
    {"type": "object", "properties": 7, "additionalProperties": 7},
    {"type": ["string", ["object"]], "format": ["date"]},
    {"type": "string", "format": "date", "enum": ["a"]},
    {"oneOf": [{"type": "object"}], "discriminator": {"propertyName": 7, "mapping": {"a": 7}}},
    {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": 7}]},
    endless(100),
    WIDE,
]


@pytest.mark.parametrize("schema", HOSTILE, ids=range(len(HOSTILE)))
def test_no_schema_makes_more_than_a_bounded_plan(schema: Any) -> None:
    plan = value_plan(schema)
    assert len(plan) <= 8192
    if plan:
        plan_reader(plan)(received([{"a": "2026-01-02"}, "2026-01-02"]))


@pytest.mark.parametrize(
    ("schema", "plan"),
    [
        ({"type": "string"}, ""),
        ({"type": "string", "format": "email"}, ""),
        ({"type": "string", "format": "date"}, '["date"]'),
        ({"type": "string", "contentEncoding": "base64"}, '["base64"]'),
        ({"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}, '["date"]'),
        ({"anyOf": [{"type": "string", "format": "date"}, {"type": "string"}]}, ""),
        ({"anyOf": [{"type": "string", "format": "date"}, {}]}, ""),
        (
            {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]},
            '["date or date-time"]',
        ),
    ],
)
def test_text_is_read_only_where_it_can_be_nothing_else(schema: Any, plan: str) -> None:
    assert value_plan(schema) == plan


@given(st.timedeltas())
def test_durations_are_written_and_read_as_pydantic_does(span: dt.timedelta) -> None:
    adapter = TypeAdapter(dt.timedelta)
    assert json.loads(adapter.dump_json(span)) == duration_text(span)
    assert plan_reader('["duration"]')(duration_text(span)) == span


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("P1Y2M3W4D", dt.timedelta(days=365 + 60 + 21 + 4)),
        ("PT5H6M7.5S", dt.timedelta(hours=5, minutes=6, seconds=7.5)),
        ("P1DT0,25S", dt.timedelta(days=1, seconds=0.25)),
        ("PT0S", dt.timedelta()),
    ],
)
def test_every_form_of_a_duration_is_read(text: str, span: dt.timedelta) -> None:
    read = plan_reader('["duration"]')
    assert [read(text), read(f"+{text}"), read(f"-{text}")] == [span, span, -span]


@given(st.uuids())
def test_a_uuid_is_what_its_own_class_makes_of_the_text(value: uuid.UUID) -> None:
    for text in (str(value), value.hex, str(value).upper(), value.urn, f"{{{value}}}"):
        read = plan_reader('["uuid"]')(text)
        assert (type(read), read, hash(read), str(read)) == (uuid.UUID, value, hash(value), str(value))
        assert (read.is_safe, read.fields, pickle.loads(pickle.dumps(read))) == (value.is_safe, value.fields, value)


@given(st.text("0123456789abcdefABCDEF-_+ {}urn:id", max_size=48))
def test_a_text_that_is_no_uuid_stays_as_it_is(text: str) -> None:
    try:
        wanted: Any = uuid.UUID(text)
    except ValueError:
        wanted = text
    assert plan_reader('["uuid"]')(text) == wanted
