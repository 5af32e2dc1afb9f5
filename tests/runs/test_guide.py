"""`dir()` and `help()` show tools rather than the objects that stand for them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.runs.conftest import Replays

from coilclaw.bridge import build_registry, registry_tools
from coilclaw.runs import RunReport
from coilclaw.sandbox import Limits, Snippet
from coilclaw.sdk import ToolContext, define_tool


@define_tool(id="crm.contacts.find", risk="read")
def find(ctx: ToolContext, email: str, limit: int = 3) -> list[str]:
    """Contacts by their address."""
    return []


@define_tool(id="mail.send", risk="write")
def send(ctx: ToolContext, to: str) -> None:
    """Send a mail."""


def run(world: Replays, source: str, *, own: Any = registry_tools) -> RunReport:
    registry = build_registry([((find, send), ())], own=own)
    report = world.runtime.run(Snippet(source=source), world.engine, registry, Limits())
    assert report.status == "completed", report.error
    return report


def test_dir_lists_tools_and_folders(either: Replays) -> None:
    source = "[dir(tools), dir(tools.crm), dir(tools.crm.contacts), dir(tools.mail.send), dir(tools.nothing)]"
    assert run(either, source).value == [["crm", "mail", "registry"], ["contacts"], ["find"], ["start"], []]


def test_help_prints_signature_and_description(either: Replays) -> None:
    told = run(either, "help(tools.crm.find)\nhelp(tools.mail)\nhelp(tools.nothing)\nhelp()").stdout
    assert "def find(email: str, limit: int = 3) -> Result[list[str]]:" in told
    assert '"""Contacts by their address."""' in told
    assert "# tools.mail.send(to): Send a mail." in told
    assert "tools.nothing: no tool of this name can be described" in told
    assert "dir(tools) lists the tools" in told
    assert "Completions" not in told


def test_help_for_anything_else_is_what_python_says(either: Replays) -> None:
    told = run(either, 'def f():\n    """What f does."""\nhelp(f)\nhelp(Ok)').stdout
    assert "What f does." in told
    assert "Ok" in told


def test_looking_is_a_call_like_any_other(either: Replays) -> None:
    report = run(either, "dir(tools.crm)")
    registry = build_registry([((find, send), ())], own=registry_tools)
    assert [each.tool for each in either.world.log.latest(10) if each.type == "tool.call.succeeded"] == [
        "registry.describe"
    ]
    again = either.runtime.replay(report.run_id, lambda name: either.engine, registry)
    assert again.identical, again.difference


@pytest.mark.parametrize("source", ["dir(tools)", "try:\n    tools._private\nexcept AttributeError:\n    pass\n[]"])
def test_without_a_registry_to_ask_there_is_nothing_to_list(either: Replays, source: str) -> None:
    assert run(either, source, own=None).value == []


def test_a_missing_attribute_asks_nobody(either: Replays) -> None:
    registry = build_registry([((find, send), ())], own=registry_tools)
    source = "getattr(tools, '_private')"
    either.runtime.run(Snippet(source=source), either.engine, registry, Limits())
    assert not [each for each in either.world.log.latest(10) if each.type.startswith("tool.")]
