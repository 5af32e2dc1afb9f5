"""A provider that chooses among others by the hint in a request's metadata."""

from __future__ import annotations

from collections.abc import Mapping

from coilclaw.providers.chat import ChatRequest, ChatResponse, ChatStream, Provider, ProviderCapabilities
from coilclaw.providers.errors import ProviderError
from coilclaw.sdk.legible import as_name

__all__ = ["Router"]


class Router:
    """Sends each request to the provider of its hint, or else to the default one."""

    def __init__(self, name: str, routes: Mapping[str, Provider], default: Provider | None) -> None:
        self._name = name
        self._routes = routes
        self._default = default

    def name(self) -> str:
        return self._name

    def capabilities(self) -> ProviderCapabilities:
        """What all of them can do."""
        each = [provider.capabilities() for provider in self._all()]
        return ProviderCapabilities(
            tool_calls=all(one.tool_calls for one in each),
            streaming=all(one.streaming for one in each),
            prompt_cache=all(one.prompt_cache for one in each),
        )

    async def chat(self, request: ChatRequest) -> ChatResponse:
        return await self._chosen(request).chat(request)

    def stream(self, request: ChatRequest) -> ChatStream:
        return self._chosen(request).stream(request)

    async def aclose(self) -> None:
        for provider in self._all():
            await provider.aclose()

    def _all(self) -> list[Provider]:
        return [*self._routes.values(), *([self._default] if self._default else [])]

    def _chosen(self, request: ChatRequest) -> Provider:
        hint = request.metadata.get("hint")
        found = self._routes.get(hint) if isinstance(hint, str) else None
        if found is None:
            found = self._default
        if found is None:
            given = "a request without a hint" if hint is None else f"the hint {as_name(str(hint), 80)}"
            raise ProviderError(
                f"{self._name} has no route for {given}; there is {', '.join(sorted(self._routes))}",
                kind="refused",
                provider=self._name,
                hint=f"add it to `routes`, or set `default` in [providers.models.{self._name}]",
            )
        return found
