"""Opening an agent: the provider that the configuration names, over an app."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from coilclaw.agent.agent import Agent
from coilclaw.agent.answer import ProviderChanged
from coilclaw.providers import open_provider

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw
    from coilclaw.providers import Credentials
    from coilclaw.providers import ProviderChanged as FallBack

__all__ = ["open_agent"]

_logger: Final = logging.getLogger(__name__)
_WITH_KEYS: Final = ("openai-compatible", "anthropic")


@asynccontextmanager
async def open_agent(
    claw: CoilClaw,
    *,
    provider: str | None = None,
    environment: Mapping[str, str] | None = None,
    credentials: Credentials | None = None,
) -> AsyncIterator[Agent]:
    """An agent over an app, with a provider of its configuration; by default the default one.

    Keys come from `credentials`; by default from the auth profiles of the home, and then from where the provider's
    table says, which may be variables of `environment`. Rotations and fallbacks are recorded.
    """
    config = claw.settings.config
    name = provider or config.default_provider

    def fell_back(change: FallBack) -> None:
        facts = change.facts()
        claw.receipts.record("provider.fallback", facts, conversation=facts.pop("conversation"))
        event = ProviderChanged(before=change.before, after=change.after, reason=change.reason)
        agent.tell(change.conversation, event)

    if credentials is None and any(each.kind in _WITH_KEYS for each in config.providers.models.values()):
        from coilclaw.providers import ProfileCredentials

        credentials = ProfileCredentials(claw.settings.home, environment or {}, record=claw.receipts.record)
    opened = open_provider(config, name, credentials=credentials, environment=environment, listen=fell_back)
    agent = Agent(claw, opened)
    table = config.providers.models[name]
    _logger.info("provider.selected", extra={"event": {"provider": name, "kind": table.kind, "model": table.model}})
    try:
        yield agent
    finally:
        await agent.aclose()
