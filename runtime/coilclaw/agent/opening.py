"""Opening an agent: the provider that the configuration names, over an app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from coilclaw.agent.agent import Agent
from coilclaw.agent.answer import ProviderChanged
from coilclaw.providers import open_provider

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw
    from coilclaw.providers import Credentials
    from coilclaw.providers import ProviderChanged as FallBack

__all__ = ["open_agent"]


@asynccontextmanager
async def open_agent(
    claw: CoilClaw,
    *,
    provider: str | None = None,
    environment: Mapping[str, str] | None = None,
    credentials: Credentials | None = None,
) -> AsyncIterator[Agent]:
    """An agent over an app, with a provider of its configuration; by default the default one.

    Keys come from `credentials`, by default from the auth profiles of the home, from where the provider's table says,
    and from variables of `environment`. Receipts tell of rotated credentials and of providers that fell back.
    """
    config = claw.settings.config
    table = config.providers.models.get(provider or config.default_provider)
    if credentials is None and table is not None and table.kind != "mock":
        from coilclaw.providers.auth import ProfileCredentials  # A mock needs none, and is to start quickly.

        credentials = ProfileCredentials(claw.settings.home, environment or {}, record=claw.receipts.record)

    def fell_back(change: FallBack) -> None:
        facts = {name: value for name, value in change.facts().items() if name != "conversation"}
        claw.receipts.record("provider.fallback", facts, conversation=change.conversation)
        event = ProviderChanged(before=change.before, after=change.after, reason=change.reason)
        agent.tell(change.conversation, event)

    opened = open_provider(config, provider, credentials=credentials, environment=environment, listen=fell_back)
    agent = Agent(claw, opened)
    try:
        yield agent
    finally:
        await agent.aclose()
