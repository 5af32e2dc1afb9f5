"""Values cross the bridge exactly: no digit is lost, nothing is decoded twice, and no mask is left out."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import Base64Bytes, BaseModel, ConfigDict, PlainSerializer
from tests.runs.conftest import Replays

from coilclaw.sdk import ToolContext, define_tool

Masked = PlainSerializer(lambda value: "****", return_type=str, when_used="json")


class Issuer(BaseModel):
    model_config = ConfigDict(ser_json_bytes="base64")

    key: bytes = b"\xfe"


class Card(BaseModel):
    model_config = ConfigDict(ser_json_timedelta="float")

    number: Annotated[str, Masked] = "4111111111111111"
    pin: Annotated[bytes, Masked] = b"\xff\x01"
    valid_for: dt.timedelta = dt.timedelta(days=1)
    note: str = ""
    blob: bytes = b""
    anything: Any = None
    issuer: Issuer = Issuer()
    others: list[Card] = []


@define_tool(id="shop.card", risk="read")
def card(ctx: ToolContext, kind: int) -> Card:
    """A card, of which a part is not for everybody."""
    found = [Card(blob=b"\xff"), Card(note="data:;base64,"), Card(anything=b"\xff", blob=b"data:;base64,AA")][kind]
    return found.model_copy(update={"others": [found]})


class Row(BaseModel):
    picture: Base64Bytes | None = None


@define_tool(id="shop.pictures", risk="read")
def pictures(ctx: ToolContext) -> list[Row]:
    """Rows of which one has no picture."""
    return [Row(picture=b"YUdWc2JHOD0="), Row()]


@define_tool(id="shop.numbers", risk="read")
def numbers(ctx: ToolContext) -> list[Decimal | float | bool]:
    """Numbers of several types."""
    return [Decimal("1.10"), 0.1, True]


@define_tool(id="shop.whole", risk="read")
def whole(ctx: ToolContext, n: int) -> str:
    """The digits of a number."""
    return str(n)


@define_tool(id="shop.echo", risk="read")
def echo(ctx: ToolContext, data: dict[str, Any]) -> str:
    """What was passed."""
    return repr(data)


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_what_a_model_masks_in_json_stays_masked(either: Replays, kind: int) -> None:
    """Also if some bytes of the result are no text, or some text looks like written bytes."""
    source = f"c = tools.shop.card(kind={kind}).unwrap(); d = c.others[0]\n"
    source += "[(e.number, e.pin, e.valid_for, e.issuer.key == b'\\xfe') for e in (c, d)]"
    assert either.run(source, card).value == [["****", "****", 86400.0, True]] * 2


def test_bytes_are_decoded_once(either: Replays) -> None:
    """Although the record that comes next has none."""
    assert (
        either.run("repr([e.picture for e in tools.shop.pictures().unwrap()])", pictures).value == "[b'aGVsbG8=', None]"
    )


def test_a_number_is_not_read_as_text(either: Replays) -> None:
    value = either.run("repr(tools.shop.numbers().unwrap())", numbers).value
    assert value == "[Decimal('1.10'), 0.1, True]"


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("9007199254740993", "9007199254740993"),
        ("12345678901234567891", "12345678901234567891"),
        ("1.0", "1"),
        ("-3E+2", "-300"),
        ("9007199254740993.5", None),
        ("1E+999", None),
        ("NaN", None),
    ],
)
def test_a_whole_decimal_keeps_its_digits(replays: Replays, given: str, taken: str | None) -> None:
    source = f"from decimal import Decimal\nr = tools.shop.whole(n=Decimal('{given}'))\nr.value if r.ok else r.code"
    assert replays.run(source, whole).value == (taken or "invalid_input")


LITERALS = [
    "{'a': {'': ['decimal', '7']}}",
    "{'a': [{'': ['bytes', 'AA==']}, {'': {'': ['literal', 1]}}]}",
    "{'a': {'': ['decimal', '7'], 'b': 1}}",
]


@pytest.mark.parametrize("literal", LITERALS)
def test_a_dict_that_looks_like_a_marked_value_stays_what_it_is(either: Replays, literal: str) -> None:
    source = f"from decimal import Decimal\nd = {literal}\nd['x'] = Decimal('1.50')\n[tools.shop.echo(data=d).value, tools.shop.echo(d).code]"
    expected = repr({**eval(literal), "x": "1.50"})
    assert either.run(source, echo).value == [expected, "invalid_input"]


@pytest.mark.parametrize(("levels", "status"), [(200, "completed"), (201, "failed"), (900, "failed")])
def test_a_value_has_a_bounded_number_of_levels(either: Replays, levels: int, status: str) -> None:
    """However deep the stack of the caller is."""
    report = either.run(f"x = 1\nfor _ in range({levels}): x = [x]\nx")
    assert report.status == status
    if report.error is not None:
        assert (report.error.type, "at most 200 levels" in report.error.message) == ("ValueTooDeep", True)
    assert either.replay(report.run_id).identical
