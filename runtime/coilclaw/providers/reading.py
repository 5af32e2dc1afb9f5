"""Values from the answers of services and models, which may hold anything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from coilclaw.providers.chat import ChatRequest, ToolRequest
from coilclaw.providers.errors import ProviderError
from coilclaw.providers.tool_names import ToolNames
from coilclaw.sdk.legible import one_line

__all__ = [
    "MOST_CALLS",
    "TextJoin",
    "count_of",
    "malformed",
    "read_document",
    "storable",
    "table_of",
    "text_of",
    "tool_request",
]

MOST_CALLS: Final = 128
"""Tool calls of one answer."""
_LONGEST_NAME: Final = 200


def malformed(problem: str) -> ProviderError:
    """An answer that cannot be read. Whoever knows the provider adds its name."""
    hint = "check that `base_url` leads to a service of this kind"
    return ProviderError(f"the answer cannot be read: {problem}", kind="malformed", hint=hint)


def read_document(data: str | bytes) -> dict[str, Any]:
    """Return a JSON object. Raises ProviderError if it is none."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise malformed("it is not JSON") from None
    if not isinstance(document, dict):
        raise malformed("it is not a JSON object")
    return document


def storable(value: Any) -> Any:
    """Return JSON data without halves of characters, which no file and no request can hold.

    Raises ProviderError for infinite numbers and endless nesting.
    """
    try:
        return json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise malformed("it has infinite numbers or is nested too deeply") from None


def table_of(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def count_of(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 2**53 else 0


def text_of(value: Any) -> str:
    """Return a text as valid Unicode, and nothing for what is no text."""
    return _whole(value) if isinstance(value, str) else ""


def _whole(text: str) -> str:
    """Join the halves of characters that JSON may have in two parts; a half alone becomes a replacement character."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class TextJoin:
    """The text of a stream, whose pieces may split a character into the halves that JSON escapes."""

    def __init__(self) -> None:
        self._held = ""
        self._pieces: list[str] = []

    def feed(self, piece: Any) -> str:
        """Return what can be shown now."""
        text = self._held + piece if isinstance(piece, str) else self._held
        self._held = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        shown = _whole(text)
        self._pieces.append(shown)
        return shown

    def end(self) -> str:
        """Return what was held back: half a character that never became whole."""
        shown = _whole(self._held)
        self._held = ""
        self._pieces.append(shown)
        return shown

    @property
    def text(self) -> str:
        return "".join(self._pieces)


def tool_request(
    given_id: Any, name: Any, arguments: Any, *, request: ChatRequest, names: ToolNames, earlier: Iterable[ToolRequest]
) -> ToolRequest:
    """Return a model's wish under an id that neither the conversation nor the same answer has yet."""
    taken = {each.id for message in request.messages for each in message.tool_requests} | {each.id for each in earlier}
    read, problem = _arguments(arguments)
    return ToolRequest(
        id=_free_id(text_of(given_id)[:_LONGEST_NAME], taken),
        name=names.own(one_line(text_of(name)[:_LONGEST_NAME])),
        arguments=read,
        problem=problem,
    )


def _free_id(given: str, taken: set[str]) -> str:
    base = given if given.isprintable() and given else "call"
    number = 1
    found = base
    while found in taken or found == "call":
        found, number = f"{base}-{number}", number + 1
    return found


def _arguments(given: Any) -> tuple[Mapping[str, Any], str | None]:
    """Return arguments, or none and what is wrong with them. A model may have written anything, or half of it."""
    from pydantic_core import from_json, to_json

    if given is None or given == "":
        return {}, None
    try:
        # These refuse what could not be stored: halves of characters, infinities, endless nesting.
        data = _whole(given).encode() if isinstance(given, str) else to_json(given, inf_nan_mode="constants")
        read = from_json(data, allow_inf_nan=False)
        json.dumps(read, allow_nan=False)  # 1e999 is valid, and infinite.
    except (ValueError, RecursionError):
        return {}, "the arguments are not valid JSON"
    if not isinstance(read, dict):
        return {}, "the arguments are not a JSON object"
    return read, None
