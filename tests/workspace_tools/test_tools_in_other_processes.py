"""Plugins and MCP servers as a snippet sees them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import World
from tests.workspace_tools.mcp.conftest import World as Servers
from tests.workspace_tools.mcp.conftest import offered
from tests.workspace_tools.test_plugins import PATH, plugin

from coilclaw.policy import Autonomy
from coilclaw.workspace_tools.plugins import load_plugins

SNIPPET = """
calls = [tools.odd.echo.start(n=n) for n in range(5)] + [tools.weather.forecast.start(city=str(n)) for n in range(3)]
values = [call.result().unwrap() for call in calls]
bad = tools.odd.echo({"n": "one"})
[values[4], values[7]["input"]["city"], bad.error.code]
"""


@pytest.mark.req("R452")
def test_a_snippet_calls_them_side_by_side_with_receipts(world: World, tmp_path: Path) -> None:
    servers = Servers(tmp_path)
    plugin(tmp_path / "plugins")
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    try:
        tools = [
            *servers.load(servers.strange(offered("echo", schema))).tools,
            *load_plugins(tmp_path / "plugins", path=PATH).tools,
        ]
        report = world.run(SNIPPET, *tools)
        assert report.value == ['{"n": 4}', "2", "invalid_input"]
        assert world.types().count("tool.call.succeeded") == 8
        world.autonomy = Autonomy.SUPERVISED
        refused = world.run("tools.weather.forecast().error.code", *tools)
        assert refused.value == "approval_required"
    finally:
        servers.close()


def test_secrets_of_a_plugin_are_kept_out_of_what_leaves_it(world: World, tmp_path: Path) -> None:
    program = '#!/bin/sh\necho "my key is $WEATHER_KEY" >&2\nexit 1\n'
    plugin(tmp_path / "plugins", program, extra='secrets = ["WEATHER_KEY"]')
    tools = load_plugins(tmp_path / "plugins", path=PATH).tools
    assert world.run("tools.weather.forecast().error.code", *tools).value == "missing_secret"
    world.secrets["WEATHER_KEY"] = "COILCLAW-PLANTED-key"
    told = world.run("tools.weather.forecast().error.message", *tools).value
    assert "my key is [secret WEATHER_KEY]" in str(told)
