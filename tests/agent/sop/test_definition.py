"""Reading a SOP: everything that is wrong with it is said at once, whatever its file holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import cache_folder

from coilclaw.agent.sop import AgentStep, ApprovalStep, InvalidSop, Sop, ToolStep, read_sop
from coilclaw.app import CoilClaw
from coilclaw.bridge import Registry, build_registry
from coilclaw.sdk import ToolContext, define_tool

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/daily_check/sops/daily-check/SOP.toml"
DAILY_CHECK = EXAMPLE.read_text()


@define_tool(id="desk.search", risk="read")
def search(ctx: ToolContext, query: str, date_from: str = "", limit: int = 10) -> str:
    """Search."""
    return query


@pytest.fixture(scope="module")
def registry() -> Registry:
    with CoilClaw.temporary(tools=[search], cache=cache_folder()) as claw:
        return claw.tools.registry


def problems(text: str | bytes, registry: Registry | None, name: str = "daily-check") -> list[str]:
    with pytest.raises(InvalidSop) as found:
        read_sop(name, text.encode() if isinstance(text, str) else text, registry)
    return found.value.problems


def one_step(step: str) -> str:
    return f'name = "daily-check"\ndescription = "x"\n[[steps]]\n{step}'


@pytest.mark.req("R435", "R436", "R437", "R438", "R439", "R440")
def test_the_daily_check_is_read_as_it_is_written(registry: Registry) -> None:
    assert read_sop("daily-check", DAILY_CHECK.encode(), registry) == Sop(
        name="daily-check",
        description="Check workspace and write summary",
        steps=(
            ToolStep(id="list", tool="file_list", arguments={"path": "."}, references={}, on_failure="abort"),
            AgentStep(id="summarise", prompt="Summarise the current workspace files.", on_failure="abort"),
            ApprovalStep(id="confirm", prompt="Write summary to daily-check.txt?"),
            ToolStep(
                id="save",
                tool="file_write",
                arguments={"path": "daily-check.txt"},
                references={"content": "summarise"},
                on_failure="abort",
            ),
        ),
        text=DAILY_CHECK,
    )


@pytest.mark.req("R442", "R443")
def test_all_problems_are_found_in_one_pass(registry: Registry) -> None:
    found = problems(
        """
        nme = "daily-check"
        [[steps]]
        id = "a"
        kind = "tool"
        tool = "file_lst"
        [[steps]]
        id = "a"
        kind = "agent"
        promt = "x"
        [[steps]]
        id = "b"
        kind = "tol"
        [[steps]]
        id = "c"
        kind = "tool"
        tool = "file_write"
        args = { pth = "x", content_from = "later", text_from = "d" }
        on_failure = "stop"
        [[steps]]
        id = "d"
        kind = "approval"
        prompt = "go?"
        """,
        registry,
    )
    assert found == [
        "a SOP has no key 'nme'; did you mean 'name'?",
        "name is missing",
        "description is missing",
        "step 1 (a): there is no tool 'file_lst'; did you mean tools.file_list or tools.file_write?",
        "step 2 (a): another step has the id 'a'",
        "step 2 (a): a step of kind 'agent' has no key 'promt'; did you mean 'prompt'?",
        "step 2 (a): prompt is missing",
        "step 3 (b): kind is tool, agent or approval; did you mean 'tool'?",
        'step 4 (c): on_failure is "abort" or "continue"',
        "step 4 (c): args.content_from: there is no step 'later'",
        "step 4 (c): args.text_from: the step 'd' does not come earlier",
        "step 4 (c): files.write: it has no argument 'pth'; did you mean 'path'?",
        "step 4 (c): files.write: it needs the argument 'path'",
    ]


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ("{ query = 3 }", "desk.search: query: Input should be a valid string"),
        ('{ query = "x", limit = "many" }', "desk.search: limit: Input should be a valid integer"),
        ("{ }", "desk.search: it needs the argument 'query'"),
        ('{ query = "x", limit = nan }', "args.limit is not a finite number"),
        ("{ query = 2026-01-01 }", "args.query is a date; write it as text in quotes"),
        ('{ query = "x", query_from = "y" }', "args has both 'query' and 'query_from'"),
        ("{ query_from = 3 }", "args.query_from is the id of an earlier step"),
        ('{ query_from = "find" }', "args.query_from: the step 'find' does not come earlier"),
        ("3", 'args is a table, such as { path = "." }'),
    ],
)
def test_arguments_are_checked_against_the_tool(registry: Registry, args: str, problem: str) -> None:
    found = problems(one_step(f'id = "find"\nkind = "tool"\ntool = "desk.search"\nargs = {args}'), registry)
    assert [each for each in found if problem in each], found


def test_an_argument_that_ends_in_from_is_that_argument(registry: Registry) -> None:
    text = one_step('id = "find"\nkind = "tool"\ntool = "desk.search"\nargs = { query = "x", date_from = "2026" }')
    (step,) = read_sop("daily-check", text.encode(), registry).steps
    assert isinstance(step, ToolStep)
    assert (dict(step.arguments), dict(step.references)) == ({"query": "x", "date_from": "2026"}, {})


def test_an_approval_has_no_output_and_cannot_be_continued_after_a_denial(registry: Registry) -> None:
    text = """
    name = "daily-check"
    description = "x"
    [[steps]]
    id = "ok"
    kind = "approval"
    prompt = "go?"
    on_failure = "continue"
    [[steps]]
    id = "find"
    kind = "tool"
    tool = "desk.search"
    args = { query_from = "ok" }
    """
    assert problems(text, registry) == [
        "step 1 (ok): a step of kind 'approval' has no key 'on_failure'; it has id, kind, prompt",
        "step 2 (find): args.query_from: the step 'ok' is an approval, which has no output",
    ]


@pytest.mark.req("R446", "R447")
def test_a_step_inherits_what_happens_on_failure_unless_it_says_so_itself(registry: Registry) -> None:
    text = """
    name = "daily-check"
    description = "x"
    on_failure = "continue"
    steps = [
        { id = "a", kind = "tool", tool = "file_list" },
        { id = "b", kind = "tool", tool = "file_list", on_failure = "abort" },
    ]
    """
    steps = read_sop("daily-check", text.encode(), registry).steps
    assert [each.on_failure for each in steps if isinstance(each, ToolStep)] == ["continue", "abort"]


def test_the_name_is_that_of_the_folder() -> None:
    assert "name is 'daily-check', but its folder is called 'other'" in problems(DAILY_CHECK, None, "other")


def test_without_a_registry_tools_are_not_looked_at() -> None:
    assert len(read_sop("daily-check", DAILY_CHECK.encode(), None).steps) == 4


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b'name = "\\ud800"',
        b'name = "\xed\xa0\x80"',
        b"\xff\xfe",
        b"a = " + b"[" * 20_000,
        b"a = " + b"{b=" * 20_000,
        b"[" + b"a." * 20_000 + b"a]",
        b"a = 1\na = 2",
        b"a = " + b"9" * 20_000,
        b"steps = 3",
        b"steps = [1]",
        b"[steps]",
        b"[[steps]]\n" * 5_000,
        b'[[steps]]\nid = ["a"]\nkind = {}',
        b'[[steps]]\nid = "../x"\nkind = "tool"\ntool = "files.list"\nargs = { x = ' + b"[" * 60 + b"]" * 60 + b"}",
    ],
)
def test_hostile_files_are_refused_with_a_reason(data: bytes, registry: Registry) -> None:
    found = problems(data, registry)
    assert found
    assert all(len(each) < 500 for each in found)


def test_an_author_whose_validator_crashes_stops_no_validation() -> None:
    from pydantic import BaseModel, field_validator

    class Odd(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def fail(cls, value: str) -> str:
            raise RuntimeError(value)

    @define_tool(id="odd.one", risk="read", input=Odd, output=str)
    def odd(input: Odd, ctx: ToolContext) -> str:
        """Odd."""
        return input.name

    registry = build_registry([([odd], ())])
    text = one_step('id = "a"\nkind = "tool"\ntool = "odd.one"\nargs = { name = "x" }')
    assert len(read_sop("daily-check", text.encode(), registry).steps) == 1
