"""The inspector's command line, a client that others wrote."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from tests.mcp_server.conftest import Home
from tests.workspace_tools.mcp.test_real_servers import from_npm


def inspect(home: Home, *arguments: str) -> Any:
    (program,) = from_npm("mcp-inspector")
    line = [program, "--cli", *home.line, "mcp", "serve", *arguments]
    environment = {**home.environment, "PATH": home.environment["PATH"]}
    for name in ("HOME", "XDG_CACHE_HOME", "NOTES_KEY"):
        line[2:2] = ["-e", f"{name}={environment[name]}"]
    done = subprocess.run(line, capture_output=True, text=True, env=environment, cwd=home.folder, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_and_calls_tools_meets_an_approval_and_continues(home: Home) -> None:
    listed = inspect(home, "--method", "tools/list")
    assert [each["name"] for each in listed["tools"]] == ["run_python", "search_tools", "get_run", "list_pending"]
    called = ["--method", "tools/call", "--tool-name"]
    done = inspect(home, *called, "run_python", "--tool-arg", "code=6 * 7")
    assert done["structuredContent"]["value"] == 42
    waits = inspect(home, *called, "run_python", "--tool-arg", "code=tools.notes.add(text='x').unwrap()")
    facts = waits["structuredContent"]
    assert (facts["status"], home.notes) == ("suspended", "")
    assert home("approval", "approve", facts["approvals"][0]["id"]).code == 0
    again = inspect(home, *called, "get_run", "--tool-arg", f"run_id={facts['run_id']}")
    assert (again["structuredContent"]["value"], home.notes) == ("added x", "x\n")
