"""One exchange of a conversation, from a person's message to its answer, as the turns in memory have it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from coilclaw.agent.prompt import message_tokens
from coilclaw.providers import Message, ToolRequest, Usage
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.agent.handles import Handle

__all__ = ["Exchange", "RequestResult", "Round"]


class RequestResult(Frozen):
    """What the model was told about one request."""

    text: str
    is_error: bool = False
    run_id: str | None = None
    handles: tuple[Handle, ...] = ()
    found: tuple[str, ...] = ()
    """Ids of tools that a search has found."""

    def facts(self, key: str) -> dict[str, Any]:
        return {
            "request": key,
            "text": self.text,
            "is_error": self.is_error,
            "run_id": self.run_id,
            "handles": [each.facts() for each in self.handles],
            "found": list(self.found),
        }


class Round(Frozen):
    """A reply of the model that asks for tools, and the results so far."""

    turn_id: str
    text: str
    requests: tuple[ToolRequest, ...]
    results: tuple[RequestResult | None, ...]
    provider: str = ""
    usage: Usage = Usage()

    def key(self, index: int) -> str:
        """The id of one request, by which its run is found again. The model's own ids may stand twice."""
        return f"{self.turn_id}.{index}"


class Exchange(Frozen):
    """A message of a person, what the model did about it, and its answer."""

    message: str
    rounds: tuple[Round, ...] = ()
    answer: str | None = None
    id: str = ""
    """That of the turn with the message."""

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The exchange as a model is told it."""
        made = [Message(role="user", text=self.message)]
        for round_ in self.rounds:
            made.append(Message(role="assistant", text=round_.text, tool_requests=round_.requests))
            made += [
                Message(role="tool", text=result.text, request_id=request.id, is_error=result.is_error)
                for request, result in zip(round_.requests, round_.results, strict=True)
                if result is not None
            ]
        if self.answer is not None:
            made.append(Message(role="assistant", text=self.answer))
        return tuple(made)

    @cached_property
    def tokens(self) -> int:
        """About how many tokens its messages take."""
        return sum(map(message_tokens, self.messages))

    @property
    def is_new(self) -> bool:
        """Whether the model has said nothing yet."""
        return not self.rounds and self.answer is None

    @property
    def open_requests(self) -> tuple[tuple[Round, int], ...]:
        """Requests that have no result yet; only the last round can have such."""
        return tuple(
            (round_, index)
            for round_ in self.rounds[-1:]
            for index, result in enumerate(round_.results)
            if result is None
        )
