"""Values arrive in a snippet as the types that its tools' contracts name, and may be passed back."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import Base64Bytes, BaseModel, Field
from tests.runs.conftest import Replays

from coilclaw.integrations import files
from coilclaw.sandbox import Limits, Snippet
from coilclaw.sdk import Tool, ToolContext, define_tool
from coilclaw.workspace_tools.schema_tool import schema_tool

MOMENT = dt.datetime(2026, 11, 1, 12, 30, tzinfo=dt.UTC)


class Line(BaseModel):
    price: Decimal
    parts: list[Line] = []


class Order(BaseModel):
    sender: str = Field(alias="from")
    id: uuid.UUID
    placed_at: dt.datetime
    due: dt.date | None
    opens: dt.time
    takes: dt.timedelta
    total: Decimal
    stamp: bytes
    picture: Base64Bytes
    note: str
    either: dt.date | str
    lines: list[Line]
    by_day: dict[str, dt.date]
    span: tuple[int, dt.date]


ORDER = Order.model_validate(
    {
        "from": "ana",
        "id": uuid.UUID(int=7),
        "placed_at": MOMENT,
        "due": None,
        "opens": dt.time(8, 30),
        "takes": dt.timedelta(days=400, hours=2, microseconds=5),
        "total": Decimal("764.50"),
        "stamp": b"text",
        "picture": b"AAH/",
        "note": "2026-11-01",
        "either": "2026-11-01",
        "lines": [Line(price=Decimal("1.10"), parts=[Line(price=Decimal("0.30"))])],
        "by_day": {"first": dt.date(2026, 1, 2)},
        "span": (1, dt.date(2026, 1, 3)),
    }
)


@define_tool(id="shop.orders", risk="read")
def orders(ctx: ToolContext) -> list[Order]:
    """Orders."""
    return [ORDER]


@define_tool(id="shop.total", risk="read")
def total(ctx: ToolContext) -> Decimal:
    """A number with its digits."""
    return Decimal("1.10")


@define_tool(id="shop.picture", risk="read")
def picture(ctx: ToolContext) -> bytes:
    """Bytes that are no text."""
    return b"\x89PNG\xff"


@define_tool(id="shop.take", risk="write")
def take(
    ctx: ToolContext,
    at: dt.datetime | None = None,
    on: dt.date | None = None,
    for_: Annotated[dt.timedelta | None, Field(alias="for")] = None,
    amount: Decimal | None = None,
    ratio: float | None = None,
    count: int | None = None,
    data: bytes | None = None,
    id: uuid.UUID | None = None,
    text: str | None = None,
    any: Any = None,
    many: list[dt.datetime] = [],  # noqa: B006
) -> str:
    """Say what was given."""
    if at is not None:
        return at.isoformat()
    given = (on, for_, amount, ratio, count, data, id, text, any, [each.isoformat() for each in many])
    return " ".join(repr(each) for each in given if each not in (None, []))


TOOLS = (orders, total, picture, take)


@pytest.mark.parametrize("stamp", [b"", b"text", b"\x89PNG\xff", b"data:;base64,AAAA", b"data:;base64,\xff"])
def test_bytes_within_a_model_are_the_same_in_the_snippet(either: Replays, stamp: bytes) -> None:
    @define_tool(id="shop.stamped", risk="read")
    def stamped(ctx: ToolContext) -> list[Order]:
        """An order with this stamp."""
        return [ORDER.model_copy(update={"stamp": stamp})]

    source = "order = tools.shop.stamped().unwrap()[0]\n[list(order.stamp), list(order.picture), order.total]"
    assert value_of(either, source, stamped) == [list(stamp), [0, 1, 255], "764.50"]


def value_of(world: Replays, source: str, *tools: Tool) -> Any:
    report = world.run(source, *(tools or TOOLS))
    assert report.status == "completed", report.error
    return report.value


def test_values_have_the_types_of_the_contract(either: Replays) -> None:
    names = ["placed_at", "opens", "takes", "total", "stamp", "picture", "id"]
    source = f"""
order = tools.shop.orders().unwrap()[0]
[{{name: type(order[name]).__name__ for name in {names!r}}},
 [order["lines"][0]["parts"][0]["price"] * 2, order["by_day"]["first"].year, order["span"][1].day],
 [order["due"], order["note"], order["either"], order["from"]],
 f"{{order.placed_at:%d %B}}", order.total > 500, order["takes"].days, order["picture"][2], order["stamp"].upper()]
"""
    kinds, inner, plain, *natural = value_of(either, source)
    assert kinds == dict(
        zip(names, ["datetime", "time", "timedelta", "Decimal", "bytes", "bytes", "UUID"], strict=True)
    )
    assert inner == ["0.60", 2026, 3]
    assert plain == [None, "2026-11-01", "2026-11-01", "ana"], "text that looks like a date stays text"
    assert natural == ["01 November", True, 400, 255, "TEXT"]


def test_records_are_copied_as_records(either: Replays) -> None:
    source = """
import copy
orders = tools.shop.orders().unwrap()
near, deep = copy.copy(orders[0]), copy.deepcopy(orders)
deep[0].lines[0]["price"] = 0
[near == orders[0], near.total, type(deep[0]).__name__, orders[0].lines[0].price, deep[0].lines[0].price]
"""
    assert value_of(either, source) == [True, "764.50", "Record", "1.10", 0]


def test_a_tuple_of_the_contract_is_a_tuple(either: Replays) -> None:
    @define_tool(id="shop.pair", risk="read")
    def pair(ctx: ToolContext) -> tuple[int, str]:
        """Two values."""
        return 1, "a"

    assert value_of(either, "repr(tools.shop.pair().unwrap())", pair) == "(1, 'a')"
    assert value_of(either, "type(tools.shop.orders().unwrap()[0].span).__name__") == "tuple"


@pytest.mark.parametrize(
    ("line", "hint"),
    {
        "json.dumps(order)": "default=str",
        "order.total = 3": "are changed like those of a dict",
        "order.paid = True": "are changed like those of a dict",
    }.items(),
)
def test_a_habit_that_fails_with_records_has_a_hint(either: Replays, line: str, hint: str) -> None:
    report = either.run(f"import json\norder = tools.shop.orders().unwrap()[0]\n{line}", *TOOLS)
    assert report.error is not None
    assert report.error.hint is not None
    assert hint in report.error.hint


def test_an_argument_that_is_a_buffer_says_what_to_pass(either: Replays) -> None:
    source = "import io\ntools.shop.take(data=io.BytesIO(b'x')).error.message"
    assert "getvalue()" in value_of(either, source)


def test_a_value_alone_is_typed_too(either: Replays) -> None:
    assert value_of(either, "[tools.shop.total().unwrap() + 1, tools.shop.picture().unwrap()[0]]") == ["2.10", 0x89]


@pytest.mark.parametrize(
    ("given", "taken"),
    {
        "at=MOMENT": "2026-11-01T12:30:00+00:00",
        "at=datetime.date(2026, 10, 1)": "2026-10-01T00:00:00",
        "at='2026-10-01'": "2026-10-01T00:00:00",
        "many=['2026-10-01']": "['2026-10-01T00:00:00']",
        "on=datetime.date(2026, 10, 1)": repr(dt.date(2026, 10, 1)),
        "text='2026-10-01'": repr("2026-10-01"),
        "amount=Decimal('1.50')": repr(Decimal("1.50")),
        "ratio=Decimal('1.50')": "1.5",
        "count=Decimal('3')": "3",
        "text=Decimal('1.50')": repr("1.50"),
        "**{'for': datetime.timedelta(days=400, seconds=1.5)}": repr(dt.timedelta(days=400, seconds=1.5)),
        "ratio=datetime.timedelta(seconds=1.5)": "1.5",
        "data=b'\\xff\\x00'": repr(b"\xff\x00"),
        "id=uuid.UUID(int=7)": repr(uuid.UUID(int=7)),
        "any={'n': Decimal('1.50'), 'd': MOMENT}": repr({"d": "2026-11-01T12:30:00Z", "n": "1.50"}),
        "any={'': ['decimal']}": repr({"": ["decimal"]}),
    }.items(),
)
def test_values_may_be_passed_back(either: Replays, given: str, taken: str) -> None:
    source = f"""
import datetime, uuid
from decimal import Decimal
MOMENT = tools.shop.orders().unwrap()[0].placed_at
tools.shop.take({given}).unwrap()
"""
    assert value_of(either, source) == taken


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("text=b'abc'", "text: bytes are not taken here"),
        ("ratio=Decimal('NaN')", "ratio: NaN is not a number"),
        ("count=Decimal('1.5')", "count: 1.5 is not a whole number"),
    ],
)
def test_what_a_place_does_not_take_is_refused_with_a_reason(either: Replays, given: str, told: str) -> None:
    source = (
        f"from decimal import Decimal\nresult = tools.shop.take({given})\n[result.error.code, result.error.message]"
    )
    code, message = value_of(either, source)
    assert code == "invalid_input"
    assert told in message


def test_journal_and_receipts_keep_json_and_a_replay_gives_the_same_types(either: Replays) -> None:
    source = """
import asyncio
first = tools.shop.orders().unwrap()[0]
second, = (await asyncio.gather(tools.shop.orders.start()))[0].unwrap()
assert first["total"] * 2 == 1529 and second.placed_at.year == 2026
tools.shop.take(amount=first["total"], at=second["placed_at"]).unwrap()
"""
    report = either.run(source, *TOOLS)
    assert report.status == "completed", report.error
    again = either.replay(report.run_id, *TOOLS)
    assert again.identical, again.difference
    bodies = [bytes(body) for (body,) in either.database.read("SELECT body FROM contents")]
    kept = [json.loads(body) for body in bodies if body.startswith((b"{", b"["))]
    assert {"amount": "764.50", "at": "2026-11-01T12:30:00Z"} in kept
    assert json.loads(orders.output.dump_json([ORDER], by_alias=True)) in kept


def test_a_rehearsed_call_gives_the_types_too(either: Replays) -> None:
    @define_tool(id="shop.buy", risk="write")
    def buy(ctx: ToolContext) -> Line:
        """Buy something."""
        raise AssertionError

    report = either.runtime.rehearse(
        Snippet(source="str(tools.shop.buy().unwrap()['price'] + 1)"),
        either.engine,
        either.world.registry(buy),
        Limits(),
    ).report
    assert report.value == "1"


class Card(BaseModel):
    kind: Literal["card"]
    at: dt.datetime


class Cash(BaseModel):
    kind: Literal["cash"]
    at: str


def test_of_several_records_each_is_read_by_its_own_contract(either: Replays) -> None:
    @define_tool(id="shop.paid", risk="read")
    def paid(ctx: ToolContext) -> list[Card | Cash]:
        """Payments."""
        return [Card(kind="card", at=MOMENT), Cash(kind="cash", at="2026-11-01T12:30:00Z")]

    assert value_of(either, "[type(each.at).__name__ for each in tools.shop.paid().unwrap()]", paid) == [
        "datetime",
        "str",
    ]


HOSTILE = {
    "at": "9999-99-99",
    "n": "1.2.3",
    "id": "x" * 36,
    "span": "P",
    "data": "*",
    "kids": {"at": "7"},
    "__class__": 1,
}


def test_what_cannot_be_read_stays_as_it_is(either: Replays) -> None:
    formats = {"at": "date-time", "n": "decimal", "id": "uuid", "span": "duration", "data": "base64"}
    properties = {name: {"type": "string", "format": form} for name, form in formats.items()}
    shape = {"type": "object", "properties": {**properties, "kids": {"$ref": "#/$defs/Node"}}}
    hostile = schema_tool(
        id="server.give",
        handler=lambda input, ctx: [HOSTILE, None, "x", {"at": "2026-01-02T03:04:05Z"}],
        input_schema={"type": "object"},
        output_schema={
            "type": "array",
            "items": {"anyOf": [shape, {"type": "null"}, {"type": "string"}]},
            "$defs": {"Node": shape},
        },
    )
    source = """
first, nothing, text, last = tools.server.give().unwrap()
[dict(first), nothing, text, last.at.hour, getattr(first, "__class__", None) is dict]
"""
    if either.engine.name == "restricted":
        source = source.replace('getattr(first, "__class__", None) is dict', "False")
    assert value_of(either, source, hostile) == [HOSTILE, None, "x", 3, False]


def test_records_have_their_fields_as_attributes_and_say_which_they_have(either: Replays) -> None:
    source = """
order = tools.shop.orders().unwrap()[0]
told = []
for look in (lambda: order["form"], lambda: order.form, lambda: order.lines[0].parts[0]["cost"]):
    try:
        look()
    except (KeyError, AttributeError) as error:
        told.append(str(error))
match order:
    case {"from": sender, **rest}:
        told.append(sender)
[told, order.get("form"), "form" in order, isinstance(order, dict), order == dict(order), {**order}["from"], len(rest)]
"""
    told, *others = value_of(either, source)
    assert "'form' is not a field of this record; it has: 'from', 'id', 'placed_at'" in told[0]
    assert "this record has no field 'form'; it has: 'from', 'id'" in told[1]
    assert "it has: 'price', 'parts'" in told[2]
    assert told[3] == "ana"
    assert others == [None, False, True, True, "ana", 13]


def test_a_method_of_dict_hides_a_field_of_its_name(either: Replays) -> None:
    @define_tool(id="shop.page", risk="read")
    def page(ctx: ToolContext) -> dict[str, list[int]]:
        """A page."""
        return {"items": [1], "keys": [2]}

    assert value_of(either, "page = tools.shop.page().unwrap()\n[page['items'], callable(page.items)]", page) == [
        [1],
        True,
    ]


def test_a_snippet_writes_and_reads_the_bytes_of_a_file(either: Replays) -> None:
    source = """
data = bytes(range(256))
tools.files.write(path="a.bin", data=data).unwrap()
found = tools.files.read(path="a.bin", binary=True).unwrap()
[found["data"] == data, found.size]
"""
    assert value_of(either, source, files.write, files.read) == [True, 256]
