"""Which credential a provider uses: a pinned profile, the profiles in order, the environment, or an error.

The error names the command that fixes it. Nothing here reads the files of any other program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Final

from coilclaw.providers.auth.cooldown import rests_until
from coilclaw.providers.auth.profiles import Profile, Usage, as_text, is_reference, secret_of, type_of
from coilclaw.providers.credentials import Credential, credential_at, references
from coilclaw.providers.errors import CredentialsNeeded
from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import as_name

if TYPE_CHECKING:
    from coilclaw.config import ProviderModel
    from coilclaw.providers.auth.store import StoredProfiles

__all__ = ["Asked", "ResolvedCredential", "resolve"]

_BEARER: Final = ("token", "oauth")


class Asked(Frozen):
    """What a provider asks for: by its name and kind, its table, and a profile that is to be used and no other."""

    provider: str
    kind: str
    table: ProviderModel = field(repr=False)
    pinned: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What its profiles may call it: any provider of Anthropic's kind takes profiles for `anthropic`."""
        return tuple(dict.fromkeys((self.provider, "anthropic") if self.kind == "anthropic" else (self.provider,)))


class ResolvedCredential(Credential):
    """A credential, and what it was asked for: so that the next can be found when it fails."""

    asked: Asked = field(compare=False)


class _Unusable(Frozen):
    """A credential that was passed over."""

    name: str
    reason: str
    free_at: float = math.inf


def resolve(
    asked: Asked, stored: StoredProfiles, failed: Mapping[str, Usage], environment: Mapping[str, str], *, now: float
) -> ResolvedCredential | None:
    """Return the first credential that can be used now, or None for a service that needs none.

    `failed` has what this process noted beyond the store. Raises CredentialsNeeded.
    """
    passed: list[_Unusable] = []
    for name, found in _candidates(asked, stored, environment):
        if isinstance(found, str):
            passed.append(_Unusable(name=name, reason=found))
            continue
        profile = stored.profiles.get(name)
        expires = getattr(profile, "expires", None)
        until = rests_until(failed.get(name) or stored.usage_of(name), found.secret, now=now)
        if expires is not None and expires <= now:
            passed.append(_Unusable(name=name, reason=f"expired at {as_text(expires)}"))
        elif until == math.inf:
            passed.append(_Unusable(name=name, reason="was refused by the service"))
        elif until is not None:
            passed.append(_Unusable(name=name, reason=f"rests until {as_text(until)}", free_at=until))
        else:
            given = {each: getattr(found, each) for each in Credential.__dataclass_fields__}
            return ResolvedCredential(**given, asked=asked)
    table = asked.table
    if not passed and asked.kind != "anthropic" and not (asked.pinned or table.api_key or table.api_key_env):
        return None
    raise _needed(asked, passed)


def _candidates(
    asked: Asked, stored: StoredProfiles, environment: Mapping[str, str]
) -> Iterator[tuple[str, Credential | str]]:
    """Every credential there is, in order; in place of one that cannot be read, the reason."""
    for profile_id in [asked.pinned] if asked.pinned else stored.of(*asked.names):
        profile = stored.profiles.get(profile_id)
        if profile is None:
            yield profile_id, "is not stored"
        elif profile.provider not in asked.names:
            yield profile_id, f"is for {as_name(profile.provider)}"
        else:
            mode = stored.modes.get(profile_id, type_of(profile))
            yield profile_id, _read(profile_id, profile, "bearer" if mode in _BEARER else "api_key", environment)
    for place in () if asked.pinned else references(asked.kind, asked.table):
        try:
            found = credential_at(place, environment)
        except OperatorError as error:
            yield place, f"cannot be used: {error.message}"
        else:
            if found is not None:
                yield place, found


def _read(profile_id: str, profile: Profile, style: str, environment: Mapping[str, str]) -> Credential | str:
    secret = secret_of(profile)
    try:
        if is_reference(secret):
            found = credential_at(secret, environment)
            if found is None:
                return f"refers to {secret}, which is not set"
            secret = found.secret
        return Credential(secret=secret, style="bearer" if style == "bearer" else "api_key", profile=profile_id)
    except OperatorError as error:
        return f"cannot be used: {error.message}"


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
