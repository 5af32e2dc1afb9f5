"""What a model service is paid with: the protocol that providers ask, and keys that the configuration refers to."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Final, Literal, Protocol

from coilclaw.config import ProviderModel
from coilclaw.providers.errors import CredentialsNeeded, FailureKind
from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen

__all__ = ["SETUP_TOKEN", "Credential", "Credentials", "KeyFromEnvironment", "credential_at", "references"]

_IN_A_HEADER: Final = re.compile(r"[\x21-\x7e]{1,16384}")
_LARGEST_FILE: Final = 64 * 1024
_OF_ANTHROPIC: Final = ("ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY")
SETUP_TOKEN: Final = "sk-ant-oat"  # noqa: S105 - What such tokens begin with.


class Credential(Frozen):
    """A secret that one request carries, and where it came from."""

    secret: str = field(repr=False)
    style: Literal["api_key", "bearer"] = "api_key"
    """How a service with two ways wants it: keys in a header of their own, OAuth and setup tokens as a bearer."""
    profile: str = ""
    """The auth profile it belongs to, or the variable or file that it was read from. Never secret."""

    def __post_init__(self) -> None:
        if not _IN_A_HEADER.fullmatch(self.secret):
            raise OperatorError(
                f"the credential from {self.profile or 'the configuration'} cannot be sent: "
                "it is empty, or has blanks, line breaks or other than ASCII characters in it",
                hint="store it again, as one line",
            )


class Credentials(Protocol):
    """Gives providers the credentials to use, and learns how each fared."""

    def use(self, provider: str, kind: str, table: ProviderModel, pinned: str | None) -> Credential | None:
        """The credential for a provider, or None if its service needs none. Raises CredentialsNeeded.

        `pinned` is the profile that an exchange or the provider's own table insists on.
        """
        ...

    def failed(self, credential: Credential, kind: FailureKind, retry_after: float | None = None) -> Credential | None:
        """Take note of a failure of kind auth, rate_limit or billing, and return the next credential to try.

        None, or raising CredentialsNeeded, says that there is no other.
        """
        ...

    def succeeded(self, credential: Credential) -> None:
        """Take note that a service accepted it."""
        ...


class KeyFromEnvironment:
    """The one key that a provider's table refers to; for Anthropic, also the usual variables."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def __repr__(self) -> str:
        return "KeyFromEnvironment()"

    def use(self, provider: str, kind: str, table: ProviderModel, pinned: str | None) -> Credential | None:
        if pinned is not None:
            raise CredentialsNeeded(
                f"there is no auth profile {pinned!r}",
                provider=provider,
                hint="`coilclaw auth list` shows what there is",
            )
        for place in references(kind, table):
            if found := credential_at(place, self._environment):
                return found
        named = [place for place in (table.api_key, table.api_key_env) if place]
        if not named and kind != "anthropic":
            return None
        missing = " and ".join(place.removeprefix("env:") for place in named or ["ANTHROPIC_API_KEY"])
        raise CredentialsNeeded(
            f"{provider} needs a key, and {missing} has none",
            provider=provider,
            hint="`coilclaw auth anthropic setup-token` or `coilclaw auth add` stores one"
            if kind == "anthropic"
            else "set it, or store a key with `coilclaw auth add`",
        )

    def failed(self, credential: Credential, kind: FailureKind, retry_after: float | None = None) -> Credential | None:
        return None

    def succeeded(self, credential: Credential) -> None:
        return


def credential_at(place: str, environment: Mapping[str, str]) -> Credential | None:
    """The credential at `env:NAME` or `file:/path`, or None if that is empty. Raises OperatorError."""
    kind, _, rest = place.partition(":")
    secret = environment.get(rest) if kind == "env" else _read_key(Path(rest).expanduser())
    if not secret:
        return None
    is_token = place == "env:ANTHROPIC_OAUTH_TOKEN" or secret.startswith(SETUP_TOKEN)
    return Credential(secret=secret, style="bearer" if is_token else "api_key", profile=place)


def references(kind: str, table: ProviderModel) -> Iterator[str]:
    """Where a key may be, besides the auth profiles: what the provider's table says, then the usual variables."""
    if table.api_key:
        yield table.api_key
    if table.api_key_env:
        yield f"env:{table.api_key_env}"
    if kind == "anthropic":
        yield from (f"env:{name}" for name in _OF_ANTHROPIC)


def _read_key(path: Path) -> str:
    """Return what a file of this person holds, without the line break at its end."""
    if not path.is_absolute():
        raise OperatorError(
            f"file:{path} is not a full path", hint="write it with the folder, such as file:/run/secrets/key"
        )
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            _check_private(path, os.fstat(descriptor), os.fstatvfs(descriptor))
            data = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise OperatorError(
            f"{path} cannot be read: {error.strerror}", hint="check `api_key` of the provider"
        ) from None
    if len(data) > _LARGEST_FILE:
        raise OperatorError(f"{path} is too large to be a key")
    return data.decode("utf-8", "replace").strip()


def _check_private(path: Path, found: os.stat_result, system: os.statvfs_result) -> None:
    """Mounted secrets are readable to all, on a file system that nobody can change."""
    if not stat.S_ISREG(found.st_mode):
        raise OperatorError(f"{path} is not a file")
    if found.st_mode & 0o077 and not system.f_flag & os.ST_RDONLY:
        raise OperatorError(f"{path} is open to other users of this machine", hint=f"chmod 600 {path}")
