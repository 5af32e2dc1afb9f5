"""The commands and the configuration of docs/mcp.md, executed as they stand."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import anyio
import pytest
from tests.cli.conftest import Command
from tests.mcp_server.conftest import Home

from coilclaw.mcp_server import CLIENTS

TEXT = (Path(__file__).resolve().parents[2] / "docs/mcp.md").read_text()
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_prints_a_configuration_and_changes_nothing(coilclaw: Command, line: str) -> None:
    program, *arguments = line.split()
    assert program == "coilclaw"
    before = sorted(coilclaw.folder.rglob("*"))
    done = coilclaw(*arguments)
    assert done.code == 0
    read = tomllib.loads(done.out) if "codex" in arguments else json.loads(done.out)
    (servers,) = read.values()
    assert list(servers) == ["coilclaw"]
    assert ("mcp" in servers["coilclaw"].get("args", ())) is ("--http" not in arguments)
    assert sorted(coilclaw.folder.rglob("*")) == before


def test_every_client_has_its_command_and_a_form_for_http(coilclaw: Command) -> None:
    named = {line.split()[3] for line in COMMANDS}
    assert named == set(CLIENTS)
    for name in CLIENTS:
        done = coilclaw("mcp", "config", name, "--http", "http://127.0.0.1:8625/mcp")
        assert "http://127.0.0.1:8625/mcp" in done.out
        assert "YOUR_TOKEN" in done.out or "COILCLAW_TOKEN" in done.out


def test_the_printed_command_starts_the_server(home: Home) -> None:
    server = home("mcp", "config", "generic").json["mcpServers"]["coilclaw"]
    assert server["args"] == ["mcp", "serve"]
    assert Path(server["command"]).name == "coilclaw"


def test_the_page_names_what_a_client_gets(home: Home) -> None:
    (configuration,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    home.configure(configuration)
    home.tool(
        "crm/crm.py",
        "from coilclaw.sdk import ToolContext, define_tool\n\n"
        '@define_tool(id="crm.lookup", risk="read")\ndef lookup(ctx: ToolContext) -> int:\n    """Look."""\n    return 1\n',
    )

    async def talk() -> list[str]:
        async with home.client() as client:
            return [each.name for each in (await client.list_tools()).tools]

    table = re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE)
    assert anyio.run(talk) == [*table, "crm__lookup"]


@pytest.fixture
def home(tmp_path: Path, engine: object) -> Home:
    return Home(tmp_path)


@pytest.fixture
def coilclaw(tmp_path: Path) -> Command:
    return Command(tmp_path)
