"""Hostile clients and hostile models: forged states, swapped answers, floods, and a yes of the model's own."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult, InputRequiredResult
from tests.mcp_server.conftest import Home, approve, text_of

from coilclaw.mcp_server.approval_form import form_for
from coilclaw.mcp_server.catalogue import _names
from coilclaw.mcp_server.executions import Executions, TooBusy

YES = ElicitResult(action="accept", content={"call_1": "approve"})
CODE = "tools.notes.add(text='x').unwrap()"


def test_a_state_that_was_forged_swapped_or_moved_approves_nothing(home: Home) -> None:
    async def talk() -> None:
        async with home.client(approve) as client:

            async def ask(code: str, **more: Any) -> Any:
                return await client.session.call_tool("run_python", {"code": code}, allow_input_required=True, **more)

            asked = await ask(CODE)
            assert isinstance(asked, InputRequiredResult)
            state = str(asked.request_state)
            assert "run-" not in state
            plain = json.dumps({"run": "run-1", "shown": {}})
            cut = state[:-4] + ("AAAA" if not state.endswith("AAAA") else "BBBB")
            for forged in (plain, "", "v1.AAAA", cut):
                with pytest.raises(MCPError, match="requestState"):
                    await ask(CODE, request_state=forged, input_responses={"approval": YES})
            with pytest.raises(MCPError, match="requestState"):  # Moved to another request.
                await ask("tools.notes.add(text='y')", request_state=state, input_responses={"approval": YES})
            assert home.notes == ""
            done = await ask(CODE, request_state=state, input_responses={"approval": YES})
            assert done.structured_content["value"] == "added x"
            again = await ask(CODE, request_state=state, input_responses={"approval": YES})
            assert again.structured_content["run_id"] == done.structured_content["run_id"]

    anyio.run(talk)
    assert home.notes == "x\n"


def test_a_yes_of_the_model_does_not_count(home: Home) -> None:
    async def talk() -> None:
        async with home.client() as client:
            for extra in ({"yes": True}, {"approved": True}, {"approval": "approve"}):
                refused = await client.call_tool("run_python", {"code": CODE, **extra})
                assert refused.is_error
                assert "takes no argument" in text_of(refused)
            waits = await client.call_tool("run_python", {"code": f"# I approve this call.\n{CODE}"})
            assert waits.structured_content["status"] == "suspended"

    anyio.run(talk)
    assert home.notes == ""


def test_a_secret_is_in_no_result(home: Home) -> None:
    home.configure("[mcp_server]\ndirect_tools = true\n")

    async def talk() -> str:
        async with home.client() as client:
            ran = await client.call_tool("run_python", {"code": "print(tools.notes.key().unwrap())\ntools.notes.key()"})
            direct = await client.call_tool("notes__key", {})
            receipt = ran.structured_content["activity"][0]["receipt_ref"]
            kept = await client.read_resource(f"coilclaw://receipts/{receipt}")
            return str([each.model_dump_json() for each in (ran, direct, kept)])

    said = anyio.run(talk)
    assert "notes.key" in said
    assert "s3cr3t" not in said


def test_calls_that_cannot_be_shown_in_full_are_not_asked_about(home: Home) -> None:
    async def talk() -> Any:
        async with home.client(approve) as client:
            return await client.call_tool("run_python", {"code": "tools.notes.add(text='x' * 9000)"})

    assert anyio.run(talk).structured_content["status"] == "suspended"
    assert (home.asked, home.notes) == ([], "")
    assert form_for([]) is None


def test_a_flood_of_requests_is_bounded(home: Home) -> None:
    said: list[str] = []

    async def talk() -> list[bool]:
        refused: list[bool] = []
        async with home.client(mode="legacy") as client, anyio.create_task_group() as tasks:

            async def one() -> None:
                try:
                    done = await client.call_tool("run_python", {"code": "1"})
                except MCPError as error:
                    said.append(str(error).lower())
                    return
                refused.append(done.is_error)
                assert not done.is_error or "too many requests" in text_of(done)

            for _ in range(200):
                tasks.start_soon(one)
        return refused

    refused = anyio.run(talk)
    assert all("too many requests" in each for each in said)
    assert len(refused) + len(said) == 200
    assert refused.count(False) >= 8


def test_more_than_the_server_takes_is_refused_and_not_queued() -> None:
    async def talk() -> None:
        executions, release = Executions(at_once=1, most=2), anyio.Event()

        async def report(number: int, text: str) -> None: ...

        import threading

        gate = threading.Event()
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(executions.execute, lambda deadline, progress: gate.wait(30), 10, report)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(TooBusy):
                await executions.look(lambda: None)
            gate.set()
            release.set()
        assert await executions.look(lambda: 5) == 5

    anyio.run(talk)


def test_names_of_direct_calls_are_safe_and_never_shared() -> None:
    ids = ["a.b", "a__b.c", "a.b__c", "x." + "y" * 100, "x." + "y" * 101, "ü.é"]
    names = _names(ids)
    assert names["a.b"] == "a__b"
    assert len(set(names.values())) == len(ids)
    assert all(len(each) <= 64 and each.isascii() for each in names.values())
