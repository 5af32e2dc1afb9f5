"""The official client and the server over stdio, in both eras of the protocol."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import anyio
import pytest
from mcp_types import ElicitResult
from tests.mcp_server.conftest import Home, approve, text_of

ADD = "print('before')\ntools.notes.add(text='x').unwrap()"
ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])


@ERAS
def test_tools_are_listed_and_a_snippet_is_run(home: Home, mode: str) -> None:
    async def talk() -> None:
        async with home.client(mode=mode) as client:
            tools = {each.name: each for each in (await client.list_tools()).tools}
            assert list(tools) == ["run_python", "search_tools", "get_run", "list_pending"]
            assert "def add(" in (tools["run_python"].description or "")
            done = await client.call_tool("run_python", {"code": "print('hi')\n[n] * 2", "inputs": {"n": 4}})
            assert not done.is_error
            assert (done.structured_content["value"], done.structured_content["stdout"]) == ([4, 4], "hi\n")
            assert "value: [4, 4]" in text_of(done)
            wrong = await client.call_tool("run_python", {"code": "1\n1/0"})
            assert wrong.is_error
            assert "error in line 2: ZeroDivisionError" in text_of(wrong)
            found = await client.call_tool("search_tools", {"query": "add a note"})
            assert found.structured_content["tools"][0]["id"] == "notes.add"
            assert "def add(" in text_of(found)

    anyio.run(talk)


@ERAS
def test_the_person_at_the_client_approves_a_call(home: Home, mode: str) -> None:
    async def talk() -> Any:
        async with home.client(approve, mode) as client:
            return await client.call_tool("run_python", {"code": ADD})

    done = anyio.run(talk)
    assert done.structured_content["value"] == "added x"
    assert home.notes == "x\n"
    (message,) = home.asked
    assert "notes.add (write)" in message
    assert '{"text": "x"}' in message
    (item,) = done.structured_content["activity"]
    assert item["decided_by"] == "the person at MCP client 'mcp' (stdio)"
    assert home("receipt", "verify").code == 0


@ERAS
def test_the_person_at_the_client_denies_a_call(home: Home, mode: str) -> None:
    def decline(message: str) -> ElicitResult:
        return ElicitResult(action="decline")

    async def talk() -> Any:
        async with home.client(decline, mode) as client:
            return await client.call_tool("run_python", {"code": "tools.notes.add(text='x').error.code"})

    done = anyio.run(talk)
    assert done.structured_content["activity"][0]["status"] == "denied"
    assert home.notes == ""


@ERAS
def test_a_call_that_nobody_decides_here_is_continued_after_the_decision(home: Home, mode: str) -> None:
    async def talk() -> None:
        async with home.client(mode=mode) as client:
            waits = await client.call_tool("run_python", {"code": ADD})
            assert not waits.is_error
            assert waits.structured_content["status"] == "suspended"
            (asked,) = waits.structured_content["approvals"]
            run_id = waits.structured_content["run_id"]
            assert asked["id"] in text_of(waits)
            assert f'get_run with run_id "{run_id}"' in text_of(waits)
            listed = await client.call_tool("list_pending", {})
            assert [each["id"] for each in listed.structured_content["approvals"]] == [asked["id"]]
            again = await client.call_tool("get_run", {"run_id": run_id})
            assert (again.structured_content["status"], home.notes) == ("suspended", "")
            assert (await anyio.to_thread.run_sync(home, "approval", "approve", asked["id"])).code == 0
            done = await client.call_tool("get_run", {"run_id": run_id})
            assert (done.structured_content["status"], home.notes) == ("completed", "x\n")
            once = await client.call_tool("get_run", {"run_id": run_id})
            assert (once.structured_content["value"], home.notes) == ("added x", "x\n")

    anyio.run(talk)


def test_elicitation_can_be_turned_off(home: Home) -> None:
    home.configure('[mcp_server]\nelicitation = "off"\n')

    async def talk() -> Any:
        async with home.client(approve) as client:
            return await client.call_tool("run_python", {"code": ADD})

    assert anyio.run(talk).structured_content["status"] == "suspended"
    assert (home.asked, home.notes) == ([], "")


@ERAS
def test_tools_can_be_called_directly_if_configured(home: Home, mode: str) -> None:
    home.configure('[mcp_server]\ndirect_tools = ["notes.*", "time.now"]\n')

    async def talk() -> None:
        async with home.client(approve, mode) as client:
            tools = {each.name: each for each in (await client.list_tools()).tools}
            assert {"notes__add", "time__now"} <= tools.keys()
            assert "files__read" not in tools
            reads = {
                name: each.annotations is not None and each.annotations.read_only_hint for name, each in tools.items()
            }
            assert (reads["time__now"], reads["notes__add"]) == (True, False)
            now = await client.call_tool("time__now", {})
            assert now.structured_content["timezone"]
            added = await client.call_tool("notes__add", {"text": "y"})
            assert added.structured_content == {"result": "added y"}
            wrong = await client.call_tool("notes__add", {"words": "y"})
            assert wrong.is_error
            assert "invalid_input" in text_of(wrong)

    anyio.run(talk)
    assert home.notes == "y\n"


def test_a_cancelled_request_cancels_its_run(home: Home) -> None:
    async def talk() -> None:
        async with home.client(mode="legacy") as client:
            with anyio.move_on_after(60) as scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(client.call_tool, "run_python", {"code": "tools.notes.slow()"})
                    while not (home.workspace / "slow-began").exists():
                        await anyio.sleep(0.02)
                    tasks.cancel_scope.cancel()
            assert not scope.cancelled_caught
            fine = await client.call_tool("run_python", {"code": "1"})
            assert fine.structured_content["value"] == 1

    anyio.run(talk)
    runs = home("run", "list", "--json").json
    assert "cancelled" in json.dumps(runs)
    assert home("receipt", "verify").code == 0


def test_the_server_survives_what_is_no_message_and_ends_with_its_input(home: Home) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    lines = [
        b"not json",
        b"[]",
        b'{"jsonrpc": "1.0", "id": 1}',
        b'{"jsonrpc": "2.0", "id": {}, "method": "x"}',
        b"\xff\xfe",
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode(),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode(),
        b"x" * (9 * 1024 * 1024),
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "no/such", "params": {}}).encode(),
        json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": 5}}).encode(),
        json.dumps({"jsonrpc": "2.0", "id": 4, "method": "tools/list"}).encode(),
    ]
    server = subprocess.Popen(
        [*home.line, "mcp", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=home.environment,
        cwd=home.folder,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        server.stdin.write(b"\n".join(lines) + b"\n")
        server.stdin.flush()
        answers: dict[Any, Any] = {}
        while 4 not in answers:
            answer = json.loads(server.stdout.readline())
            answers[answer["id"]] = answer
        server.stdin.close()
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    assert answers[None]["error"]["message"] == "the message is too long"
    assert answers[2]["error"]["code"] == -32601
    assert answers[3]["error"]["code"] == -32602
    assert len(answers[4]["result"]["tools"]) == 4


def test_a_client_that_dies_leaves_receipts_that_hold(home: Home) -> None:
    async def talk() -> None:
        async with home.client(mode="legacy") as client, anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "run_python", {"code": "tools.notes.slow()"})
            while not (home.workspace / "slow-began").exists():
                await anyio.sleep(0.02)
            raise ConnectionResetError

    with pytest.raises(BaseExceptionGroup):
        anyio.run(talk)
    assert home("receipt", "verify").code == 0
    (run,) = home("run", "list", "--json").json
    assert run["status"] in ("cancelled", "orphaned")
