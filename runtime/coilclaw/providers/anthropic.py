"""The messages of Anthropic's API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias

from coilclaw.providers.chat import ChatRequest, ChatResponse, Message, ProviderCapabilities, ToolRequest, Usage
from coilclaw.providers.credentials import Credential
from coilclaw.providers.errors import ProviderError
from coilclaw.providers.reading import (
    MOST_CALLS,
    TextJoin,
    count_of,
    malformed,
    storable,
    table_of,
    text_of,
    tool_request,
)
from coilclaw.providers.tool_names import ToolNames, allowed

__all__ = ["Anthropic"]

_VERSION: Final = "2026-10-21"
"""Of the API. It knows no temperature any more."""
_FOR_TOKENS: Final = "oauth-2025-04-20"
"""The beta without which OAuth and setup tokens are not accepted."""
_CACHED: Final = {"cache_control": {"type": "ephemeral"}}
_THOUGHTS: Final = ("thinking", "redacted_thinking")
_MOST_BLOCKS: Final = 4 * MOST_CALLS

_Stop: TypeAlias = Literal["end", "tool_calls", "length", "refused"]
_STOPS: Final[Mapping[str, _Stop]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "pause_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}


class Anthropic:
    """The dialect of `/v1/messages`, with the parts that stay the same marked for the service's prompt cache."""

    capabilities = ProviderCapabilities(tool_calls=True, streaming=True, prompt_cache=True)
    default_url = "https://api.anthropic.com"

    def path(self, base_url: str) -> str:
        return "/messages" if base_url.endswith("/v1") else "/v1/messages"

    def headers(self, credential: Credential | None) -> Mapping[str, str]:
        headers = {"anthropic-version": _VERSION}
        if credential is None:
            return headers
        if credential.style == "bearer":
            return {**headers, "authorization": f"Bearer {credential.secret}", "anthropic-beta": _FOR_TOKENS}
        return {**headers, "x-api-key": credential.secret}

    def exchange(self, request: ChatRequest, model: str, base_url: str) -> _Exchange:
        return _Exchange(request, model)


class _Exchange:
    def __init__(self, request: ChatRequest, model: str) -> None:
        self._request = request
        self._model = model
        self._names = ToolNames(request.tools)
        self._blocks = _BlocksInPieces()
        self._stop: str | None = None
        self._used: dict[str, Any] = {}
        self._answered_by = ""
        self.is_complete = False

    # What is sent ------------------------------------------------------------------------------------

    def body(self, *, streaming: bool) -> Mapping[str, Any]:
        request = self._request
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_tokens,
            "messages": self._messages(),
        }
        if request.system_prompt:
            body["system"] = [{"type": "text", "text": request.system_prompt, **_CACHED}]
        if request.tools:
            tools = [
                {
                    "name": self._names.on_wire(tool.name),
                    "description": tool.description,
                    "input_schema": tool.input_schema,
                }
                for tool in request.tools
            ]
            body["tools"] = [*tools[:-1], {**tools[-1], **_CACHED}]
        if streaming:
            body["stream"] = True
        return body

    def _messages(self) -> list[dict[str, Any]]:
        """Turns of user and assistant. Answers of tools are part of the user's turn, and no text may be blank."""
        turns: list[dict[str, Any]] = []
        for message in self._request.messages:
            role = "assistant" if message.role == "assistant" else "user"
            if not (blocks := self._blocks_of(message)):
                continue
            if turns and turns[-1]["role"] == role:
                turns[-1]["content"] += blocks
            else:
                turns.append({"role": role, "content": blocks})
        if turns and turns[-1]["role"] == "user":  # An assistant's own blocks go back unchanged.
            turns[-1]["content"][-1] = {**turns[-1]["content"][-1], **_CACHED}
        return turns

    def _blocks_of(self, message: Message) -> list[dict[str, Any]]:
        if message.role == "tool":
            block: dict[str, Any] = {"type": "tool_result", "tool_use_id": allowed(message.request_id or "", 200)}
            if message.text:
                block["content"] = message.text
            return [{**block, "is_error": True} if message.is_error else block]
        if (echo := self._echo(message)) is not None:
            return echo
        text = [{"type": "text", "text": message.text}] if message.text.strip() else []
        return [*text, *(self._use(each) for each in message.tool_requests)]

    def _echo(self, message: Message) -> list[dict[str, Any]] | None:
        """The blocks of an answer with thoughts in them, which only the model that had them takes, as they were."""
        first = message.tool_requests[0] if message.tool_requests else None
        echo = table_of(first.echo if first else None)
        content = echo.get("content")
        if echo.get("model") != self._model or not isinstance(content, list):
            return None
        uses = [each.get("id") for each in content if isinstance(each, dict) and each.get("type") == "tool_use"]
        return list(content) if uses == [each.id for each in message.tool_requests] else None

    def _use(self, request: ToolRequest) -> dict[str, Any]:
        name = self._names.on_wire(request.name)
        return {"type": "tool_use", "id": allowed(request.id, 200), "name": name, "input": request.arguments}

    # What comes back in one piece --------------------------------------------------------------------

    def whole(self, payload: Mapping[str, Any]) -> ChatResponse:
        content = payload.get("content")
        if not isinstance(content, list):
            raise malformed("it has no content")
        for index, block in enumerate(content):
            self._blocks.begin(index, table_of(block))
        self._note(payload)
        self._stop = text_of(payload.get("stop_reason"))
        return self._response(payload)

    # What comes back in events -----------------------------------------------------------------------

    def feed(self, event: Mapping[str, Any]) -> str:
        index = event.get("index")
        match event.get("type"):
            case "message_start":
                self._note(table_of(event.get("message")))
            case "content_block_start":
                return self._blocks.begin(index, table_of(event.get("content_block")))
            case "content_block_delta":
                return self._blocks.extend(index, table_of(event.get("delta")))
            case "content_block_stop":
                return self._blocks.finish(index)
            case "message_delta":
                self._stop = text_of(table_of(event.get("delta")).get("stop_reason")) or self._stop
                self._note(event)
            case "message_stop":
                self.is_complete = True
        return ""  # Other events may be added to the API at any time.

    def end(self, *, said_so: bool) -> ChatResponse:
        if not self.is_complete:
            raise ProviderError("the stream ended before the answer was complete", kind="network", hint="try again")
        return self._response(None)

    # -------------------------------------------------------------------------------------------------

    def _note(self, payload: Mapping[str, Any]) -> None:
        """Later counts replace earlier ones."""
        self._answered_by = self._answered_by or text_of(payload.get("model"))[:200]
        used = table_of(payload.get("usage"))
        self._used |= {key: value for key, value in used.items() if type(value) is int}

    def _response(self, payload: Mapping[str, Any] | None) -> ChatResponse:
        content = self._blocks.content()
        calls: list[ToolRequest] = []
        for block, arguments in content:
            if block.get("type") == "tool_use":
                found = tool_request(
                    block.get("id"),
                    block.get("name"),
                    arguments,
                    request=self._request,
                    names=self._names,
                    earlier=calls,
                )
                calls.append(found)
        blocks = [block for block, _ in content]
        if calls and any(block.get("type") in _THOUGHTS for block in blocks):
            calls[0] = replace(calls[0], echo=storable({"model": self._model, "content": blocks}))
        stop = _STOPS.get(self._stop or "end_turn", "end")
        read, written = (count_of(self._used.get(f"cache_{way}_input_tokens")) for way in ("read", "creation"))
        return ChatResponse(
            final_text="".join(text_of(block.get("text")) for block in blocks if block.get("type") == "text"),
            tool_calls=tuple(calls),
            raw_provider_payload=payload,
            usage=Usage(
                input_tokens=count_of(self._used.get("input_tokens")) + read + written,
                output_tokens=count_of(self._used.get("output_tokens")),
                cached_tokens=read,
            )
            if self._used
            else None,
            model=self._answered_by,
            stop="tool_calls" if calls and stop == "end" else stop,
        )


class _BlocksInPieces:
    """The blocks of an answer, put together from the pieces of a stream."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Any]] = {}
        self._texts: dict[int, TextJoin] = {}
        self._pieces: dict[tuple[int, str], list[str]] = {}

    def begin(self, index: Any, block: Mapping[str, Any]) -> str:
        """Take a block as it begins, and return the text in it."""
        if type(index) is not int or index in self._blocks or len(self._blocks) >= _MOST_BLOCKS:
            raise malformed("its blocks are not in order")
        self._blocks[index] = dict(block)
        if block.get("type") != "text":
            return ""
        self._texts[index] = TextJoin()
        return self._texts[index].feed(block.get("text"))

    def extend(self, index: Any, delta: Mapping[str, Any]) -> str:
        """Take more of a block, and return the text in it."""
        if type(index) is not int or index not in self._blocks:
            raise malformed("it continues a block that never began")
        match delta.get("type"):
            case "text_delta" if index in self._texts:
                return self._texts[index].feed(delta.get("text"))
            case "input_json_delta":
                self._add(index, "input", delta.get("partial_json"))
            case "thinking_delta":
                self._add(index, "thinking", delta.get("thinking"))
            case "signature_delta":
                self._add(index, "signature", delta.get("signature"))
        return ""

    def _add(self, index: int, key: str, piece: Any) -> None:
        self._pieces.setdefault((index, key), []).append(piece if isinstance(piece, str) else "")

    def finish(self, index: Any) -> str:
        return self._texts[index].end() if type(index) is int and index in self._texts else ""

    def content(self) -> list[tuple[dict[str, Any], Any]]:
        """The blocks in their order, each with the arguments of a call as they came."""
        found: list[tuple[dict[str, Any], Any]] = []
        for index in sorted(self._blocks):
            block = self._blocks[index]
            arguments = block.get("input")
            if index in self._texts:
                block = {**block, "text": self._texts[index].text}
            for key in ("thinking", "signature"):
                if (index, key) in self._pieces:
                    block = {**block, key: text_of(block.get(key)) + "".join(self._pieces[index, key])}
            if (index, "input") in self._pieces:
                arguments = "".join(self._pieces[index, "input"])
                block = {**block, "input": _read_input(arguments)}
            found.append((block, arguments))
        return found


def _read_input(text: str) -> Any:
    """Return arguments as they go back to the service, which takes an empty object where they cannot be read."""
    try:
        return json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
