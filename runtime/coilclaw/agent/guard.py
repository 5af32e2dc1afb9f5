"""Bounds of one exchange: repeated requests, tokens, price and time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from coilclaw.providers import Usage
from coilclaw.sandbox import Deadline

if TYPE_CHECKING:
    from coilclaw.agent.settings import AgentSettings
    from coilclaw.app import Caller
    from coilclaw.policy import Answer, Approver, Question
    from coilclaw.providers import ToolRequest

__all__ = ["ExchangeClock", "LoopGuard", "Spending"]

_MOST_ALIKE: Final = 2
_MILLION: Final = 1_000_000


class LoopGuard:
    """Counts the requests of an exchange; one that was made twice is not carried out a third time."""

    def __init__(self, before: Iterable[ToolRequest] = ()) -> None:
        self._made = Counter(map(_identity, before))

    def is_repeated(self, request: ToolRequest) -> bool:
        """Note a request that is about to be carried out, and say whether there were too many like it."""
        identity = _identity(request)
        self._made[identity] += 1
        return self._made[identity] > _MOST_ALIKE


def _identity(request: ToolRequest) -> str:
    return json.dumps([request.name, request.arguments], sort_keys=True, default=str)


class Spending:
    """What an exchange has used so far, and whether it may use more."""

    def __init__(self, settings: AgentSettings, before: Iterable[tuple[str, Usage]] = ()) -> None:
        self._settings = settings
        self.usage = Usage()
        self.price = 0.0
        for provider, usage in before:
            self.add(provider, usage)

    def add(self, provider: str, usage: Usage) -> None:
        """Count one reply."""
        total = self.usage
        self.usage = Usage(
            input_tokens=total.input_tokens + usage.input_tokens,
            output_tokens=total.output_tokens + usage.output_tokens,
            cached_tokens=total.cached_tokens + usage.cached_tokens,
        )
        if (price := self._settings.prices.get(provider)) is not None:
            self.price += (usage.input_tokens * price.input + usage.output_tokens * price.output) / _MILLION

    @property
    def exceeded(self) -> str | None:
        """Why nothing more may be asked in this exchange, or None."""
        tokens, settings = self.usage.input_tokens + self.usage.output_tokens, self._settings
        if tokens >= settings.exchange_tokens:
            return f"this exchange has used {tokens} tokens; [agent] exchange_tokens is {settings.exchange_tokens}"
        if settings.exchange_price and self.price >= settings.exchange_price:
            return f"this exchange has cost {self.price:.4f}; [agent] exchange_price is {settings.exchange_price:g}"
        return None

    def is_near_end(self, next_tokens: int) -> bool:
        """Whether there is room for one more request of this size, and not for two."""
        tokens = self.usage.input_tokens + self.usage.output_tokens
        return tokens + 2 * next_tokens > self._settings.exchange_tokens


class ExchangeClock:
    """How much of its time an exchange has left in this process. It stands still while a person is asked."""

    def __init__(self, seconds: float) -> None:
        self._deadline = Deadline(seconds)

    @property
    def remaining(self) -> float:
        return self._deadline.remaining

    @property
    def exceeded(self) -> str | None:
        """Why nothing more may be done in this exchange, or None."""
        return self.reason if self._deadline.expired else None

    @property
    def reason(self) -> str:
        """Why an exchange whose time is over has ended."""
        return f"this exchange has taken {self._deadline.seconds:g} s, all that [limits] exchange_seconds gives it"

    def stopped_for_people(self, caller: Caller) -> Caller:
        """The same caller, whose approvals and questions take none of the time."""
        ask = caller.ask

        def asked(question: str) -> str | None:
            with self._deadline.paused():
                return ask(question)

        return replace(caller, approver=_StoppedApprover(caller.approver, self._deadline), ask=asked)


class _StoppedApprover:
    """Asks somebody else, and lets the clock stand still meanwhile."""

    def __init__(self, approver: Approver, deadline: Deadline) -> None:
        self._approver = approver
        self._deadline = deadline

    def decide(self, question: Question) -> Answer:
        with self._deadline.paused():
            return self._approver.decide(question)
