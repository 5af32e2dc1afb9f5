"""The credentials of providers, from the auth profiles: found, put to rest when they fail, and rotated."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from coilclaw.providers.auth.cooldown import after_failure
from coilclaw.providers.auth.profiles import AuthProfile, Usage
from coilclaw.providers.auth.resolution import Asked, Known, ResolvedCredential, profile_states, resolve
from coilclaw.providers.auth.store import ProfileStore
from coilclaw.providers.errors import CredentialsNeeded
from coilclaw.sdk import OperatorError

if TYPE_CHECKING:
    from coilclaw.config import ProviderModel
    from coilclaw.providers.credentials import Credential
    from coilclaw.providers.errors import FailureKind

__all__ = ["ProfileCredentials"]

_log = logging.getLogger(__name__)
_USE_SECONDS: Final = 60.0
"""A use is noted this often at most: writing the file down takes longer than all else here."""


def _ignore(kind: str, facts: Mapping[str, Any]) -> None:
    return


class ProfileCredentials:
    """Credentials from the store of a home, then from the environment. Each rotation is recorded.

    `record` takes the kind of a receipt and its facts, such as `CoilClaw.receipts.record` does.
    """

    def __init__(
        self,
        home: Path,
        environment: Mapping[str, str],
        *,
        record: Callable[[str, Mapping[str, Any]], object] = _ignore,
        even_resting: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """With `even_resting`, credentials that failed are used too: to find out whether they work by now."""
        self.store = ProfileStore(home)
        self._environment = environment
        self._record = record
        self._even_resting = even_resting
        self._clock = clock
        self._chosen: dict[Asked, tuple[list[str], str]] = {}
        """What was resolved, and from which profiles: whoever began with a credential stays with it."""
        self._failed: dict[str, Usage] = {}
        """What is not in the store: variables have no place there, and sometimes it cannot be written."""

    def __repr__(self) -> str:
        return f"ProfileCredentials({self.store!r})"

    def use(self, provider: str, kind: str, table: ProviderModel, pinned: str | None = None) -> Credential | None:
        """The credential for a provider, or None if its service needs none. Raises CredentialsNeeded."""
        asked = Asked(provider=provider, kind=kind, table=table, pinned=pinned or table.profile)
        return self._resolved(asked, even_resting=self._even_resting)

    def failed(self, credential: Credential, kind: FailureKind, retry_after: float | None = None) -> Credential | None:
        """Put a credential to rest and return the next; None if it is not the credential's fault.

        Raises CredentialsNeeded when none is left. A pinned profile is not replaced by another.
        """
        if not isinstance(credential, ResolvedCredential) or kind not in ("rate_limit", "auth", "billing"):
            return None
        failure, name, asked = kind, credential.profile, credential.asked

        def rests(usage: Usage) -> Usage:
            return after_failure(usage, failure, credential.secret, now=self._clock(), retry_after=retry_after)

        self._note(name, rests)
        self._chosen.pop(asked, None)
        facts = {"provider": asked.provider, "from": name, "failure": failure}
        try:
            following = self._resolved(asked, even_resting=False)
        except CredentialsNeeded:
            self._tell("auth.failed", facts)
            raise
        if following is not None:
            self._tell("auth.rotated", {**facts, "to": following.profile})
        return following

    def succeeded(self, credential: Credential) -> None:
        """Note that a credential was accepted: it has not failed any more."""
        name, now = credential.profile, self._clock()
        self._failed.pop(name, None)
        try:
            stored = self.store.read()
            if name not in stored.profiles:
                return
            usage = stored.usage_of(name)
            if usage.failure or usage.last_used_at is None or not 0 <= now - usage.last_used_at < _USE_SECONDS:
                self.store.note(name, lambda _: Usage(last_used_at=now))
        except OperatorError as error:  # The answer is there; it is not lost because of this.
            _log.warning("auth.unwritable", extra={"event": {"profile": name, "problem": error.message}})

    def states(self) -> list[tuple[AuthProfile, str | None]]:
        """Every stored profile, and why it cannot be used now, if so."""
        return profile_states(self._known(even_resting=False))

    def _known(self, *, even_resting: bool) -> Known:
        return Known(
            stored=self.store.read(),
            failed=self._failed,
            environment=self._environment,
            now=self._clock(),
            even_resting=even_resting,
        )

    def _resolved(self, asked: Asked, *, even_resting: bool) -> ResolvedCredential | None:
        known = self._known(even_resting=even_resting)
        profiles = known.stored.of(*asked.names)
        before, name = self._chosen.get(asked, (profiles, ""))
        found = resolve(asked, known, stay_with=name if before == profiles else "")
        if found is not None:
            self._chosen[asked] = profiles, found.profile
        return found

    def _note(self, name: str, change: Callable[[Usage], Usage]) -> None:
        try:
            stored = self.store.read()
            if name in stored.profiles:
                self.store.note(name, change)
                return
        except OperatorError as error:
            _log.warning("auth.unwritable", extra={"event": {"profile": name, "problem": error.message}})
        self._failed[name] = change(self._failed.get(name, Usage()))

    def _tell(self, kind: str, facts: Mapping[str, str]) -> None:
        _log.warning(kind, extra={"event": dict(facts)})
        self._record(kind, facts)
