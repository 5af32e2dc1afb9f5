"""Which credential a provider uses: a pinned profile, the profiles in order, the environment, or an error.

The error names the command that fixes it. Nothing here reads the files of any other program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Final

from coilclaw.providers.auth.cooldown import rests_until
from coilclaw.providers.auth.profiles import AuthProfile, Usage, as_text, is_reference, secret_of, type_of
from coilclaw.providers.credentials import Credential, credential_at, references
from coilclaw.providers.errors import CredentialsNeeded
from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import as_name

if TYPE_CHECKING:
    from coilclaw.config import ProviderModel
    from coilclaw.providers.auth.store import StoredProfiles

__all__ = ["Asked", "Known", "ResolvedCredential", "names_for", "profile_states", "resolve"]

_BEARER: Final = ("token", "oauth")


def names_for(provider: str, kind: str) -> tuple[str, ...]:
    """What profiles may call a provider: its own name; one of Anthropic's kind also takes those for `anthropic`."""
    return tuple(dict.fromkeys((provider, "anthropic") if kind == "anthropic" else (provider,)))


class Asked(Frozen):
    """What a provider asks for: by its name and kind, its table, and a profile that is to be used and no other."""

    provider: str
    kind: str
    table: ProviderModel = field(repr=False, compare=False)
    pinned: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What its profiles may call it."""
        return names_for(self.provider, self.kind)


class ResolvedCredential(Credential):
    """A credential, and what it was asked for: so that the next can be found when it fails."""

    asked: Asked = field(compare=False)


class _Unusable(Frozen):
    """A credential that was passed over."""

    name: str
    reason: str
    free_at: float = math.inf


class Known(Frozen):
    """What credentials are found by: the store, and what only this process knows."""

    stored: StoredProfiles
    failed: Mapping[str, Usage]
    """How credentials fared that are not in the store."""
    environment: Mapping[str, str] = field(repr=False)
    now: float
    even_resting: bool = False


def resolve(asked: Asked, known: Known, *, stay_with: str = "") -> ResolvedCredential | None:
    """Return the first credential that can be used now, or None for a service that needs none.

    The one called `stay_with` comes before all others. Raises CredentialsNeeded.
    """
    passed: list[_Unusable] = []
    for name, found in sorted(_candidates(asked, known), key=lambda each: each[0] != stay_with):
        problem = _problem(name, found, known)
        if problem is None and isinstance(found, Credential):
            given = {each: getattr(found, each) for each in Credential.__dataclass_fields__}
            return ResolvedCredential(**given, asked=asked)
        passed += [problem] if problem else []
    table = asked.table
    if not passed and asked.kind != "anthropic" and not (asked.pinned or table.api_key or table.api_key_env):
        return None
    raise _needed(asked, passed)


def profile_states(known: Known) -> list[tuple[AuthProfile, str | None]]:
    """Every stored profile, and why it cannot be used now, if so."""
    states = []
    for view in known.stored.views():
        problem = _problem(view.id, _read(view.id, known), known)
        states.append((view, problem.reason if problem else None))
    return states


def _candidates(asked: Asked, known: Known) -> Iterator[tuple[str, Credential | str]]:
    """Every credential there is, in order; in place of one that cannot be read, the reason."""
    stored = known.stored
    for profile_id in [asked.pinned] if asked.pinned else stored.of(*asked.names):
        if profile_id not in stored.profiles:
            yield profile_id, "is not stored"
        elif (provider := stored.profiles[profile_id].provider) not in asked.names:
            yield profile_id, f"is for {as_name(provider)}"
        else:
            yield profile_id, _read(profile_id, known)
    for place in () if asked.pinned else references(asked.kind, asked.table):
        try:
            found = credential_at(place, known.environment)
        except OperatorError as error:
            yield place, f"cannot be used: {error.message}"
        else:
            if found is not None:
                yield place, found


def _read(profile_id: str, known: Known) -> Credential | str:
    """The credential of a stored profile, or why there is none."""
    profile = known.stored.profiles[profile_id]
    mode, secret = known.stored.modes.get(profile_id, type_of(profile)), secret_of(profile)
    try:
        if is_reference(secret):
            found = credential_at(secret, known.environment)
            if found is None:
                return f"refers to {secret}, which is not set"
            secret = found.secret
        return Credential(secret=secret, style="bearer" if mode in _BEARER else "api_key", profile=profile_id)
    except OperatorError as error:
        return f"cannot be used: {error.message}"


def _problem(name: str, found: Credential | str, known: Known) -> _Unusable | None:
    """Why a credential cannot be used now."""
    if isinstance(found, str):
        return _Unusable(name=name, reason=found)
    expires = getattr(known.stored.profiles.get(name), "expires", None)
    if expires is not None and expires <= known.now:
        return _Unusable(name=name, reason=f"expired at {as_text(expires)}")
    usage = known.failed.get(name) or known.stored.usage_of(name)
    until = None if known.even_resting else rests_until(usage, found.secret, now=known.now)
    if until is None:
        return None
    if until == math.inf:
        return _Unusable(name=name, reason="was refused by the service")
    return _Unusable(name=name, reason=f"rests until {as_text(until)}", free_at=until)


# The error -------------------------------------------------------------------------------------------------


def _needed(asked: Asked, passed: list[_Unusable]) -> CredentialsNeeded:
    provider = as_name(asked.provider)
    free_at = min((each.free_at for each in passed), default=math.inf)
    message = f"{provider} has no credential that can be used"
    if passed:
        message += ": " + "; ".join(f"{as_name(each.name)} {each.reason}" for each in passed)
    command = _command(asked, passed)
    if asked.pinned and passed and passed[0].reason.startswith("is "):
        hint = f"`coilclaw auth list` shows what there is; {command} adds one"
    elif free_at < math.inf:
        hint = f"the first can be used again at {as_text(free_at)}; or run {command} for another"
    else:
        hint = f"run {command}{_variables(asked)}"
    return CredentialsNeeded(message, provider=asked.provider, hint=hint)


def _command(asked: Asked, passed: list[_Unusable]) -> str:
    """The command that stores what is missing, or replaces the first that does not work any more."""
    dead = next((each.name for each in passed if each.free_at == math.inf and ":" in each.name), "")
    provider, _, name = dead.partition(":")
    if provider in asked.names and name != "manual":
        return f"`coilclaw auth add {as_name(provider)} --name {as_name(name)}`"
    if asked.kind == "anthropic":
        return "`coilclaw auth anthropic setup-token` (a subscription) or `coilclaw auth add anthropic` (an API key)"
    return f"`coilclaw auth add {as_name(asked.provider)}`"


def _variables(asked: Asked) -> str:
    places = [each.removeprefix("env:") for each in references(asked.kind, asked.table) if each.startswith("env:")]
    return f", or set {as_name(places[-1])}" if places and not asked.pinned else ""
