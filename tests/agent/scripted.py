"""A provider whose replies a test writes, and that keeps what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, TypeAlias

from coilclaw.providers import (
    ChatRequest,
    ChatResponse,
    ChatStream,
    ProviderCapabilities,
    TextDelta,
    ToolRequest,
    Usage,
)

__all__ = ["Reply", "Scripted", "call", "code", "say"]

Reply: TypeAlias = ChatResponse | Exception | Callable[[ChatRequest], "ChatResponse | Exception"]
_numbers = count(1)


def say(text: str, **more: Any) -> ChatResponse:
    """A reply in words."""
    return ChatResponse(final_text=text, usage=Usage(input_tokens=100, output_tokens=10), model="scripted", **more)


def call(name: str, said: str = "", /, **arguments: Any) -> ChatResponse:
    """A reply that asks for one tool."""
    request = ToolRequest(id=f"request-{next(_numbers)}", name=name, arguments=arguments)
    return say(said, tool_calls=(request,), stop="tool_calls")


def code(source: str, text: str = "") -> ChatResponse:
    """A reply that asks for a snippet."""
    return call("run_python", text, code=source)


class Scripted:
    """Gives the replies in order, and the last one for ever."""

    def __init__(self, *replies: Reply, pieces: int = 7) -> None:
        self._replies: Sequence[Reply] = replies
        self._pieces = pieces
        self.requests: list[ChatRequest] = []

    def name(self) -> str:
        return "scripted"

    def capabilities(self) -> ProviderCapabilities:
        return ProviderCapabilities(streaming=True)

    async def chat(self, request: ChatRequest) -> ChatResponse:
        self.requests.append(request)
        assert len(self.requests) < 50, "the model is asked for ever"
        reply = self._replies[min(len(self.requests), len(self._replies)) - 1]
        if not isinstance(reply, ChatResponse | Exception):
            reply = reply(request)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def stream(self, request: ChatRequest) -> ChatStream:
        response = await self.chat(request)
        text = response.final_text
        for start in range(0, len(text), self._pieces):
            yield TextDelta(text=text[start : start + self._pieces])
        yield response

    async def aclose(self) -> None:
        return
