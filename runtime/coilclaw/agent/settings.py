"""What an exchange of a conversation may cost and call, and which model answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.config import Config

__all__ = ["AgentSettings", "ModelChoice", "Price"]


class Price(Frozen):
    """What a million tokens of a provider cost."""

    input: float = 0.0
    output: float = 0.0


class ModelChoice(Frozen):
    """What is asked of the provider in one exchange, beside what its configuration says."""

    model: str | None = None
    """Another model than the provider's own."""
    profile: str | None = None
    """The auth profile to use, and no other."""
    hint: str | None = None
    """By which a router chooses."""


class AgentSettings(Frozen):
    """The bounds of one exchange, and what each channel lets its conversations call."""

    tool_rounds: int = 5
    max_tokens: int = 4096
    """Of one reply."""
    context_tokens: int = 24_000
    """Of what was said before, in each request."""
    exchange_tokens: int = 200_000
    exchange_price: float = 0.0
    """In the currency of the prices; 0 is no bound."""
    tool_tokens: int = 10_000
    """Of what a prompt says about tools."""
    seconds: float = 60.0
    """Of one run."""
    exchange_seconds: float = 900.0
    """From a message, or from taking it up again, to its answer; waiting for a person does not count."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    tools_allow: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By channel; a channel that is not named here may call everything."""

    @classmethod
    def of(cls, config: Config) -> AgentSettings:
        """The settings that a configuration gives."""
        bounds = config.agent
        return cls(
            tool_rounds=config.limits.tool_rounds,
            max_tokens=bounds.max_tokens,
            context_tokens=bounds.context_tokens,
            exchange_tokens=bounds.exchange_tokens,
            exchange_price=bounds.exchange_price,
            tool_tokens=config.prompt.tool_tokens,
            seconds=config.limits.seconds,
            exchange_seconds=config.limits.exchange_seconds,
            prices={
                name: Price(input=each.input_price, output=each.output_price)
                for name, each in config.providers.models.items()
            },
            tools_allow=config.channels.tools_allow(),
        )
