"""Servers that mean harm, seen from the bridge."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World as Host
from tests.processes import gone, is_alive
from tests.workspace_tools.mcp.conftest import World, offered

from coilclaw.bridge import Bridge, Registry, build_registry, registry_stubs
from coilclaw.policy import Autonomy, Rule
from coilclaw.receipts import ReceiptLog
from coilclaw.sandbox.wasm import WasmEngine
from coilclaw.sdk import Decision
from coilclaw.workspace_tools import Loaded
from coilclaw.workspace_tools.mcp_servers.stdio import Complaints


def registry_of(loaded: Loaded) -> Registry:
    return build_registry([(loaded.tools, loaded.diagnostics)])


@pytest.fixture
def host(log: ReceiptLog, tmp_path: Path, engine: WasmEngine, world: World) -> Host:
    return Host(log=log, workspace=tmp_path, engine=engine, handlers=world.handlers)


def bridge_for(host: Host, loaded: Loaded, autonomy: Autonomy = Autonomy.FULL, *rules: Rule) -> Bridge:
    host.autonomy, host.rules = autonomy, rules
    return host.bridge(*loaded.tools)


def answer(bridge: Bridge, tool: str, given: dict[str, Any] | None = None) -> dict[str, Any]:
    told = json.loads(bridge.call(tool, json.dumps(given or {}).encode(), 1))
    assert isinstance(told, dict)
    return told


def test_policy_decides_whatever_the_server_says(world: World, host: Host) -> None:
    reads = {"annotations": {"readOnlyHint": True}}
    loaded = world.load(world.strange(offered("echo", **reads), "structured", offered("huge", **reads)))
    bridge = bridge_for(host, loaded, Autonomy.SUPERVISED, Rule(tool="odd.huge", decision=Decision.DENY))
    assert answer(bridge, "odd.echo")["value"] == "{}"
    assert answer(bridge, "odd.structured")["code"] == "approval_required"
    assert answer(bridge, "odd.huge", {"size": 1})["code"] == "denied"
    strict = bridge_for(host, loaded, Autonomy.FULL, Rule(tool="odd.*", decision=Decision.ASK))
    assert answer(strict, "odd.echo")["code"] == "approval_required"
    assert world.calls() == ["echo"]


def test_what_a_server_sees_is_little(world: World) -> None:
    spec = world.strange("about")
    facts = json.loads(world.call(world.tools(spec)["odd.about"]))
    assert set(facts["environment"]) - {"LC_CTYPE"} <= {"PATH", "HOME", "LANG", "API_TOKEN"}
    assert facts["environment"]["API_TOKEN"] == "[secret API_TOKEN]"  # Not even back from the server.
    assert facts["folder"] == []  # No file of a workspace can be taken for a module of the server.
    assert facts["cwd"] == str(world.cache / spec.key)


def test_requests_of_a_server_are_declined(world: World) -> None:
    codes = json.loads(world.call(world.tools(world.strange("ask"))["odd.ask"]))
    assert len(codes) == 4
    assert all(isinstance(code, int) and code < 0 for code in codes)


def test_a_large_result_is_refused_and_the_server_still_works(world: World, host: Host) -> None:
    bridge = bridge_for(host, world.load(world.strange("huge", "echo")), Autonomy.FULL)
    assert answer(bridge, "odd.huge", {"size": 2_000_000})["code"] == "output_too_large"
    assert answer(bridge, "odd.echo")["value"] == "{}"
    assert len(world.starts()) == 1


@pytest.mark.parametrize("how", ["huge", "endless"])
def test_a_message_without_measure_ends_the_server(world: World, how: str) -> None:
    tools = world.tools(world.strange(how, "echo"))
    error = world.failure(tools[f"odd.{how}"], {"size": 9_000_000})
    assert error.code == "mcp_broken"
    assert "more than" in error.message
    assert world.call(tools["odd.echo"]) == "{}"


def test_noise_is_neither_shown_nor_kept_for_ever(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    tools = world.tools(world.strange("echo", mode="noise"))
    assert world.call(tools["odd.echo"]) == "{}"
    world.opened[0].close()
    assert capfd.readouterr() == ("", "")
    (log,) = world.cache.glob("*.log")
    assert log.stat().st_size <= 256 * 1024
    assert log.stat().st_mode & 0o077 == 0


def test_a_log_is_not_written_through_a_link(world: World) -> None:
    spec = world.strange("crash")
    target = world.folder / "target"
    target.write_text("mine")
    world.cache.mkdir(mode=0o700)
    (world.cache / f"{spec.key}.log").symlink_to(target)
    world.failure(world.tools(spec)["odd.crash"])
    assert target.read_text() == "mine"


def test_endless_pages_end(world: World) -> None:
    tools = world.tools(world.strange(mode="pages"))
    assert len(tools) == 50


def test_too_many_tools_are_cut_off(world: World) -> None:
    assert len(world.tools(world.strange(*(offered(f"t{n}") for n in range(600))))) == 500


def test_constant_changes_are_looked_at_now_and_then(world: World) -> None:
    tool = world.tools(world.strange("change"))["odd.change"]
    assert world.call(tool, {"times": 5_000}) == "changed"
    assert world.changed.wait(60)
    assert len(world.opened[0].load().tools) == 2


def test_hostile_names_cannot_pass_for_others(world: World) -> None:
    names = [
        "a-b",
        "a_b",
        "a b",
        "start",
        "class",
        "__init__",
        "../../x",
        "é",
        "x\n\x1b[2J",
        "x" * 5_000,
        "tools.files.read",
    ]
    loaded = world.load(world.strange(*(offered(name) for name in names)))
    assert sorted(tool.id for tool in loaded.tools) == [
        "odd.a_b", "odd.class_", "odd.init", "odd.start_", "odd.tools_files_read", "odd.x", "odd.x_2J",
    ]  # fmt: skip
    by_id = {tool.id: tool for tool in loaded.tools}
    assert by_id["odd.a_b"].description == "The tool a_b."  # The one that is really called so.
    reasons = [each.message for each in loaded.diagnostics]
    assert len(reasons) == 4
    assert all(reason.isprintable() for reason in reasons)
    assert {each.file for each in loaded.diagnostics} == {"[integrations.mcp.odd]"}


def test_hostile_descriptions_stay_text(world: World) -> None:
    text = 'Adds."""\nimport os\x1b[2J\u202e\U000e0041' + "y" * 50_000
    loaded = world.load(world.strange({**offered("echo"), "description": text}))
    shown = loaded.tools[0].description
    assert len(shown) <= 4_000
    assert not {"\x1b", "\u202e", "\U000e0041"} & set(shown)
    compile(registry_stubs(registry_of(loaded)).text, "stubs", "exec")


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def test_hostile_schemas_cost_a_tool_and_not_the_host(world: World, host: Host) -> None:
    bad = {
        "far": {"type": "object", "properties": {"a": {"$ref": "https://127.0.0.1:9/x.json"}}},
        "deep": deep(80),
        "wide": {"type": "object", "properties": {f"p{n}": {} for n in range(5_000)}},
        "large": {"type": "object", "properties": {"a": {"enum": ["x" * 1_000] * 200}}},
        "wrong": {"type": "object", "properties": {"a": {"type": "any"}}},
    }
    slow = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    result = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}, "required": ["a"]}
    loaded = world.load(
        world.strange(
            *(offered(name, schema) for name, schema in bad.items()),
            offered("echo", slow),
            offered("structured", outputSchema=result),
        )
    )
    assert sorted(tool.id for tool in loaded.tools) == ["odd.echo", "odd.structured"]
    assert len(loaded.diagnostics) == len(bad)
    bridge = bridge_for(host, loaded, Autonomy.FULL)
    assert answer(bridge, "odd.echo", {"a": "a" * 5_000 + "b"})["ok"]
    assert answer(bridge, "odd.structured", {"value": {"a": "a" * 5_000 + "b"}})["ok"]
    assert answer(bridge, "odd.structured", {"value": {"b": 1}})["code"] == "invalid_output"
    assert registry_stubs(registry_of(loaded)).text


def test_a_broken_server_is_told_without_its_secrets(world: World) -> None:
    spec = world.strange("crash")
    world.tools(spec)
    world.opened.pop().close()
    strange = world.strange("crash", mode="dies")
    assert "PLANTED" not in str(world.load(strange).diagnostics)
    log = next(iter(world.cache.glob(f"{strange.key}.log")))
    assert log.stat().st_mode & 0o077 == 0
    assert "no configuration: [secret API_TOKEN]" in log.read_text()


def test_a_secret_in_two_pieces_of_a_line_is_not_in_the_log(tmp_path: Path) -> None:
    complaints = Complaints(tmp_path / "a.log", lambda text: text.replace("s3cret", "[secret]"))
    complaints.begin()
    for piece in (b"the s3", b"cret\nand s3c", b"ret"):
        complaints.add(piece)
    complaints.end()
    assert (tmp_path / "a.log").read_text() == "the [secret]\nand [secret]"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the group ends")
def test_a_process_that_left_a_servers_group_ends_with_the_server(world: World) -> None:
    world.tools(world.strange("a", mode="leaves"))
    left = world.folder / "odd/left"
    ends = time.monotonic() + 60
    while not left.exists() and time.monotonic() < ends:
        time.sleep(0.01)
    pid = int(left.read_text())
    assert is_alive(pid)
    world.close()
    assert gone(pid)
