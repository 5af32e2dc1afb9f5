"""Recurrence rules: the examples of the standard, and agreement with another implementation."""
# ruff: noqa: DTZ001  Rules are followed on the wall clock, which has no zone.

from __future__ import annotations

import itertools
from datetime import datetime, timedelta

import pytest
from dateutil.rrule import rrulestr  # type: ignore[import-untyped]
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coilclaw.integrations.calendar.recurrence import Budget, TooDense
from coilclaw.integrations.calendar.rules import parse_rule

WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def expanded(rule: str, start: datetime, days: int = 4000, most: int = 12) -> list[str]:
    found = parse_rule(rule).between(start, start, start + timedelta(days=days), Budget(10**6))
    return [each.strftime("%Y-%m-%d") for each in itertools.islice(found, most)]


START = datetime(1997, 9, 2, 9)

EXAMPLES = [
    ("FREQ=MONTHLY;COUNT=4;BYDAY=1FR", datetime(1997, 9, 5, 9), "1997-09-05 1997-10-03 1997-11-07 1997-12-05"),
    ("FREQ=MONTHLY;INTERVAL=2;COUNT=4;BYDAY=1SU,-1SU", datetime(1997, 9, 7, 9), "1997-09-07 1997-09-28 1997-11-02 1997-11-30"),
    ("FREQ=MONTHLY;COUNT=3;BYMONTHDAY=-3", datetime(1997, 9, 28, 9), "1997-09-28 1997-10-29 1997-11-28"),
    ("FREQ=YEARLY;BYDAY=20MO;COUNT=3", datetime(1997, 5, 19, 9), "1997-05-19 1998-05-18 1999-05-17"),
    ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3", datetime(1997, 5, 12, 9), "1997-05-12 1998-05-11 1999-05-17"),
    ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=3", START, "1998-02-13 1998-03-13 1998-11-13"),
    ("FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13;COUNT=3", START, "1997-09-13 1997-10-11 1997-11-08"),
    ("FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8;COUNT=3", datetime(1996, 11, 5, 9), "1996-11-05 2000-11-07 2004-11-02"),
    ("FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", datetime(1997, 9, 4, 9), "1997-09-04 1997-10-07 1997-11-06"),
    ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2;COUNT=3", datetime(1997, 9, 29, 9), "1997-09-29 1997-10-30 1997-11-27"),
    ("FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", datetime(1997, 8, 5, 9), "1997-08-05 1997-08-10 1997-08-19 1997-08-24"),
    ("FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", datetime(1997, 8, 5, 9), "1997-08-05 1997-08-17 1997-08-19 1997-08-31"),
    ("FREQ=YEARLY;COUNT=3;BYYEARDAY=1,100,200", datetime(1997, 1, 1, 9), "1997-01-01 1997-04-10 1997-07-19"),
    ("FREQ=MONTHLY;COUNT=3", datetime(2026, 1, 31, 9), "2026-01-31 2026-03-31 2026-05-31"),
    ("FREQ=YEARLY;COUNT=3", datetime(2024, 2, 29, 9), "2024-02-29 2028-02-29 2032-02-29"),
    # A weekday without a number and one with: both count. A week number alone takes the weekday of the start.
    ("FREQ=MONTHLY;BYDAY=-1WE,MO;COUNT=5", datetime(2026, 11, 2, 9), "2026-11-02 2026-11-09 2026-11-16 2026-11-23 2026-11-25"),
    ("FREQ=YEARLY;BYWEEKNO=20;COUNT=2", datetime(1997, 5, 13, 9), "1997-05-13 1998-05-12"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "start", "days"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_examples_of_the_standard(rule: str, start: datetime, days: str) -> None:
    assert expanded(rule, start) == days.split()


def joined(values: list[int]) -> str:
    return ",".join(map(str, values))


def some(values: list[int], most: int = 4) -> st.SearchStrategy[list[int]]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=True)


@st.composite
def rules(draw: st.DrawFn) -> str:
    frequency = draw(st.sampled_from(["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"]))
    parts = [f"FREQ={frequency}", f"INTERVAL={draw(st.integers(1, 7))}"]

    def maybe(name: str, values: st.SearchStrategy[list[int]]) -> None:
        if draw(st.integers(0, 3)) == 0:
            parts.append(f"{name}={joined(draw(values))}")

    if draw(st.booleans()):
        parts.append(f"COUNT={draw(st.integers(1, 30))}")
    if draw(st.booleans()):
        parts.append(f"WKST={draw(st.sampled_from(WEEKDAYS))}")
    maybe("BYMONTH", some(list(range(1, 13))))
    if draw(st.booleans()):
        numbered = frequency in ("YEARLY", "MONTHLY") and draw(st.booleans())
        days = draw(st.lists(st.sampled_from(WEEKDAYS), min_size=1, max_size=3, unique=True))
        # The other implementation joins numbered and plain weekdays wrongly, so they are not mixed.
        position = [str(draw(st.sampled_from([1, 2, 3, 4, -1, -2]))) if numbered else "" for _ in days]
        parts.append("BYDAY=" + ",".join(map("".join, zip(position, days, strict=True))))
        if frequency == "YEARLY" and not numbered:
            maybe("BYWEEKNO", some([1, 2, 20, 52, 53, -1]))
    if frequency != "WEEKLY":
        maybe("BYMONTHDAY", some([*range(1, 32), -1, -2]))
    if frequency == "YEARLY":
        maybe("BYYEARDAY", some([1, 59, 60, 61, 100, 200, 365, 366, -1, -366]))
    maybe("BYHOUR", some(list(range(24))))
    maybe("BYMINUTE", some(list(range(60)), 2))
    if any(part.startswith("BY") for part in parts):
        maybe("BYSETPOS", some([1, 2, 3, -1, -2], 2))
    return ";".join(parts)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(rule=rules(), start=st.datetimes(datetime(2020, 1, 1), datetime(2023, 1, 1)), ahead=st.integers(-5, 500))
def test_another_implementation_finds_the_same(rule: str, start: datetime, ahead: int) -> None:
    start = start.replace(microsecond=0)
    if rule.startswith(("FREQ=HOURLY", "FREQ=MINUTELY")):
        ahead %= 5  # The other one walks there step by step.
        assume("COUNT" in rule or "BYMONTHDAY" not in rule)
    lowest = start + timedelta(days=ahead)
    highest = lowest + timedelta(days=60)
    try:
        theirs = rrulestr(f"RRULE:{rule}", dtstart=start)
    except ValueError:
        assume(False)
        return
    theirs._until = highest
    wanted: list[datetime] = []
    for steps, each in enumerate(theirs):
        if len(wanted) == 50 or steps == 3000:
            break
        if each >= lowest:
            wanted.append(each)
    ours = parse_rule(rule).between(start, lowest, highest, Budget(10**6))
    assert list(itertools.islice(ours, len(wanted))) == wanted


def test_a_rule_is_entered_where_the_window_begins() -> None:
    """Sixty years of seconds lie before it; none of them costs a step."""
    rule = parse_rule("FREQ=SECONDLY")
    moment = datetime(2026, 11, 16)
    found = rule.between(datetime(1966, 1, 1), moment, moment + timedelta(seconds=5), Budget(20))
    assert len(list(found)) == 6


@pytest.mark.parametrize("rule", ["FREQ=SECONDLY;COUNT=9999999", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=1"])
def test_a_rule_that_goes_nowhere_ends_with_its_budget(rule: str) -> None:
    start = datetime(1970, 1, 1)
    with pytest.raises(TooDense):
        list(parse_rule(rule).between(start, datetime(2026, 1, 1), datetime(9999, 1, 1), Budget(5000)))


@pytest.mark.parametrize(
    "rule", ["FREQ=YEARLY", "FREQ=MONTHLY", "FREQ=WEEKLY", "FREQ=DAILY", "FREQ=HOURLY;INTERVAL=99999"]
)
def test_a_rule_ends_where_calendars_end(rule: str) -> None:
    start = datetime(9999, 11, 1)
    found = list(parse_rule(rule).between(start, start, datetime(9999, 12, 31), Budget(10_000)))
    assert found[0] == start
    assert found[-1] <= datetime(9999, 12, 31)
