"""A tool that was written through the bridge runs after a person trusted it, and the receipts prove what it did."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command
from tests.conftest import World

from coilclaw.policy import Autonomy
from coilclaw.sdk import Decision, Risk
from coilclaw.workspace_tools import load_workspace

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/posthog_monitor"
KEY = "phx_COILCLAW-PLANTED-test-key"
FILES = ("tools/posthog_custom/client.py", "tools/posthog_custom/tools.py")
QUERY = "/api/projects/17/query/"
READ, WRITE = "posthog_custom.analytics.getVisitors", "posthog_custom.monitor.createThresholdJob"


@pytest.fixture
def coilclaw(tmp_path: Path, engine: object) -> Command:
    made = Command(tmp_path)
    made.workspace.mkdir(parents=True)
    made.environment["POSTHOG_API_KEY"] = KEY
    return made


@pytest.fixture
def posthog() -> Iterator[Any]:
    spec = importlib.util.spec_from_file_location("posthog_stand_in", EXAMPLE / "stand_in.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    with module.StandIn(KEY) as server:
        yield server
    del sys.modules[spec.name]


def run(coilclaw: Command, snippet: str, *options: str) -> Any:
    return coilclaw("run", EXAMPLE / "assistant" / snippet, "--workspace", coilclaw.workspace, "--json", *options).json


def states(report: Any) -> list[tuple[str, str]]:
    return [(item["tool_id"], item["status"]) for item in report["activity"]]


@pytest.mark.req("R32", "R33", "R95", "R99", "R100", "R101", "R102")
def test_a_tool_is_written_trusted_and_used_and_the_receipts_prove_it(coilclaw: Command, posthog: Any) -> None:
    (coilclaw.home / "config.toml").write_text(f'[integrations.posthog_custom]\nurl = "{posthog.url}"\n')
    client, contract = ((EXAMPLE / "proposal" / name).read_text() for name in ("client.py", "tools.py"))
    texts = ("--input", f"client={json.dumps(client)}", "--input", f"contract={json.dumps(contract)}")

    wrote = run(coilclaw, "write_tools.py", "--yes", *texts)
    assert states(wrote) == [("files.write", "succeeded")] * 2
    assert [(coilclaw.workspace / name).read_text() for name in FILES] == [client, contract]

    early = run(coilclaw, "use_tools.py", "--yes")
    assert (early["status"], early["activity"], posthog.requests) == ("rejected", [], [])
    assert "coilclaw tool trust tools/posthog_custom/" in early["error"]["hint"]

    # One file is not enough: the other is imported by it, and nobody trusts that one.
    half = coilclaw("tool", "trust", FILES[1], "--yes", "--workspace", coilclaw.workspace)
    assert half.code == 0, half.err
    assert run(coilclaw, "use_tools.py", "--yes")["status"] == "rejected"
    assert coilclaw("tool", "trust", FILES[0], "--yes", "--workspace", coilclaw.workspace).code == 0

    waiting = run(coilclaw, "use_tools.py")
    assert waiting["status"] == "suspended"
    assert states(waiting) == [(READ, "succeeded"), (WRITE, "pending")]
    assert [request.path for request in posthog.requests] == [QUERY]
    [question] = waiting["approvals"]
    shown = coilclaw("approval", "show", question["id"], "--json").json
    assert (shown["tool"], shown["arguments"]["threshold"], shown["line"]) == (WRITE, 1000.0, 8)
    assert len(posthog.requests) == 1

    workspace = ("--workspace", coilclaw.workspace)
    approved = coilclaw("approval", "approve", question["id"], "--resume", *workspace, "--json").json
    assert states(approved) == [(READ, "succeeded"), (WRITE, "succeeded")]
    # The read of before the wait was not made again, and the write was made once.
    assert [request.path for request in posthog.requests] == [QUERY, "/api/threshold_jobs/"]
    assert coilclaw("approval", "approve", question["id"], "--resume", *workspace).code != 0
    assert coilclaw("resume", waiting["run_id"], *workspace).code != 0
    assert len(posthog.requests) == 2
    assert "monitor job-1 tells when there are fewer than 1000.0" in approved["stdout"]

    # What the server got carries the id of the call, and the receipt of that call holds what it answered.
    receipt = coilclaw("receipt", "show", approved["activity"][1]["receipt_ref"], "--json").json
    [job] = posthog.jobs
    assert job["idempotency_key"] == receipt["tool_call_id"]
    assert receipt["arguments"] == {"website": "example.org", "threshold": 1000.0, "cron": "0 * * * *"}
    assert receipt["result"]["job_id"] == job["id"]
    assert all(request.authorised for request in posthog.requests)
    assert coilclaw("receipt", "verify").code == 0
    assert KEY not in coilclaw("receipt", "export").out


def test_a_trusted_tool_that_is_written_again_waits_again(coilclaw: Command, posthog: Any) -> None:
    (coilclaw.home / "config.toml").write_text(f'[integrations.posthog_custom]\nurl = "{posthog.url}"\n')
    client, contract = ((EXAMPLE / "proposal" / name).read_text() for name in ("client.py", "tools.py"))
    texts = ("--input", f"client={json.dumps(client)}", "--input", f"contract={json.dumps(contract)}")
    run(coilclaw, "write_tools.py", "--yes", *texts)
    assert coilclaw("tool", "trust", *FILES, "--yes", "--workspace", coilclaw.workspace).code == 0
    stolen = client.replace('"Authorization"', '"X-Stolen"')
    run(coilclaw, "write_tools.py", "--yes", "--input", f"client={json.dumps(stolen)}", *texts[2:])
    assert (coilclaw.workspace / FILES[0]).read_text() == stolen
    run(coilclaw, "use_tools.py", "--yes")
    assert [request for request in posthog.requests if not request.authorised] == []


@pytest.mark.req("R99", "R101", "R102")
def test_the_demo_goes_as_it_tells(coilclaw: Command) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLE / "demo.py"], capture_output=True, text=True, env=coilclaw.environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "coilclaw tool trust tools/posthog_custom/" in done.stdout
    before, after = done.stdout.partition("\n5. ")[::2]
    assert re.search(rf"pending +{re.escape(WRITE)}", before)
    assert "job-1" not in before
    assert after.count("monitor job-1 tells") == 1
    assert after.count("  POST /api/") == 2
    assert "Valid: " in after


_BOTH = """
seen = tools.posthog.analytics.getVisitors(project_id="17", website="example.org").unwrap()
made = tools.posthog.monitor.createThresholdJob(website="example.org", threshold=10, cron="0 * * * *")
[seen["visitors"], made.unwrap()["job_id"] if made.ok else made.code]
"""


@pytest.mark.req("R95", "R96", "R97", "R98")
def test_the_same_module_works_under_the_name_posthog_where_that_is_free(world: World, posthog: Any) -> None:
    """The ids of the requirement. In the command they belong to the built-in integration, so the demo has others."""
    folder = world.workspace / "tools/posthog"
    folder.mkdir(parents=True)
    for name in ("client.py", "tools.py"):
        (folder / name).write_text((EXAMPLE / "proposal" / name).read_text().replace("posthog_custom", "posthog"))
    loaded = load_workspace(world.workspace)
    assert loaded.diagnostics == []
    tools = {tool.id: tool for tool in loaded.tools}
    read, write = tools["posthog.analytics.getVisitors"], tools["posthog.monitor.createThresholdJob"]
    assert (read.risk, read.default_decision, read.parameters) == (
        Risk.READ, Decision.ALLOW, ("project_id", "website"),
    )  # fmt: skip
    assert (write.risk, write.default_decision, write.parameters) == (
        Risk.WRITE, Decision.ASK, ("website", "threshold", "cron"),
    )  # fmt: skip
    assert read.is_async
    assert read.takes_model
    world.secrets["POSTHOG_API_KEY"] = KEY
    world.options["settings"] = lambda integration: {"url": posthog.url} if integration == "posthog" else {}
    world.autonomy = Autonomy.FULL  # The contract's own default still asks.
    assert world.run(_BOTH, read, write).value == [1250, "approval_required"]
    assert [request.path for request in posthog.requests] == ["/api/projects/17/query/"]
