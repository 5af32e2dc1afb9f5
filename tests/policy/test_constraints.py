"""What a demand on an argument holds for, and what an attacker tries to slip past it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel

from coilclaw.policy import BadRule, Constraint, Problem, Rule, read_constraint
from coilclaw.sdk import Decision


def constraint(path: str, raw: Any) -> Constraint:
    read = read_constraint(path, raw)
    assert isinstance(read, Constraint), read
    return read


def problems(path: str, raw: Any) -> list[Problem]:
    read = read_constraint(path, raw)
    assert isinstance(read, list), read
    return read


@pytest.mark.parametrize(
    ("raw", "holds", "does_not"),
    [
        ("x", ["x"], ["y", "", "xx", 1, None, {}, []]),
        (5, [5, 5.0], [6, "x", None, 5.5]),
        (True, [True], [False, "no", None, 2]),
        (["PUT", "DELETE"], ["PUT", "DELETE"], ["GET", "put", None]),
        ({"equals": "x"}, ["x"], ["y"]),
        ({"equals": {"a": [1]}}, [{"a": [1]}], [{"a": [2]}, "a"]),
        ({"one_of": [1, "a"]}, [1, "a"], [2, "b"]),
        ({"matches": "*.py"}, ["a.py", "a/b.py", "a\n.py"], ["a.pyc", "", None, {"a": "b.py"}]),
        ({"matches": "data/[!_]*"}, ["data/x"], ["data/_x", "data/"]),
        ({"starts_with": "tools/"}, ["tools/x", "tools/"], ["tool", "x/tools/", None]),
        ({"above": 100}, [101, 100.5, 1e300, 10**400], [100, -1, "x", None]),
        ({"at_least": 100}, [100, 101], [99.9]),
        ({"below": 0}, [-1, -0.5, -(10**400)], [0, 1]),
        ({"at_most": 0}, [0, -1], [0.1]),
        ({"at_least": 2, "below": 5}, [2, 4.9], [1, 5]),
        ({"length_at_most": 3}, ["abc", "", [1, 2], {"a": 1}], ["abcd", [1, 2, 3, 4], 7, None]),
        ({"length_at_least": 3}, ["abc", [1, 2, 3], {"a": 1, "b": 2, "c": 3}], ["ab", [1, 2], 7, ["abcdef"]]),
        ({"not_one_of": ["a", 1]}, ["b", "A", 2, "1", True, None, {}, ["b"], ["a", "b"]], ["a", 1, 1.0, ["a"], []]),
        ({"not_matches": "*@ours.org"}, ["x@evil.org", 5, None, ["a@ours.org", "b@evil.org"]], ["a@ours.org", []]),
        ({"not_matches": ["a*", "b*"]}, ["c", ["a", "c"]], ["a", "b1", ["a", "b"]]),
        ({"present": True}, ["x", None, 0, []], []),
        ({"present": False}, [None], ["x", 0, False, []]),
    ],
    ids=lambda value: json.dumps(value)[:40] if not isinstance(value, list) else "",
)
def test_a_demand_holds_for_what_it_says(raw: Any, holds: list[Any], does_not: list[Any]) -> None:
    demand = constraint("x", raw)
    for value in holds:
        assert demand.holds({"x": value}), value
    for value in does_not:
        assert not demand.holds({"x": value}), value
        assert demand.unmet({"x": value}) is not None


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (1, "1"),
        (1, True),
        (1, 1.0),
        (1, " 1 "),
        (1, "1.0"),
        (1, "１"),
        ("1", 1),
        (True, 1),
        (True, "true"),
        (True, "YES"),
        (False, 0),
        ("true", True),
        ({"above": 100}, "101"),
        ({"above": 100}, "1e3"),
        pytest.param({"above": 100}, "9" * 10_000, id="a number too long to be read"),
        ({"above": 100}, "inf"),
        ({"above": 100}, "nan"),
        ({"above": 100}, float("nan")),
        ({"below": 5}, False),
        ({"matches": "12*"}, 1234),
        pytest.param({"matches": "9*"}, 10**5000, id="an integer too long to be written"),
        ({"starts_with": "tr"}, True),
    ],
)
def test_another_type_is_no_way_around(raw: Any, value: Any) -> None:
    assert constraint("x", raw).holds({"x": value})


@pytest.mark.parametrize(
    "spelled",
    [
        "evil.org",
        " evil.org\n",
        "ｅｖｉｌ.ｏｒｇ",
        "ev\u200bil.org",
        "ev\u00adil.org",
        "\ufeffevil.org",
        "ev\u202eil.org",
        "еvil.оrg",
        "éviĺ.org",
        "e\u0301vil.org",
        "𝐞𝐯𝐢𝐥.org",
        "ev\x00il.org",
    ],
)
@pytest.mark.parametrize("raw", ["evil.org", {"matches": "ev*.org"}, {"starts_with": "evil"}], ids=str)
def test_a_lookalike_is_no_way_around(raw: Any, spelled: str) -> None:
    assert constraint("x", raw).holds({"x": spelled})


def test_what_is_permitted_is_compared_exactly() -> None:
    permitted = constraint("x", {"not_one_of": ["ours.org", 1], "ignore_case": True})
    for other in ("ours.оrg", "ours.org ", "ou\u200brs.org", "1", True, "true"):
        assert permitted.holds({"x": other}), other
    assert not permitted.holds({"x": "OURS.org"})
    assert constraint("x", {"not_matches": "*@ours.org"}).holds({"x": "a@ours.org\n"})


def test_case_matters_unless_it_is_to_be_ignored() -> None:
    assert not constraint("x", {"equals": "Evil"}).holds({"x": "eVIL"})
    for raw in ({"equals": "Evil"}, {"one_of": ["a", "EVIL"]}, {"matches": "EV*l"}, {"starts_with": "eV"}):
        for spelled in ("eVIL", "𝐄𝐕𝐈𝐋", "ＥＶＩＬ", "ЕVІL"):
            assert constraint("x", {**raw, "ignore_case": True}).holds({"x": spelled}), spelled
    header = constraint("headers.Authorization", {"present": True, "ignore_case": True})
    assert header.holds({"headers": {"AUTHORIZATION": "x"}})
    assert header.holds({"Headers": {"authorization": "x"}})


@pytest.mark.parametrize(
    ("path", "arguments", "holds"),
    [
        ("to.*", {"to": ["a", "evil"]}, True),
        ("to.*", {"to": ["a"]}, False),
        ("to.*", {"to": []}, False),
        ("to.*", {}, False),
        ("to.*", {"to": "evil"}, True),
        ("to.*", {"to": [["a", ["evil"]]]}, True),
        ("to", {"to": ["a", "evil"]}, True),
        ("to", {"to": [[["evil"]]]}, True),
        ("to.*", {"to": {"first": "evil"}}, True),
        ("to.*.name", {"to": [{"name": "a"}, {"name": "evil"}]}, True),
        ("to.*.name", {"to": {"name": "evil"}}, True),
        ("to.name", {"to": [{"name": "evil"}]}, True),
        ("to.*.name", {"to": [{"name": ["evil"]}]}, True),
        ("to.*.name", {"to": [{"Name": "evil"}]}, False),
        ("a.b.c", {"a": {"b": {"c": "evil"}}}, True),
        ("a.b.c", {"a": {"b.c": "evil"}}, True),
        ("a.b.c", {"a.b": {"c": "evil"}}, True),
        ("a.b.c", {"a": {"b": "evil"}}, False),
        ("a.b", {"a": "evil"}, False),
        ("*", {"anything": "evil"}, True),
        ("*.*", {"anything": {"inner": "evil"}}, True),
    ],
)
def test_a_path_leads_through_lists_and_tables(path: str, arguments: Any, holds: bool) -> None:
    assert constraint(path, "evil").holds(arguments) is holds


def test_one_value_has_to_meet_all_demands() -> None:
    demand = constraint("n.*", {"above": 2, "below": 5})
    assert demand.holds({"n": [1, 3, 9]})
    assert not demand.holds({"n": [1, 9]})


def test_lists_in_lists_do_not_hide_how_many_there_are() -> None:
    assert constraint("to", {"length_at_least": 4}).holds({"to": [["a", "b"], ["c", "d"]]})
    assert not constraint("to", {"length_at_least": 5}).holds({"to": [["a", "b"], ["c", "d"]]})


def nested(depth: int) -> Any:
    value: Any = "leaf"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("path", ["x", "x.*", "x.*.*.*.*.*", "*.*.*"])
@pytest.mark.parametrize(
    ("huge", "holds"),
    [([0] * 20_000, True), ({str(n): n for n in range(20_000)}, None), (nested(5000), False), ("x" * 10**6, False)],
    ids=["list", "table", "nesting", "text"],
)
def test_what_is_too_much_to_look_at_counts_as_meeting_the_demand(path: str, huge: Any, holds: bool | None) -> None:
    found = constraint(path, {"matches": "*evil*"}).holds({"x": huge})
    # A table is one value; only where a path asks for what is in it there are too many.
    assert found is (("*" in path) if holds is None else holds)


def test_many_ways_to_the_same_place_are_not_too_many_places() -> None:
    tables: dict[str, Any] = {"leaf": "x"}
    for _ in range(30):
        tables = {"inner": tables}
    everywhere = ".".join("*" * 16)
    assert not constraint(everywhere, "evil").holds(tables)
    assert constraint(everywhere, "x").holds({"inner": {"leaf": "x"}})


def test_a_comparison_that_fails_counts_as_meeting_the_demand() -> None:
    class Hostile:
        def __str__(self) -> str:
            raise RuntimeError

        def __eq__(self, other: object) -> bool:
            raise RuntimeError

        __hash__ = None  # type: ignore[assignment]

    assert constraint("x", "evil").holds({"x": Hostile()})
    assert constraint("x", {"equals": nested(50_000)}).holds({"x": nested(50_000)})


class Size(Enum):
    BIG = "big"


@dataclass
class Point:
    name: str


class Inner(BaseModel):
    force: bool = True


class Names(RootModel[list[str]]):
    pass


class Input(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    recursive: bool = True
    size: Size = Size.BIG
    place: Path = Path("/srv/x")
    when: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    inner: Inner = Inner()
    point: Point = Field(default_factory=lambda: Point(name="p"))
    names: Names = Names(["a", "b"])
    sender: str = Field(default="me", alias="from")
    target: str = Field(default="you", validation_alias=AliasChoices("to", "rcpt"))
    hidden: str = Field(default="h", exclude=True)


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ("recursive", True),
        ("size", "big"),
        ("place", {"starts_with": "/srv/"}),
        ("when", {"starts_with": "2026-01-01"}),
        ("inner.force", True),
        ("point.name", "p"),
        ("names.*", "b"),
        ("names", {"length_at_least": 2}),
        ("from", "me"),
        ("sender", "me"),
        ("to", "you"),
        ("rcpt", "you"),
        ("hidden", "h"),
    ],
)
def test_leaving_an_argument_to_its_default_is_no_way_around(path: str, raw: Any) -> None:
    demand = constraint(path, raw)
    assert demand.holds({}, Input())
    assert not demand.holds({}, Inner(force=False))
    assert demand.holds({"unrelated": 1}, Input())


def test_a_field_sent_under_its_other_name_is_found() -> None:
    sent = {"sender": "evil"}
    assert constraint("from", "evil").holds(sent, Input.model_validate(sent))


def test_what_a_tool_makes_of_an_argument_counts_as_well_as_what_was_sent() -> None:
    class Upper(BaseModel):
        method: str

    demand = constraint("method", "DELETE")
    assert demand.holds({"method": "delete"}, Upper(method="DELETE"))
    assert demand.holds({"method": "DELETE"}, Upper(method="other"))
    assert not demand.holds({"method": "delete"}, Upper(method="delete"))


def test_presence_is_about_what_was_sent() -> None:
    assert not constraint("recursive", {"present": True}).holds({}, Input())
    assert constraint("recursive", {"present": False}).holds({}, Input())


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({}, "must demand something"),
        ({"ignore_case": True}, "must demand something"),
        ({"starts_wiht": "x"}, "did you mean 'starts_with'?"),
        ({"address": "x"}, '"x.address"'),
        ({"above": "5"}, "must be a number"),
        ({"above": True}, "must be a number"),
        ({"above": None}, "must be a number"),
        ({"below": float("inf")}, "must be a number"),
        ({"matches": 5}, "must be text"),
        ({"starts_with": ["a"]}, "must be text"),
        ({"not_matches": []}, "must be text, or a list of texts"),
        ({"not_matches": ["a", 1]}, "must be text, or a list of texts"),
        ({"length_at_most": -1}, "whole number"),
        ({"length_at_most": 1.5}, "whole number"),
        ({"length_at_least": True}, "whole number"),
        ({"present": "yes"}, "true or false"),
        ({"equals": "x", "ignore_case": 1}, "true or false"),
        ([], "at least one value"),
        ({"one_of": "abc"}, "at least one value"),
        ({"one_of": [None]}, "at least one value"),
        (None, "must be a value"),
        ({"present": False, "equals": 1}, "can never hold"),
        ({"above": 5, "below": 2}, "can never hold"),
        ({"above": 5, "at_most": 5}, "can never hold"),
        ({"at_least": 5, "below": 5}, "can never hold"),
        ({"at_least": 6, "at_most": 5}, "can never hold"),
        ({"matches": "*", "above": 5}, "can never hold"),
        ({"length_at_least": 5, "length_at_most": 4}, "can never hold"),
        ({"equals": 3, "above": 5}, "can never hold"),
        ({"equals": "abc", "length_at_most": 2}, "can never hold"),
        ({"one_of": ["a", "b"], "matches": "c*"}, "can never hold"),
        ({"equals": "a", "not_one_of": ["a"]}, "can never hold"),
    ],
    ids=str,
)
def test_a_demand_that_cannot_be_met_or_read_is_an_error(raw: Any, words: str) -> None:
    assert any(words in each.message for each in problems("x", raw))


@pytest.mark.parametrize("path", ["", ".", "a.", ".a", "a..b", ".".join("a" * 17)])
def test_a_path_that_names_nothing_is_an_error(path: str) -> None:
    (problem,) = problems(path, "x")
    assert problem.place == ("arguments", path)
    assert "path of at most 16 names" in problem.message
    assert isinstance(read_constraint(".".join("a" * 16), "x"), Constraint)


def test_a_range_with_one_value_in_it_is_none() -> None:
    assert constraint("x", {"at_least": 5, "at_most": 5}).holds({"x": 5})


def test_a_bad_rule_tells_everything_at_once() -> None:
    with pytest.raises(BadRule) as caught:
        Rule(tool="not an id", decision=Decision.ASK, channels=(), arguments={"a": {}, "b": {"above": "x"}})
    assert [each.place for each in caught.value.problems] == [
        ("tool",),
        ("channel",),
        ("arguments", "a"),
        ("arguments", "b", "above"),
    ]


def test_a_default_that_the_path_may_mean_counts_although_another_was_sent_as_it_is() -> None:
    class Ambiguous(BaseModel):
        Path: str = "public/a"
        path: str = "private/b"

    demand = constraint("Path", {"matches": "private/*", "ignore_case": True})
    assert demand.holds({"Path": "public/a"}, Ambiguous(Path="public/a"))


@pytest.mark.parametrize("ignore_case", [False, True])
def test_a_value_is_not_taken_for_what_was_sent_if_the_tool_made_something_else_of_it(ignore_case: bool) -> None:
    class Moving(BaseModel):
        path: str

    demand = constraint("path", {"equals": "b", "ignore_case": ignore_case})
    assert demand.holds({"path": "a"}, Moving(path="b")), "what the tool makes of it counts"
    assert demand.holds({"path": "b"}, Moving(path="a")), "and so does what was sent"
    assert not demand.holds({"path": "a"}, Moving(path="a"))
    assert demand.holds({"path": "a", "PATH": "b"}, Moving(path="a")) is ignore_case
