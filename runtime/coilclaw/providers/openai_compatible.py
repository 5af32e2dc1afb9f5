"""The chat completions that many services and local servers speak."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

from coilclaw.providers.chat import ChatRequest, ChatResponse, Message, ProviderCapabilities, ToolRequest, Usage
from coilclaw.providers.credentials import Credential
from coilclaw.providers.errors import ProviderError
from coilclaw.providers.reading import (
    MOST_CALLS,
    TextJoin,
    count_of,
    malformed,
    table_of,
    text_of,
    tool_request,
)
from coilclaw.providers.tool_names import ToolNames

__all__ = ["OpenAICompatible"]

_Stop: TypeAlias = Literal["end", "tool_calls", "length", "refused"]
_STOPS: Final[Mapping[str, _Stop]] = {
    "stop": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "refused",
}
_FIRST_OF_ITS_KIND: Final = "https://api.openai.com/"


class OpenAICompatible:
    """The dialect of `/chat/completions`."""

    capabilities = ProviderCapabilities(tool_calls=True, streaming=True)
    default_url = _FIRST_OF_ITS_KIND + "v1"

    def path(self, base_url: str) -> str:
        return "/chat/completions"

    def headers(self, credential: Credential | None) -> Mapping[str, str]:
        return {"authorization": f"Bearer {credential.secret}"} if credential else {}

    def exchange(self, request: ChatRequest, model: str, base_url: str) -> _Exchange:
        return _Exchange(request, model, f"{base_url}/".startswith(_FIRST_OF_ITS_KIND))


class _Exchange:
    def __init__(self, request: ChatRequest, model: str, is_first: bool) -> None:
        self._request = request
        self._model = model
        self._limit = "max_completion_tokens" if is_first else "max_tokens"  # Compatible servers know the old name.
        self._names = ToolNames(request.tools)
        self._text = TextJoin()
        self._calls = _CallsInPieces()
        self._reason: str | None = None
        self._is_refusal = False
        self._usage: Usage | None = None
        self._answered_by = ""

    # What is sent ------------------------------------------------------------------------------------

    def body(self, *, streaming: bool) -> Mapping[str, Any]:
        request = self._request
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [*_system(request), *(self._message(each) for each in request.messages)],
            self._limit: request.max_tokens,
        }
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": self._names.on_wire(tool.name),
                        "description": tool.description,
                        "parameters": tool.input_schema,
                    },
                }
                for tool in request.tools
            ]
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if streaming:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def _message(self, message: Message) -> dict[str, Any]:
        match message.role:
            case "user":
                return {"role": "user", "content": message.text}
            case "tool":
                return {"role": "tool", "tool_call_id": message.request_id or "", "content": message.text}
            case "assistant" if message.tool_requests:
                calls = [self._call(each) for each in message.tool_requests]
                return {"role": "assistant", "content": message.text or None, "tool_calls": calls}
            case "assistant":
                return {"role": "assistant", "content": message.text}

    def _call(self, request: ToolRequest) -> dict[str, Any]:
        arguments = json.dumps(request.arguments, ensure_ascii=False)
        name = self._names.on_wire(request.name)
        return {"id": request.id, "type": "function", "function": {"name": name, "arguments": arguments}}

    # What comes back in one piece --------------------------------------------------------------------

    def whole(self, payload: Mapping[str, Any]) -> ChatResponse:
        choice = _choice(payload)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise malformed("it has no message")
        given = message.get("tool_calls")
        self._calls.add_all(given if isinstance(given, list) else [])
        self._note(payload, choice, message)
        self._text.feed(text_of(message.get("content")) + text_of(message.get("refusal")))
        return self._response(payload)

    # What comes back in events -----------------------------------------------------------------------

    def feed(self, event: Mapping[str, Any]) -> str:
        choices = event.get("choices")
        choice = table_of(choices[0]) if isinstance(choices, list) and choices else {}
        delta = table_of(choice.get("delta"))
        self._note(event, choice, delta)
        given = delta.get("tool_calls")
        for each in given if isinstance(given, list) else []:
            self._calls.feed(table_of(each))
        text = self._text.feed(delta.get("content")) + self._text.feed(delta.get("refusal"))
        return text + self._text.end() if self._reason else text

    @property
    def is_complete(self) -> bool:
        return False  # The count of tokens follows the reason why it stopped.

    def end(self, *, said_so: bool) -> ChatResponse:
        if self._reason is None and not said_so:
            raise ProviderError("the stream ended before the answer was complete", kind="network", hint="try again")
        return self._response(None)

    # -------------------------------------------------------------------------------------------------

    def _note(self, payload: Mapping[str, Any], choice: Mapping[str, Any], message: Mapping[str, Any]) -> None:
        self._reason = text_of(choice.get("finish_reason")) or self._reason
        self._is_refusal = self._is_refusal or bool(text_of(message.get("refusal")))
        self._answered_by = self._answered_by or text_of(payload.get("model"))[:200]
        if isinstance(used := payload.get("usage"), dict):
            self._usage = Usage(
                input_tokens=count_of(used.get("prompt_tokens")),
                output_tokens=count_of(used.get("completion_tokens")),
                cached_tokens=count_of(table_of(used.get("prompt_tokens_details")).get("cached_tokens")),
            )

    def _response(self, payload: Mapping[str, Any] | None) -> ChatResponse:
        calls: list[ToolRequest] = []
        for given_id, name, arguments in self._calls:
            calls.append(
                tool_request(given_id, name, arguments, request=self._request, names=self._names, earlier=calls)
            )
        stop = "refused" if self._is_refusal else _STOPS.get(self._reason or "stop", "end")
        return ChatResponse(
            final_text=self._text.text,
            tool_calls=tuple(calls),
            raw_provider_payload=payload,
            usage=self._usage,
            model=self._answered_by,
            stop="tool_calls" if calls and stop == "end" else stop,
        )


def _system(request: ChatRequest) -> Iterator[dict[str, Any]]:
    if request.system_prompt:
        yield {"role": "system", "content": request.system_prompt}


def _choice(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = payload.get("choices")
    if not isinstance(choices, list) or not choices:
        raise malformed("it has no choices")
    return table_of(choices[0])


class _CallsInPieces:
    """Tool calls whose arguments arrive in pieces, each piece with the index of its call.

    Servers leave indexes out, skip some, or give every call the same one; a new id with a name begins a new call.
    """

    def __init__(self) -> None:
        self._calls: list[dict[str, Any]] = []
        self._places: dict[Any, int] = {}

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        for call in self._calls:
            arguments = call["arguments"]
            whole = (
                arguments[0] if len(arguments) == 1 else "".join(each for each in arguments if isinstance(each, str))
            )
            yield call["id"], call["name"], whole

    def add_all(self, given: list[Any]) -> None:
        for number, each in enumerate(given):
            self.feed({**table_of(each), "index": number})

    def feed(self, piece: Mapping[str, Any]) -> None:
        function = table_of(piece.get("function"))
        given_id, name = text_of(piece.get("id")), text_of(function.get("name"))
        index = piece.get("index")
        place = self._places.get(index) if isinstance(index, int) else len(self._calls) - 1
        if place is None or place < 0 or (given_id and name and self._calls[place]["id"] not in ("", given_id)):
            if len(self._calls) >= MOST_CALLS:
                raise malformed(f"it asks for more than {MOST_CALLS} calls at once")
            self._calls.append({"id": given_id, "name": name, "arguments": []})
            place = len(self._calls) - 1
            if isinstance(index, int):
                self._places[index] = place
        call = self._calls[place]
        call["name"] = call["name"] or name
        call["id"] = call["id"] or given_id
        if function.get("arguments") not in (None, ""):
            call["arguments"].append(function["arguments"])
