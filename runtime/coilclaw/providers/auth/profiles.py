"""Auth profiles: the credentials that a person stored, and how each has fared."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import as_name

__all__ = [
    "ApiKey",
    "AuthProfile",
    "CooldownFailure",
    "OAuth",
    "Profile",
    "ProfileType",
    "Token",
    "Usage",
    "as_text",
    "check_profile_id",
    "is_reference",
    "profile_from",
    "profile_object",
    "secret_of",
    "type_of",
    "usage_from",
    "view_of",
]

ProfileType: TypeAlias = Literal["api_key", "token", "oauth"]

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}:[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
_REFERENCE: Final = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]{0,127}|file:[/~][^\0\n]{1,1000}")
_LONGEST_SECRET: Final = 16 * 1024
_MILLISECONDS: Final = 1e11
"""Times from here on are in milliseconds, as some programs write them: in seconds they are thousands of years away."""
_LATEST: Final = 253_402_300_799.0
"""The last second of the year 9999: later ones cannot be shown."""


class ApiKey(Frozen):
    """A key that a service gave out."""

    provider: str
    key: str = field(repr=False)


class Token(Frozen):
    """A token that stands for a subscription, such as the setup token of Claude."""

    provider: str
    token: str = field(repr=False)
    expires: float | None = None


class OAuth(Frozen):
    """The tokens of an OAuth grant. The access token is used until it expires; nothing here renews it."""

    provider: str
    access: str = field(repr=False)
    refresh: str = field(repr=False)
    expires: float


Profile: TypeAlias = ApiKey | Token | OAuth
_TYPES: Final[Mapping[str, type[Profile]]] = {"api_key": ApiKey, "token": Token, "oauth": OAuth}
_SECRETS: Final[Mapping[type[Profile], str]] = {ApiKey: "key", Token: "token", OAuth: "access"}

CooldownFailure: TypeAlias = Literal["rate_limit", "auth", "billing"]


class Usage(Frozen):
    """How a profile has fared. Times are seconds since 1970."""

    last_used_at: float | None = None
    cooldown_until: float | None = None
    """When it may be used again. A credential that was refused has no such time: it has to change."""
    failure: CooldownFailure | None = None
    errors: int = 0
    """Failures since it last worked."""
    mark: str | None = None
    """Of the secret that failed; another secret has not failed."""


class AuthProfile(Frozen):
    """A profile as it may be shown: everything but the secret."""

    id: str
    provider: str
    type: ProfileType
    secret_ref: str
    """Where the secret is: `env:NAME`, `file:/path`, or this profile in the store."""
    expires_at: str | None = None
    last_used_at: str | None = None
    cooldown_until: str | None = None


def secret_of(profile: Profile) -> str:
    """The secret that requests carry, or the reference to it."""
    return cast("str", getattr(profile, _SECRETS[type(profile)]))


def is_reference(secret: str) -> bool:
    """Whether a text says where the secret is, as `env:NAME` or `file:/path`, and is not the secret itself."""
    return _REFERENCE.fullmatch(secret) is not None


def type_of(profile: Profile) -> ProfileType:
    return cast("ProfileType", next(name for name, kind in _TYPES.items() if isinstance(profile, kind)))


def view_of(profile_id: str, profile: Profile, usage: Usage) -> AuthProfile:
    """A profile without its secret."""
    secret = secret_of(profile)
    return AuthProfile(
        id=profile_id,
        provider=profile.provider,
        type=type_of(profile),
        secret_ref=secret if is_reference(secret) else f"auth-profiles.json#{profile_id}",
        expires_at=as_text(getattr(profile, "expires", None)),
        last_used_at=as_text(usage.last_used_at),
        cooldown_until=as_text(usage.cooldown_until),
    )


def as_text(seconds: float | None) -> str | None:
    """A time as ISO 8601 in UTC."""
    if seconds is None:
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(min(max(seconds, 0.0), _LATEST)))


def check_profile_id(profile_id: str, provider: str | None = None) -> None:
    """Raise OperatorError for what no profile can be called. A text that may be a secret is not repeated."""
    if not _ID.fullmatch(profile_id):
        raise OperatorError(
            "a profile is called PROVIDER:NAME, with letters, digits, dots, dashes and underscores",
            hint="for example anthropic:work",
        )
    if provider is not None and not profile_id.startswith(f"{provider}:"):
        raise OperatorError(f"a profile for {as_name(provider)} is called {as_name(provider)}:NAME")


# From and to the store ---------------------------------------------------------------------------------------


def profile_from(found: Any) -> Profile:
    """Read a profile. Raises ValueError with what is wrong, which quotes nothing."""
    if not isinstance(found, dict):
        raise ValueError("is not an object")
    kind = _TYPES.get(found["type"]) if isinstance(found.get("type"), str) else None
    if kind is None:
        raise ValueError(f"needs a `type`: {', '.join(_TYPES)}")
    given: dict[str, Any] = {}
    for name in kind.__dataclass_fields__:
        value = found.get(name)
        if name == "expires":
            given[name] = _time(name, value, optional=kind is Token)
        elif not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_SECRET:
            raise ValueError(f"needs `{name}`, a text of at most {_LONGEST_SECRET} characters")
        else:
            given[name] = value
    return kind(**given)


def profile_object(profile: Profile) -> dict[str, Any]:
    """A profile as the store keeps it."""
    values = {name: getattr(profile, name) for name in profile.__dataclass_fields__}
    return {"type": type_of(profile), **{name: value for name, value in values.items() if value is not None}}


def usage_from(found: Any) -> Usage:
    """Read how a profile has fared. What cannot be read counts as unknown: it is no reason to refuse a credential."""
    if not isinstance(found, dict):
        return Usage()
    failure, errors, mark = found.get("failure"), found.get("errors"), found.get("mark")
    return Usage(
        last_used_at=_known_time(found.get("last_used_at")),
        cooldown_until=_known_time(found.get("cooldown_until")),
        failure=failure if failure in get_args(CooldownFailure) else None,
        errors=errors if isinstance(errors, int) and 0 <= errors < 1000 else 0,
        mark=mark if isinstance(mark, str) else None,
    )


def _time(name: str, value: Any, *, optional: bool) -> float | None:
    if value is None and optional:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ValueError(f"needs `{name}`, a time in seconds since 1970")
    return value / 1000 if value >= _MILLISECONDS else float(value)


def _known_time(value: Any) -> float | None:
    try:
        return _time("", value, optional=True)
    except ValueError:
        return None
