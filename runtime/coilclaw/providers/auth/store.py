"""The file `auth-profiles.json`: profiles, their order for each provider, and how each has fared.

It belongs to one person, is replaced as a whole, and keeps keys that are not known here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from coilclaw.providers.auth.profiles import (
    AuthProfile,
    Profile,
    Usage,
    check_profile_id,
    profile_from,
    profile_object,
    usage_from,
    view_of,
)
from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import as_name
from coilclaw.sdk.private_file import PrivateFile

__all__ = ["ProfileStore", "StoredProfiles"]

_LARGEST_FILE: Final = 1024 * 1024
_LIST: Final = "`coilclaw auth list` shows what there is"
_TABLES: Final = ("profiles", "order", "modes", "usage")


class StoredProfiles(Frozen):
    """Everything in the store, as it was at one moment."""

    profiles: Mapping[str, Profile]
    order: Mapping[str, Sequence[str]]
    modes: Mapping[str, str]
    """How the credential of a profile is sent, where its type does not say: as `api_key`, `token` or `oauth`."""
    usage: Mapping[str, Usage]

    def of(self, *providers: str) -> list[str]:
        """The profiles for these names of a provider, preferred ones first; those without a place in the order last."""
        ordered = [each for name in providers for each in self.order.get(name, ())]
        known = dict.fromkeys([*ordered, *sorted(self.profiles)])
        return [each for each in known if each in self.profiles and self.profiles[each].provider in providers]

    def usage_of(self, profile_id: str) -> Usage:
        return self.usage.get(profile_id, Usage())

    def views(self) -> list[AuthProfile]:
        """All profiles without their secrets, by provider and in order."""
        names = sorted({each.provider for each in self.profiles.values()})
        ids = [each for name in names for each in self.of(name)]
        return [view_of(each, self.profiles[each], self.usage_of(each)) for each in ids]


class ProfileStore:
    """The auth profiles of one home. What is asked for is read afresh each time."""

    def __init__(self, home: Path) -> None:
        self.path = home / "auth-profiles.json"
        self._file = PrivateFile(self.path, most_bytes=_LARGEST_FILE, remedy="add your profiles again")

    def __repr__(self) -> str:
        return f"ProfileStore({str(self.path)!r})"

    def read(self) -> StoredProfiles:
        """Read the file. Raises OperatorError if it cannot be used, in words that quote none of its values."""
        document = self._document()
        profiles: dict[str, Profile] = {}
        for profile_id, found in document["profiles"].items():
            try:
                profiles[profile_id] = profile_from(found)
            except ValueError as error:
                raise OperatorError(
                    f"{self.path}: the profile {as_name(profile_id[:130])} {error}",
                    hint=f"coilclaw auth remove {as_name(profile_id[:130])}, then add it again",
                ) from None
        return StoredProfiles(
            profiles=profiles,
            order={name: _texts(ids) for name, ids in document["order"].items()},
            modes={name: mode for name, mode in document["modes"].items() if isinstance(mode, str)},
            usage={name: usage_from(found) for name, found in document["usage"].items()},
        )

    def add(
        self,
        profile_id: str,
        profile: Profile,
        *,
        preferred: bool = False,
        users: Iterable[str] = (),
        mode: str | None = None,
    ) -> None:
        """Keep a profile, in place of one with the same name. It is the last in the order unless it is `preferred`.

        A preferred one also comes first for other providers that take it, the `users`, where they have an order.
        """
        check_profile_id(profile_id, profile.provider)
        entry = profile_object(profile)
        try:
            profile_from(entry)
        except ValueError as error:
            raise OperatorError(f"the profile {profile_id} {error}; nothing was changed") from None
        with self._changed() as document:
            document["profiles"][profile_id] = entry
            document["usage"].pop(profile_id, None)  # Another secret has not failed.
            document["modes"].pop(profile_id, None)
            if mode is not None:
                document["modes"][profile_id] = mode
            before = _texts(document["order"].get(profile.provider))
            others = [each for each in before if each != profile_id]
            if preferred:
                document["order"][profile.provider] = [profile_id, *others]
                for user in users:
                    if user != profile.provider and (order := _texts(document["order"].get(user))):
                        document["order"][user] = [profile_id, *(each for each in order if each != profile_id)]
            elif profile_id not in before:
                document["order"][profile.provider] = [*others, profile_id]

    def remove(self, profile_id: str) -> bool:
        """Forget a profile, its place in every order and how it fared; False when there was none."""
        with self._changed() as document:
            found = document["profiles"].pop(profile_id, None)
            for table in ("modes", "usage"):
                document[table].pop(profile_id, None)
            for provider, ids in document["order"].items():
                if profile_id in _texts(ids):
                    document["order"][provider] = [each for each in _texts(ids) if each != profile_id]
            return found is not None

    def set_order(self, provider: str, ids: Sequence[str], *, names: Collection[str] = ()) -> None:
        """Prefer these profiles of a provider, in this order; its others come behind them.

        `names` are all that profiles may call it, where that is more than its own name.
        """
        with self._changed() as document:
            for each in ids:
                found = document["profiles"].get(each)
                if not isinstance(found, dict) or found.get("provider") not in (provider, *names):
                    raise OperatorError(f"there is no profile of that name for {as_name(provider)}", hint=_LIST)
            others = [each for each in _texts(document["order"].get(provider)) if each not in ids]
            document["order"][provider] = [*dict.fromkeys(ids), *others]

    def note(self, profile_id: str, change: Callable[[Usage], Usage]) -> Usage:
        """Change how a profile has fared, from what other processes noted meanwhile."""
        with self._changed() as document:
            before = document["usage"].get(profile_id)
            after = change(usage_from(before))
            if profile_id in document["profiles"]:
                kept = before if isinstance(before, dict) else {}
                values = {**kept, **{name: getattr(after, name) for name in Usage.__dataclass_fields__}}
                document["usage"][profile_id] = {name: value for name, value in values.items() if value is not None}
            return after

    # The file ----------------------------------------------------------------------------------------

    @contextmanager
    def _changed(self) -> Iterator[dict[str, Any]]:
        """The document, to be changed; written when the block ends without an error, and only if it is another."""
        with self._file.locked():
            document = self._document()
            before = _encoded(document)
            yield document
            if (after := _encoded(document)) != before:
                self._file.replace(after)

    def _document(self) -> dict[str, Any]:
        data = self._file.read()
        found, problem = _parsed(data) if data is not None else ({}, None)
        if problem is None and not all(isinstance(found.get(name, {}), dict) for name in _TABLES):
            problem = f"needs objects as {', '.join(_TABLES)}"
        if problem is not None:  # Raised where the parser's own error, which has the text, is not its context.
            raise OperatorError(f"{self.path} {problem}", hint="repair it, or move it away and add your profiles again")
        return {**found, **{name: found.get(name, {}) for name in _TABLES}}


def _parsed(data: bytes) -> tuple[dict[str, Any], str | None]:
    """The document, or what is wrong with it. The parser's own words could quote a value."""
    try:
        found = json.loads(data)
    except json.JSONDecodeError as error:
        return {}, f"is not JSON (line {error.lineno})"
    except (ValueError, RecursionError):
        return {}, "is not JSON"
    return (found, None) if isinstance(found, dict) else ({}, "is not a JSON object")


def _encoded(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=2) + "\n").encode()


def _texts(found: Any) -> list[str]:
    """The texts of a list: what else stands in it cannot name a profile."""
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
