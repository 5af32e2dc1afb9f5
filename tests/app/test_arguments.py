"""What a program passes to the app is checked like what a person types."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import cache_folder

from coilclaw.app import CoilClaw, WouldBlock
from coilclaw.sdk import OperatorError, ToolContext, define_tool


def test_an_engine_that_does_not_exist_is_an_error() -> None:
    with CoilClaw.temporary(cache=cache_folder()) as claw, pytest.raises(OperatorError, match="no engine 'wsm'"):
        claw.run("1", engine="wsm")


@pytest.mark.parametrize("name", ["tools", "Ok", "1x", "__name__", "a b", ""])
def test_an_input_has_a_name_that_a_snippet_can_use(name: str) -> None:
    with CoilClaw.temporary(cache=cache_folder()) as claw, pytest.raises(OperatorError, match="name"):
        claw.run("1", inputs={name: 1})


@pytest.mark.parametrize("source", [None, Path("snippet.py"), b"1"])
def test_a_snippet_is_text(source: Any) -> None:
    with CoilClaw.temporary(cache=cache_folder()) as claw, pytest.raises(OperatorError, match="source as text"):
        claw.run(source)


def test_waiting_for_a_result_on_the_loop_of_async_tools_is_refused() -> None:
    @define_tool(id="clock.wait", risk="read")
    async def wait(ctx: ToolContext) -> int:
        await asyncio.sleep(0)
        return 1

    async def main() -> int:
        async with CoilClaw.temporary(tools=[wait], cache=cache_folder()) as claw:
            handle = claw.start("tools.clock.wait().unwrap()")
            with pytest.raises(WouldBlock):
                handle.result()
            value: int = (await handle).value
            return value

    assert asyncio.run(main()) == 1


@pytest.mark.parametrize("engine", ["wasm", "restricted"])
def test_a_run_has_the_configured_time_where_none_is_given(engine: str) -> None:
    # It ends by itself, so that a setting that is ignored shows soon.
    source = "import time\nend = time.monotonic() + 10\nwhile time.monotonic() < end: pass"
    with CoilClaw.temporary(cache=cache_folder(), config={"limits.seconds": 0.3}) as claw:
        assert claw.run(source, engine=engine).status == "timed_out"
        assert claw.start(source, engine=engine).result(60).status == "timed_out"
        assert claw.run("1", engine=engine, timeout=60).status == "completed"
