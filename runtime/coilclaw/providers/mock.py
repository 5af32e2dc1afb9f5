"""A model that says what its fixture says. It needs no service, and what it says is the same every time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Final

from coilclaw.config import ProviderModel
from coilclaw.providers.chat import (
    ChatRequest,
    ChatResponse,
    ChatStream,
    ProviderCapabilities,
    TextDelta,
    ToolRequest,
    Usage,
)
from coilclaw.providers.errors import ProviderError
from coilclaw.providers.fixtures import Reply, read_fixture

__all__ = ["MockProvider"]

_NO_MODEL: Final = (
    "No model is configured: this sentence comes from the built-in mock provider, which cannot answer questions. "
    "To use a real model, run `coilclaw onboard`, or describe one under [providers.models] in config.toml and name it "
    "as default_provider."
)
_USED_UP: Final = (
    "This is the mock provider: its fixture has no reply left for this message. "
    "Add one to the file, or use a real model."
)
_PIECE: Final = 12
_TOKEN: Final = 4
"""Characters that count as a token."""
_OWN_ID: Final = re.compile(r"call-([0-9]{1,9})")


class MockProvider:
    """Replies from a fixture, each used once: the first that is left and fits the person's last message.

    Its place in the fixture is kept as long as the object is. A new object that is asked in the middle of an exchange
    leaves out as many replies as the exchange has had. Raises OperatorError if the fixture cannot be used.
    """

    def __init__(self, name: str, table: ProviderModel, model: str) -> None:
        self._name = name
        self._model = model
        self._seconds = table.seconds
        self._left = None if table.fixture is None else list(read_fixture(table.fixture))
        self._began = False

    def name(self) -> str:
        return self._name

    def capabilities(self) -> ProviderCapabilities:
        return ProviderCapabilities(streaming=True, tool_calls=self._left is not None)

    async def chat(self, request: ChatRequest) -> ChatResponse:
        reply = self._next(request)
        await self._delay(reply)
        if reply.error is not None:
            raise self._error(reply)
        return self._response(request, reply)

    async def stream(self, request: ChatRequest) -> ChatStream:
        """The text in pieces of a few characters, so that words and sentences arrive in parts."""
        reply = self._next(request)
        await self._delay(reply)
        for start in range(0, len(reply.text), _PIECE):
            yield TextDelta(text=reply.text[start : start + _PIECE])
            await asyncio.sleep(0)  # Others get a turn, as they do while a real service thinks.
        if reply.error is not None:
            raise self._error(reply)
        yield self._response(request, reply)

    async def aclose(self) -> None:
        return

    def _next(self, request: ChatRequest) -> Reply:
        if self._left is None:
            return Reply(text=_NO_MODEL)
        said = next((each.text for each in reversed(request.messages) if each.role == "user"), "")
        if not self._began:
            self._began = True
            for _ in range(_replies_so_far(request)):
                self._take(said)
        return self._take(said) or Reply(text=_USED_UP)

    def _take(self, said: str) -> Reply | None:
        for place, reply in enumerate(self._left or ()):
            if self._left is not None and reply.fits(said):
                return self._left.pop(place)
        return None

    async def _delay(self, reply: Reply) -> None:
        await asyncio.sleep(min(reply.delay_seconds, self._seconds))
        if reply.delay_seconds > self._seconds:
            raise ProviderError(
                f"{self._name} did not answer within {self._seconds:g} seconds", kind="timeout", provider=self._name
            )

    def _error(self, reply: Reply) -> ProviderError:
        kind = reply.error or "server"
        return ProviderError(f"the fixture of {self._name} has the error {kind} here", kind=kind, provider=self._name)

    def _response(self, request: ChatRequest, reply: Reply) -> ChatResponse:
        numbers = _free_numbers(request)
        calls = tuple(
            ToolRequest(id=f"call-{next(numbers)}", name=name, arguments=arguments)
            for name, arguments in reply.tool_calls
        )
        asked = len(request.system_prompt) + sum(len(each.text) for each in request.messages)
        answered = len(reply.text) + sum(len(name) + len(str(arguments)) for name, arguments in reply.tool_calls)
        return ChatResponse(
            final_text=reply.text,
            tool_calls=calls,
            usage=Usage(input_tokens=-(-asked // _TOKEN), output_tokens=-(-answered // _TOKEN)),
            provider=self._name,
            model=request.model or self._model,
            stop="tool_calls" if calls else "end",
        )


def _replies_so_far(request: ChatRequest) -> int:
    """How many replies there were since the person's last message: an exchange may be resumed by another process."""
    count = 0
    for each in reversed(request.messages):
        if each.role == "user":
            break
        count += each.role == "assistant"
    return count


def _free_numbers(request: ChatRequest) -> Iterator[int]:
    """Numbers for calls that no call of the conversation has."""
    ids = [_OWN_ID.fullmatch(each.id) for message in request.messages for each in message.tool_requests]
    number = max((int(found[1]) for found in ids if found), default=0)
    while True:
        number += 1
        yield number
