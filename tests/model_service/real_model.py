"""A real model behind both wires. `make test-model` runs this; it is no part of `make test`.

The model is far too small to be judged by what it says. What is tried is that a server which others wrote takes what we
send, and that we read what it answers.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.providers.conversation import WEATHER, answer_of, ask, configured, run

from coilclaw.providers import Message, Provider, TextDelta, ToolRequest, open_provider

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv/model/bin/python"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with subprocess.Popen(
        [PYTHON, Path(__file__).with_name("serve.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


@pytest.fixture(params=["openai-compatible", "anthropic"])
def provider(request: pytest.FixtureRequest, address: str) -> Provider:
    base = f"{address}/v1" if request.param == "openai-compatible" else address
    table = {"kind": request.param, "base_url": base, "model": "small"}
    return open_provider(configured(a=table), "a", environment={"ANTHROPIC_API_KEY": "none"})


@pytest.mark.parametrize("streaming", [False, True])
def test_it_answers(provider: Provider, streaming: bool) -> None:
    answer = run(answer_of(provider, ask("Say hello.", max_tokens=30), streaming=streaming))
    assert answer.final_text
    assert answer.usage is not None
    assert answer.usage.input_tokens > 0
    assert 0 < answer.usage.output_tokens <= 30


@pytest.mark.parametrize("streaming", [False, True])
def test_it_takes_a_conversation_with_tools(provider: Provider, streaming: bool) -> None:
    call = ToolRequest(id="call_1", name="weather.today", arguments={"city": "Rome"})
    said = Message(role="assistant", text="Let me see.", tool_requests=(call,))
    told = Message(role="tool", request_id="call_1", text="sunny")
    request = ask("The weather in Rome?", said, told, tools=(WEATHER,), max_tokens=30)
    assert run(answer_of(provider, request, streaming=streaming)).stop in ("end", "length", "tool_calls")


def test_it_stops_where_it_is_told(provider: Provider) -> None:
    assert run(answer_of(provider, ask("Count to a thousand.", max_tokens=5))).stop == "length"


def test_text_arrives_in_pieces(provider: Provider) -> None:
    async def pieces() -> int:
        items = [item async for item in provider.stream(ask("Tell me a story.", max_tokens=20))]
        await provider.aclose()
        return sum(isinstance(item, TextDelta) for item in items)

    assert run(pieces()) > 3
