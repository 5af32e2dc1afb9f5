"""From a name in the configuration to the provider behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from coilclaw.config import Config, ProviderModel
from coilclaw.providers.credentials import Credentials, KeyFromEnvironment
from coilclaw.sdk import OperatorError
from coilclaw.sdk.legible import as_name

if TYPE_CHECKING:
    from coilclaw.providers.chat import Provider
    from coilclaw.providers.reliable import ProviderChanged

__all__ = ["model_of", "open_provider"]

_CURRENT_CLAUDE: Final = "claude-sonnet-5-5"


def open_provider(
    config: Config,
    name: str | None = None,
    *,
    credentials: Credentials | None = None,
    environment: Mapping[str, str] | None = None,
    listen: Callable[[ProviderChanged], None] | None = None,
) -> Provider:
    """Return the provider of a name, or the default one. Nothing is sent before the first request.

    Without `credentials`, keys come from where the providers' tables say, which may be variables of `environment`.
    `listen` learns when a reliable provider falls back. Raises OperatorError for what is configured wrongly.
    """
    keys = credentials or KeyFromEnvironment(environment or {})
    return _Opening(config, keys, listen or _ignore).provider(name or config.default_provider)


def _ignore(change: ProviderChanged) -> None:
    return


class _Opening:
    """The providers behind one name. One that is reached on two ways is opened once."""

    def __init__(self, config: Config, credentials: Credentials, listen: Callable[[ProviderChanged], None]) -> None:
        self._config = config
        self._credentials = credentials
        self._listen = listen
        self._open: dict[str, Provider] = {}

    def provider(self, name: str) -> Provider:
        if name not in self._open:
            self._open[name] = self._opened(name)
        return self._open[name]

    def _opened(self, name: str) -> Provider:
        models = self._config.providers.models
        table = models.get(name)
        if table is None:
            raise OperatorError(
                f"the provider {as_name(name, 80)} is not configured; there is {', '.join(sorted(models))}",
                hint=f"add [providers.models.{as_name(name, 80)}] to config.toml",
            )
        # Imported here because a mock needs no HTTP client, whose import takes longer than its answer.
        match table.kind:
            case "mock":
                from coilclaw.providers.mock import MockProvider

                return MockProvider(name, table, table.model or "mock")
            case "openai-compatible":
                from coilclaw.providers.openai_compatible import OpenAICompatible
                from coilclaw.providers.service import ModelService

                return ModelService(
                    name, table, model_of(self._config, name, table), self._credentials, OpenAICompatible()
                )
            case "anthropic":
                from coilclaw.providers.anthropic import Anthropic
                from coilclaw.providers.service import ModelService

                return ModelService(name, table, model_of(self._config, name, table), self._credentials, Anthropic())
            case "reliable":
                from coilclaw.providers.reliable import Reliable

                return Reliable(name, [self.provider(each) for each in table.providers], self._listen)
            case "router":
                from coilclaw.providers.router import Router

                routes = {hint: self.provider(each) for hint, each in table.routes.items()}
                return Router(name, routes, self.provider(table.default) if table.default else None)


def model_of(config: Config, name: str, table: ProviderModel) -> str:
    """Return the model that a provider of a service asks for. Raises OperatorError if none is configured."""
    default = config.default_model
    if model := table.model or (default if default != "mock" else None):
        return model
    if table.kind == "anthropic":
        return _CURRENT_CLAUDE
    raise OperatorError(
        f"the provider {name} has no model", hint=f"set `model` in [providers.models.{name}], or `default_model`"
    )
