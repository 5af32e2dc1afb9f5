"""Requests of a conversation, providers of a configuration, and what comes back from them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

from coilclaw.config import Config, ProviderModel
from coilclaw.config.conversation import Providers
from coilclaw.providers import ChatRequest, ChatResponse, Message, Provider, TextDelta, ToolSchema

T = TypeVar("T")

WEATHER = ToolSchema(
    name="weather.today",
    description="The weather of a city.",
    input_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def ask(*said: str | Message, **given: Any) -> ChatRequest:
    """A request whose messages are a person's, unless they say otherwise."""
    messages = tuple(each if isinstance(each, Message) else Message(role="user", text=each) for each in said)
    return ChatRequest(**{"system_prompt": "You are brief.", "messages": messages, **given})


def configured(default: str = "local", **models: dict[str, Any]) -> Config:
    tables = {name: ProviderModel(**table) for name, table in models.items()}
    return Config(default_provider=default, providers=Providers(models=tables))


def run(awaitable: Awaitable[T]) -> T:
    async def main() -> T:
        return await awaitable

    return asyncio.run(main())


async def answer_of(provider: Provider, request: ChatRequest, *, streaming: bool = False) -> ChatResponse:
    """The whole answer, with the provider closed behind it."""
    try:
        if not streaming:
            return await provider.chat(request)
        items = [item async for item in provider.stream(request)]
        *pieces, response = items
        assert isinstance(response, ChatResponse)
        assert all(isinstance(each, TextDelta) for each in pieces)
        assert text_of(pieces) == response.final_text
        return response
    finally:
        await provider.aclose()


async def until_failure(provider: Provider, request: ChatRequest) -> tuple[list[str], BaseException | None]:
    """The pieces of text that a stream gave, and how it ended."""
    pieces: list[str] = []
    try:
        async with aclosing(provider.stream(request)) as stream:
            async for item in stream:
                if isinstance(item, TextDelta):
                    pieces.append(item.text)
    except Exception as error:
        return pieces, error
    return pieces, None


def text_of(items: Sequence[object]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextDelta))
