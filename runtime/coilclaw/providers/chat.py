"""What is said to a model and what comes back, whichever service answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import field
from typing import Any, Literal, Protocol, TypeAlias

from coilclaw.sdk.frozen import Frozen

__all__ = [
    "ChatRequest",
    "ChatResponse",
    "ChatStream",
    "Message",
    "Provider",
    "ProviderCapabilities",
    "TextDelta",
    "ToolRequest",
    "ToolSchema",
    "Usage",
]


class ToolSchema(Frozen):
    """A tool as a model sees it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


class ToolRequest(Frozen):
    """A model's wish to call a tool. Nothing in it is trusted."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    problem: str | None = None
    """Why the arguments could not be read; they are empty then, and the model is told."""
    echo: Any = field(default=None, repr=False, compare=False)
    """What the service wants back unchanged with this request, as JSON data: kept wherever the request is kept."""


class Message(Frozen):
    """One entry of a conversation: what a person said, what the model said, or what a tool answered."""

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    tool_requests: tuple[ToolRequest, ...] = ()
    """Of an assistant's message."""
    request_id: str | None = None
    """Of a tool's message: the request that it answers."""
    is_error: bool = False


class ChatRequest(Frozen):
    """One question to a model: everything it is to know, and what it may ask for."""

    system_prompt: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    model: str | None = None
    """Another model than the provider's own."""
    temperature: float | None = None
    """For services that have one; others answer without it."""
    max_tokens: int = 4096
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """For whoever handles the request, never sent: `hint` chooses the route of a router, `conversation` is recorded."""


class Usage(Frozen):
    """Tokens as the service counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


class ChatResponse(Frozen):
    """A model's whole answer."""

    final_text: str = ""
    tool_calls: tuple[ToolRequest, ...] = ()
    raw_provider_payload: Any = field(default=None, repr=False)
    usage: Usage | None = None
    provider: str = ""
    """Which provider answered, behind a fallback or a router too."""
    model: str = ""
    stop: Literal["end", "tool_calls", "length", "refused"] = "end"


class TextDelta(Frozen):
    """A piece of an answer's text, as it arrives."""

    text: str


ChatStream: TypeAlias = AsyncGenerator[TextDelta | ChatResponse, None]
"""Pieces of text, then the whole response, which always comes last. Raises ProviderError instead of ending early.

Whoever may leave it before its end closes it (`contextlib.aclosing`), and with it the connection behind it.
"""


class ProviderCapabilities(Frozen):
    """What a provider can do."""

    tool_calls: bool = True
    streaming: bool = False
    prompt_cache: bool = False


class Provider(Protocol):
    """A model service behind one protocol. Raises ProviderError for whatever the service or the network does."""

    def name(self) -> str:
        """The name under which it is configured."""
        ...

    def capabilities(self) -> ProviderCapabilities: ...

    async def chat(self, request: ChatRequest) -> ChatResponse: ...

    def stream(self, request: ChatRequest) -> ChatStream:
        """The same answer in pieces; a provider without streaming gives it in one."""
        ...

    async def aclose(self) -> None:
        """Close connections. May be called again."""
        ...
