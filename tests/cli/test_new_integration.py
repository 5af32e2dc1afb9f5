"""An integration from elsewhere: one folder on Python's path, and nothing else."""

from __future__ import annotations

import os

import pytest
from tests.cli.conftest import Command

CLIENT = '''
"""What knows the service."""

def report(city: str, days: int) -> list[str]:
    return [f"{city}, day {day}: rain" for day in range(1, days + 1)]
'''

TOOLS = '''
"""The weather."""

from typing import Annotated

from pydantic import Field

from coilclaw.integrations.weather import client
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="weather.reports.list", risk="read")
def list_reports(ctx: ToolContext, city: str, days: Annotated[int, Field(ge=1, le=3)] = 1) -> list[str]:
    """The weather of the next days."""
    return client.report(city, days)

@define_tool(id="weather.reports.order", risk="write")
def order(ctx: ToolContext, city: str) -> str:
    """Order sunshine."""
    return "ordered"
'''


@pytest.fixture
def foreign(coilclaw: Command) -> Command:
    folder = coilclaw.folder / "elsewhere/coilclaw/integrations/weather"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(TOOLS)
    (folder / "client.py").write_text(CLIENT)
    path = [str(coilclaw.folder / "elsewhere"), coilclaw.environment.get("PYTHONPATH")]
    coilclaw.environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    return coilclaw


@pytest.mark.req("R13", "R125")
def test_an_integration_is_one_folder_with_contracts_a_client_and_validation(foreign: Command) -> None:
    source = """
listed = tools.weather.reports.list(city="Oslo", days=2).unwrap()
[listed, tools.weather.reports.list(**{"city": "Oslo", "days": 9}).code]
"""
    ran = foreign("run", "-", "--json", stdin=source)
    assert ran.json["value"] == [["Oslo, day 1: rain", "Oslo, day 2: rain"], "invalid_input"]
    assert [item["tool_id"] for item in ran.json["activity"]] == ["weather.reports.list"] * 2
    shown = foreign("tool", "show", "weather.reports.list", "--json").json
    assert (shown["risk"], set(shown["input_schema"]["properties"])) == ("read", {"city", "days"})


@pytest.mark.req("R13")
def test_its_writes_ask_as_those_of_any_other(foreign: Command) -> None:
    waits = foreign("run", "-", "--json", stdin="tools.weather.reports.order(city='Oslo').unwrap()")
    assert (waits.code, waits.json["status"]) == (3, "suspended")
    assert foreign("run", "-", "--json", "--yes", stdin="tools.weather.order(city='Oslo').unwrap()").json["value"] == (
        "ordered"
    )
