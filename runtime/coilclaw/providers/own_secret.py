"""A service's own credential, kept out of what the service answers: it may echo what it was sent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from coilclaw.providers.reading import malformed

if TYPE_CHECKING:
    from coilclaw.providers.chat import ChatResponse, ToolRequest

__all__ = ["OwnSecret"]

_SHORTEST: Final = 8
"""Characters of a credential that is looked for: a shorter one is a word that stands for none."""
_MARK: Final = "[redacted]"


class OwnSecret:
    """Replaces a credential in one answer, in its pieces and in the whole."""

    def __init__(self, secret: str | None) -> None:
        self._secret = secret if secret is not None and len(secret) >= _SHORTEST else None
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return what can be shown now: what may be the beginning of the credential is held back."""
        if self._secret is None:
            return piece
        *before, rest = (self._held + piece).split(self._secret)
        longest = min(len(rest), len(self._secret) - 1)
        held = next((size for size in range(longest, 0, -1) if self._secret.startswith(rest[-size:])), 0)
        self._held = rest[len(rest) - held :]
        return _MARK.join((*before, rest[: len(rest) - held]))

    def end(self) -> str:
        """Return what was held back and is not the credential."""
        held, self._held = self._held, ""
        return held

    def without(self, response: ChatResponse) -> ChatResponse:
        """Return a whole response without the credential."""
        if self._secret is None:
            return response
        try:
            return replace(
                response,
                final_text=self._text(response.final_text),
                tool_calls=tuple(map(self._request, response.tool_calls)),
                raw_provider_payload=self._value(response.raw_provider_payload),
                model=self._text(response.model),
            )
        except RecursionError:
            raise malformed("it is nested too deeply") from None

    def _request(self, request: ToolRequest) -> ToolRequest:
        return replace(
            request,
            id=self._text(request.id),
            name=self._text(request.name),
            arguments=self._value(dict(request.arguments)),
            echo=self._value(request.echo),
        )

    def _text(self, text: str) -> str:
        return text if self._secret is None else text.replace(self._secret, _MARK)

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {self._value(name): self._value(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._value(each) for each in value]
        return value
