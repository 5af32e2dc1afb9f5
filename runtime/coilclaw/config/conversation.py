"""The configuration of conversations with a model: providers, channels, memory and what an exchange may cost."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from coilclaw.config.checks import at_least, at_most, more_than
from coilclaw.config.section import Place, Section

__all__ = ["AgentSection", "Channels", "Memory", "ProviderModel", "Providers", "address_problem", "is_variable_name"]


_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_PROFILE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}:[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")


def is_variable_name(text: str) -> bool:
    """Whether an environment variable can be called this; what was pasted in its place may be a secret."""
    return _VARIABLE.fullmatch(text) is not None


# A key that was pasted where its name belongs is refused here: what is no name is never repeated in a message.


def _is_reference(text: str) -> str | None:
    kind, _, rest = text.partition(":")
    is_one = kind == "file" or (kind == "env" and is_variable_name(rest))
    return None if is_one else "env:NAME or file:/path; the key itself never stands here"


def _is_variable(text: str) -> str | None:
    return None if is_variable_name(text) else "the name of an environment variable; the key never stands here"


def address_problem(text: str) -> str | None:
    """What is wrong with the address of a server; None if it can be one. It may hold a secret, and is not repeated."""
    try:
        parts = urlsplit(text)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        fits = False
    fits = fits and text.isprintable() and " " not in text
    return None if fits else "the address of a server, such as http://localhost:1234/v1"


def _is_profile(text: str) -> str | None:
    return None if _PROFILE.fullmatch(text) else "the id of an auth profile, such as anthropic:work"


class ProviderModel(Section):
    """A model service: its kind, its address and its model; or others that are tried in order or chosen by a hint."""

    kind: Literal["mock", "openai-compatible", "anthropic", "reliable", "router"]
    model: str | None = None
    base_url: Annotated[str | None, address_problem] = field(default=None, repr=False)
    api_key_env: Annotated[str | None, _is_variable] = None
    api_key: Annotated[str | None, _is_reference] = field(default=None, repr=False)
    profile: Annotated[str | None, _is_profile] = None
    fixture: Path | None = None
    providers: tuple[str, ...] = ()
    routes: Mapping[str, str] = field(default_factory=dict)
    default: str | None = None
    seconds: Annotated[float, more_than(0)] = 120.0
    retries: Annotated[int, at_least(0), at_most(10)] = 2
    input_price: Annotated[float, at_least(0)] = 0.0
    output_price: Annotated[float, at_least(0)] = 0.0

    @property
    def named(self) -> tuple[str, ...]:
        """The other providers that this one leads to."""
        return (*self.providers, *self.routes.values(), *([self.default] if self.default else []))

    @classmethod
    def problems(cls, values: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
        kind = values.get("kind")
        if kind == "openai-compatible" and values.get("base_url") is None:
            yield ("base_url",), "this kind needs the address of its server, such as http://localhost:1234/v1"
        if kind == "reliable" and not values.get("providers", ("",)):
            yield ("providers",), "this kind needs the names of the providers to try, in order"
        if kind == "router" and not values.get("routes") and not values.get("default"):
            yield ("routes",), 'this kind needs routes, such as { fast = "local" }, or a default'
        for key, kinds in _KEYS_OF_KINDS.items():
            if kind is not None and kind not in kinds and values.get(key):
                yield (key,), f"is for {' and '.join(kinds)}, not for {kind}"


_KEYS_OF_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "fixture": ("mock",),
    "providers": ("reliable",),
    "routes": ("router",),
    "default": ("router",),
    "base_url": ("openai-compatible", "anthropic"),
    "api_key_env": ("openai-compatible", "anthropic"),
    "api_key": ("openai-compatible", "anthropic"),
    "profile": ("openai-compatible", "anthropic"),
}


_ALWAYS_THERE: Final = {"local": ProviderModel(kind="mock", model="mock")}


class Providers(Section):
    """The model services, by name."""

    models: Mapping[str, ProviderModel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """The mock is always there: it needs no service and no key."""
        object.__setattr__(self, "models", {**_ALWAYS_THERE, **self.models})

    @classmethod
    def problems(cls, values: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
        models = {**_ALWAYS_THERE, **values.get("models", {})}
        for name, each in models.items():
            for other in each.named:
                if other not in models:
                    yield ("models", name), f"names the provider {other!r}, which is not configured"
            if name in _reached(models, name):
                yield ("models", name), "leads back to itself"


def _reached(models: Mapping[str, ProviderModel], name: str) -> set[str]:
    """The providers behind one, at any depth."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        each = models.get(ahead.pop())
        named = () if each is None else each.named
        ahead += [other for other in named if other not in found]
        found.update(named)
    return found


class CliChannel(Section):
    """The terminal as a place for conversations."""

    enabled: bool = True
    tools_allow: tuple[str, ...] | None = None
    """Names or patterns of what an agent's conversation here may call; absent means all."""


class GatewayChannel(Section):
    """The server as a place for conversations: browsers and programs."""

    enabled: bool = True
    tools_allow: tuple[str, ...] | None = None
    """Names or patterns of what an agent's conversation here may call; absent means all."""


class Channels(Section):
    """Places that conversations come from."""

    cli: CliChannel = CliChannel()
    gateway: GatewayChannel = GatewayChannel()

    def tools_allow(self) -> dict[str, tuple[str, ...]]:
        """By channel, what its conversations may call; a channel that is not named may call everything."""
        bounds = {each.name: getattr(self, each.name).tools_allow for each in fields(self)}
        return {name: allowed for name, allowed in bounds.items() if allowed is not None}


class Memory(Section):
    """Where conversations are kept: in the database of the receipts, whatever the path says."""

    backend: Literal["sqlite"] = "sqlite"
    path: Path = Path("${COILCLAW_HOME}/coilclaw.db")


class AgentSection(Section):
    """What one exchange of a conversation may cost."""

    max_tokens: Annotated[int, at_least(64)] = 4096
    context_tokens: Annotated[int, at_least(1000)] = 24_000
    exchange_tokens: Annotated[int, at_least(1000)] = 200_000
    exchange_price: Annotated[float, at_least(0)] = 0.0
    """In the currency of the providers' prices; 0 is no bound."""
