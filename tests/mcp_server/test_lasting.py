"""A server that lives long: many calls, and tools that change meanwhile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.mcp_server.conftest import Home

CALLS = 1000 if os.environ.get("COILCLAW_TEST_ALL") else 150
PIPELINED = 4


def memory_of(process: int) -> int:
    """Resident memory in KiB."""
    rows = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("VmRSS"))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_many_calls_leave_the_memory_flat(home: Home) -> None:
    home.configure("[mcp_server]\ndirect_tools = true\n")
    home.tool(
        "own/own.py",
        "import os\nfrom coilclaw.sdk import ToolContext, define_tool\n\n"
        '@define_tool(id="own.process", risk="read")\ndef process(ctx: ToolContext) -> int:\n'
        '    """The id of this process."""\n    return os.getpid()\n',
    )

    async def talk() -> tuple[int, int]:
        async with home.client() as client:
            process = (await client.call_tool("own__process", {})).structured_content["result"]

            async def some(count: int) -> None:
                for number in range(count):
                    if number % 10:
                        assert not (await client.call_tool("time__now", {})).is_error
                    else:
                        assert not (await client.call_tool("run_python", {"code": "tools.time.now()"})).is_error

            async def many() -> None:
                async with anyio.create_task_group() as tasks:
                    for _ in range(PIPELINED):
                        tasks.start_soon(some, CALLS // PIPELINED)

            await many()
            before = memory_of(process)
            await many()
            return before, memory_of(process)

    before, after = anyio.run(talk)
    assert after < before * 1.15 + 8 * 1024
    assert home("receipt", "verify").code == 0


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_clients_are_told_that_the_tools_have_changed(home: Home, mode: str) -> None:
    async def talk() -> None:
        told = anyio.Event()

        async def note(message: Any) -> None:
            if getattr(message, "method", "") == "notifications/tools/list_changed":
                told.set()

        async with home.client(mode=mode, message_handler=note) as client, anyio.create_task_group() as tasks:
            if mode == "auto":

                async def listen() -> None:
                    async with client.listen(tools_list_changed=True) as events:
                        listening.set()
                        async for _ in events:
                            told.set()

                listening = anyio.Event()
                tasks.start_soon(listen)
                await listening.wait()
            home.tool(
                "late/late.py",
                "from coilclaw.sdk import ToolContext, define_tool\n\n"
                '@define_tool(id="late.tool", risk="read")\ndef tool(ctx: ToolContext) -> int:\n'
                '    """Come late."""\n    return 5\n',
            )
            with anyio.fail_after(60):
                await told.wait()
            listed = await client.list_tools()
            assert "late" in (listed.tools[0].description or "")
            done = await client.call_tool("run_python", {"code": "tools.late.tool().unwrap()"})
            assert done.structured_content["value"] == 5
            tasks.cancel_scope.cancel()

    anyio.run(talk)
