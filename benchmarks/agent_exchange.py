"""What an exchange costs beside its model, runs and tools: `python benchmarks/agent_exchange.py [--blocks 7]`.

CPU time of whole exchanges with a scripted model, less that of the same runs without an agent, in one process and by
turns, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from suite.record import machine

from coilclaw.agent import Agent
from coilclaw.app import CoilClaw
from coilclaw.providers import (
    ChatRequest,
    ChatResponse,
    ChatStream,
    ProviderCapabilities,
    TextDelta,
    ToolRequest,
    Usage,
)
from coilclaw.sdk import ToolContext, define_tool

_FOLDER: Final = Path(__file__).resolve().parent
_TARGET_MS: Final = 5.0
_BLOCK: Final = 20
"""Turns of a conversation, which grows meanwhile, as conversations do."""
_CODE: Final = "tools.mail.send(to='ana@x.org').unwrap()"
_TEXT: Final = "I have sent the mail to ana@x.org. Is there anything else that I can do for you today?"


@define_tool(id="mail.send", risk="write", summary="Sent mail to {to}")
def send(ctx: ToolContext, to: str) -> dict[str, str]:
    """Send a mail."""
    return {"sent": to}


class Model:
    """Asks for one thing, or for nothing, and then answers."""

    def __init__(self, request: ToolRequest | None) -> None:
        self._request = request

    def name(self) -> str:
        return "scripted"

    def capabilities(self) -> ProviderCapabilities:
        return ProviderCapabilities(streaming=True)

    async def chat(self, request: ChatRequest) -> ChatResponse:
        usage = Usage(input_tokens=1000, output_tokens=50)
        if self._request is not None and request.messages[-1].role == "user":
            return ChatResponse(tool_calls=(self._request,), usage=usage, stop="tool_calls")
        return ChatResponse(final_text=_TEXT if self._request else "Good morning. How can I help?", usage=usage)

    async def stream(self, request: ChatRequest) -> ChatStream:
        response = await self.chat(request)
        for start in range(0, len(response.final_text), 20):
            yield TextDelta(text=response.final_text[start : start + 20])
        yield response

    async def aclose(self) -> None:
        return


def _cpu_ms(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def _measure(claw: CoilClaw, blocks: int) -> dict[str, float]:
    """Milliseconds of an exchange's own work, by what it does."""
    kinds: dict[str, tuple[ToolRequest | None, Callable[[], object]]] = {
        "words only": (None, lambda: None),
        "one direct call": (
            ToolRequest(id="1", name="mail__send", arguments={"to": "ana@x.org"}),
            lambda: claw.call("mail.send", {"to": "ana@x.org"}),
        ),
        "one snippet": (
            ToolRequest(id="1", name="run_python", arguments={"code": _CODE}),
            lambda: claw.run(_CODE),
        ),
    }
    found: dict[str, float] = {}
    loop = asyncio.new_event_loop()
    for name, (request, alone) in kinds.items():
        agent = Agent(claw, Model(request))

        def conversation(agent: Agent = agent) -> None:
            named: str | None = None
            for _ in range(_BLOCK):
                answer = loop.run_until_complete(agent.answer("Do it.", conversation=named))
                assert answer.status == "answered", answer
                named = answer.conversation_id

        def runs(alone: Callable[[], object] = alone) -> None:
            for _ in range(_BLOCK):
                alone()

        conversation()
        own = [(_cpu_ms(conversation) - _cpu_ms(runs)) / _BLOCK for _ in range(blocks)]
        found[name] = statistics.median(own)
    loop.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/agent_exchange.py", description="Measure the agent's own time.")
    parser.add_argument("--blocks", type=int, default=7)
    blocks = parser.parse_args().blocks
    cache = _FOLDER / ".cache" / "coilclaw"
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(prefix=".work-", dir=_FOLDER) as folder:
        (Path(folder) / "workspace").mkdir()
        home = Path(folder) / "home"
        options = {"workspace": Path(folder) / "workspace", "config": {"security.autonomy": "full"}, "cache": cache}
        with CoilClaw.open(home, tools=[send], pool=0, **options) as claw:
            found = _measure(claw, blocks)
    here = machine()
    print(
        f"{here['processor']}, Python {here['python']}; medians of {blocks} conversations of {_BLOCK} turns, CPU time"
    )
    for name, spent in found.items():
        print(f"  {name:<16} {spent:5.2f} ms   target {_TARGET_MS:g} ms   {'met' if spent <= _TARGET_MS else 'missed'}")
    record = {
        "machine": here,
        "turns": blocks * _BLOCK,
        "own_cpu_ms": {name: round(each, 3) for name, each in found.items()},
    }
    (_FOLDER / "results" / "agent_exchange.json").write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
