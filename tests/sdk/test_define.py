"""`define_tool`: what it makes, and how it refuses."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, ValidationError

from coilclaw.sdk import Decision, Risk, Tool, ToolContext, ToolDefinitionError, define_tool

CONTEXT = ToolContext(workspace=Path())


class Visitors(BaseModel):
    website: str
    count: int


class Job(BaseModel):
    website: str
    threshold: float
    cron: str


@pytest.mark.req("R25", "R26", "R28", "R29", "R62", "R63", "R97")
def test_decorator_reads_the_contract_from_the_signature() -> None:
    @define_tool(id="posthog.analytics.getVisitors", risk="read", policy={"default": "allow"})
    async def get_visitors(ctx: ToolContext, project_id: str, website: str = "example.org") -> Visitors:
        """Unique visitors."""
        return Visitors(website=website, count=len(project_id))

    assert isinstance(get_visitors, Tool)
    assert (get_visitors.id, get_visitors.integration) == ("posthog.analytics.getVisitors", "posthog")
    assert get_visitors.input.model_validate({"project_id": "p"}, strict=True) == get_visitors.input(project_id="p")
    for wrong in ({}, {"project_id": 1}, {"project_id": "p", "website": None}):
        with pytest.raises(ValidationError):
            get_visitors.input.model_validate(wrong, strict=True)
    assert get_visitors.risk is Risk.READ
    assert get_visitors.default_decision is Decision.ALLOW
    assert get_visitors.description == "Unique visitors."
    assert get_visitors.parameters == ("project_id", "website")
    assert get_visitors.required_parameters == {"project_id"}
    assert get_visitors.output_schema["properties"]["count"]["type"] == "integer"
    assert get_visitors.is_async
    assert asyncio.run(get_visitors(CONTEXT, "abc")).count == 3


@pytest.mark.req("R27", "R96", "R98")
def test_explicit_form_takes_a_model_and_a_handler() -> None:
    async def handler(input: Job, ctx: ToolContext) -> dict[str, str]:
        return {"job": input.website}

    tool = define_tool(
        id="posthog.monitor.createThresholdJob", risk="write", input=Job, policy={"default": "ask"}, handler=handler
    )
    assert tool.takes_model
    assert tool.default_decision is Decision.ASK
    assert tool.parameters == ("website", "threshold", "cron")


@pytest.mark.req("R27")
def test_requires_approval_means_ask() -> None:
    @define_tool(id="a.b", risk="read", requires_approval=True)
    def careful(ctx: ToolContext) -> None:
        return None

    assert careful.default_decision is Decision.ASK


def test_version_changes_with_the_contract_and_with_the_source() -> None:
    from dataclasses import replace

    @define_tool(id="a.b", risk="read")
    def first(ctx: ToolContext, x: int) -> int:
        return x

    @define_tool(id="a.b", risk="read")
    def second(ctx: ToolContext, x: str) -> int:
        return 0

    versions = {first.version, second.version, replace(first, source_digest="other").version}
    assert len(versions) == 3


def bad_id() -> None:
    define_tool(id="nodots", risk="read", handler=lambda ctx: None, output=int)


def keyword_id() -> None:
    define_tool(id="a.import", risk="read", handler=lambda ctx: None, output=int)


def reserved_id() -> None:
    define_tool(id="timer.start", risk="read", handler=lambda ctx: None, output=int)


def bad_risk() -> None:
    define_tool(id="a.b", risk="extreme", handler=lambda ctx: None, output=int)  # type: ignore[call-overload]


def bad_policy() -> None:
    define_tool(id="a.b", risk="read", policy="maybe", handler=lambda ctx: None, output=int)


def bad_timeout() -> None:
    define_tool(id="a.b", risk="read", timeout=0, handler=lambda ctx: None, output=int)


def hosts_as_string() -> None:
    define_tool(id="a.b", risk="read", hosts="example.org", handler=lambda ctx: None, output=int)


def bad_example() -> None:
    define_tool(id="a.b", risk="read", input=Job, examples=[{"website": 1}], handler=lambda i, ctx: 1, output=int)


def bad_summary() -> None:
    define_tool(id="a.b", risk="read", input=Job, summary="Made {nothing}", handler=lambda i, ctx: 1, output=int)


def no_output() -> None:
    def handler(ctx: ToolContext, x: int):  # type: ignore[no-untyped-def]
        return x

    define_tool(id="a.b", risk="read", handler=handler)


def untyped_parameter() -> None:
    def handler(ctx: ToolContext, x) -> int:  # type: ignore[no-untyped-def]
        return 1

    define_tool(id="a.b", risk="read", handler=handler)


def star_arguments() -> None:
    def handler(ctx: ToolContext, *args: int) -> int:
        return 1

    define_tool(id="a.b", risk="read", handler=handler)


def not_json() -> None:
    def handler(ctx: ToolContext, x: object) -> int:
        return 1

    class Opaque:
        pass

    handler.__annotations__["x"] = Opaque
    define_tool(id="a.b", risk="read", handler=handler)


@pytest.mark.parametrize(
    ("define", "field"),
    [
        (bad_id, "id"),
        (keyword_id, "id"),
        (reserved_id, "id"),
        (bad_risk, "risk"),
        (bad_policy, "policy"),
        (bad_timeout, "timeout"),
        (hosts_as_string, "hosts"),
        (bad_example, "examples"),
        (bad_summary, "summary"),
        (no_output, "output"),
        (untyped_parameter, "x"),
        (star_arguments, "handler"),
        (not_json, "input"),
    ],
)
def test_bad_contract_names_file_line_and_field(define: Any, field: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        define()
    error = caught.value
    assert error.field == field
    assert error.file == __file__
    first = define.__code__.co_firstlineno
    assert error.line is not None
    assert first <= error.line <= first + 12
    assert str(error).startswith(f"{__file__}:{error.line}: {field}: ")


def test_annotated_constraints_reach_the_schema() -> None:
    @define_tool(id="a.b", risk="read")
    def limited(ctx: ToolContext, n: Annotated[int, Field(ge=1, le=5)]) -> int:
        return n

    assert limited.input_schema["properties"]["n"]["maximum"] == 5


def test_importing_the_sdk_stays_light() -> None:
    code = (
        "import sys, coilclaw.sdk; "
        "heavy = {'wasmtime', 'httpx', 'apsw', 'click', 'asyncio'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
