"""Taking secrets out of what is logged: those that are known by value, and what looks like a credential."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar

from coilclaw.sdk.credential_shapes import is_secret_field, is_secret_variable, without_credentials

__all__ = ["Secrets"]

V = TypeVar("V")

_SHORTEST: Final = 6
"""Shorter values would garble ordinary text, and protect nothing."""
_OF_PROFILES: Final = ("key", "token", "access", "refresh")


class Secrets:
    """The secrets that this process can know of, read when the first record is logged."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._values: list[tuple[str, str]] | None = None

    def removed(self, value: V) -> V:
        """Return the same text or JSON value without secrets."""
        made: Any = value
        if isinstance(value, str):
            made = self._text(value)
        elif isinstance(value, Mapping):
            made = {
                self._text(str(key)): "[secret]" if is_secret_field(str(key)) else self.removed(each)
                for key, each in value.items()
            }
        elif isinstance(value, list | tuple):
            made = [self.removed(each) for each in value]
        elif value is not None and not isinstance(value, bool | int | float):
            made = self._text(str(value))
        return made  # type: ignore[no-any-return]

    def _text(self, text: str) -> str:
        if self._values is None:
            self._values = sorted(self._known(), key=lambda each: -len(each[1]))
        text = without_credentials(text)
        for name, secret in self._values:
            text = text.replace(secret, f"[secret {name}]")
        return text

    def _known(self) -> list[tuple[str, str]]:
        found = [(name, value) for name, value in self._environment.items() if is_secret_variable(name)]
        # A store that cannot be read gives no secrets away either.
        with suppress(Exception):
            from coilclaw.config import SecretStore, home_folder

            store = SecretStore(home_folder(self._environment), {})
            found += [(name, store.get(name) or "") for name in store.names()]
        with suppress(Exception):
            from coilclaw.config import home_folder
            from coilclaw.providers import ProfileStore

            for name, profile in ProfileStore(home_folder(self._environment)).read().profiles.items():
                found += [(name, text) for key, text in vars(profile).items() if key in _OF_PROFILES]
        return [(name, value) for name, value in found if len(value) >= _SHORTEST]
