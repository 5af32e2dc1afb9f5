"""A provider that tries others in order until one answers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final

from coilclaw.providers.chat import (
    ChatRequest,
    ChatResponse,
    ChatStream,
    Provider,
    ProviderCapabilities,
    TextDelta,
)
from coilclaw.providers.errors import CredentialsNeeded, FailureKind, ProviderError
from coilclaw.sdk.frozen import Frozen

__all__ = ["ProviderChanged", "Reliable"]

_log: Final = logging.getLogger(__name__)
_PASSES_ON: Final[tuple[FailureKind, ...]] = ("network", "timeout", "auth", "rate_limit", "billing", "server")
"""Failures of one service that another may not have. What a service refuses or garbles is for a person to see."""


class ProviderChanged(Frozen):
    """A provider failed, and the next one is asked."""

    before: str
    after: str
    kind: FailureKind
    reason: str
    conversation: str | None = None
    """As the request's metadata names it."""

    def facts(self) -> dict[str, Any]:
        """Return what a log and a receipt say about it."""
        return {
            "from": self.before,
            "to": self.after,
            "kind": self.kind,
            "reason": self.reason,
            "conversation": self.conversation,
        }


class Reliable:
    """Asks providers in order; the next one if the one before fails for a reason of its own.

    Text that has been passed on cannot be taken back: if a stream fails after that, its failure is raised.
    """

    def __init__(self, name: str, providers: Sequence[Provider], listen: Callable[[ProviderChanged], None]) -> None:
        self._name = name
        self._providers = providers
        self._listen = listen

    def name(self) -> str:
        return self._name

    def capabilities(self) -> ProviderCapabilities:
        """What all of them can do, since any may be the one that answers; streaming, if one does."""
        each = [provider.capabilities() for provider in self._providers]
        return ProviderCapabilities(
            tool_calls=all(one.tool_calls for one in each),
            streaming=any(one.streaming for one in each),
            prompt_cache=all(one.prompt_cache for one in each),
        )

    async def chat(self, request: ChatRequest) -> ChatResponse:
        failures: list[ProviderError] = []
        for provider in self._providers:
            try:
                return await provider.chat(self._passed_on(request, failures, provider))
            except ProviderError as error:
                self._admit(failures, error)
        raise self._nobody(failures)

    async def stream(self, request: ChatRequest) -> ChatStream:
        failures: list[ProviderError] = []
        for provider in self._providers:
            released = False
            try:
                async with aclosing(provider.stream(self._passed_on(request, failures, provider))) as stream:
                    async for item in stream:
                        released = released or (isinstance(item, TextDelta) and bool(item.text))
                        yield item
                return
            except ProviderError as error:
                if released:
                    raise
                self._admit(failures, error)
        raise self._nobody(failures)

    async def aclose(self) -> None:
        for provider in self._providers:
            await provider.aclose()

    def _admit(self, failures: list[ProviderError], error: ProviderError) -> None:
        """Remember a failure that leads to the next provider; raise any other."""
        if error.kind not in _PASSES_ON:
            raise error
        failures.append(error)

    def _passed_on(self, request: ChatRequest, failures: Sequence[ProviderError], to: Provider) -> ChatRequest:
        """Report a change of provider. A model that was asked for by name is one of the first provider's."""
        if not failures:
            return request
        before = self._providers[len(failures) - 1].name()
        error = failures[-1]
        conversation = request.metadata.get("conversation")
        change = ProviderChanged(
            before=before,
            after=to.name(),
            kind=error.kind,
            reason=error.message,
            conversation=conversation if isinstance(conversation, str) else None,
        )
        _log.warning("provider.fallback", extra={"event": change.facts()})
        self._listen(change)
        return replace(request, model=None)

    def _nobody(self, failures: Sequence[ProviderError]) -> ProviderError:
        if len(failures) == 1:
            return failures[0]
        message = f"no provider of {self._name} answered: " + "; ".join(error.message for error in failures)
        hint = next((error.hint for error in failures if error.hint), None)
        if all(isinstance(error, CredentialsNeeded) for error in failures):
            return CredentialsNeeded(
                message, provider=self._name, hint=hint or "`coilclaw auth list` shows what there is"
            )
        soonest = min((error.retry_after for error in failures if error.retry_after is not None), default=None)
        return ProviderError(message, kind=failures[-1].kind, provider=self._name, retry_after=soonest, hint=hint)
