"""Where the values of secrets come from: the environment, then `secrets.toml`, then the system's keyring.

The file belongs to one person: it is used only if nobody else can read it, and it is replaced whole or not
at all. Values are never part of a message, a `repr` or a list.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal, TypeAlias

from coilclaw.sdk import OperatorError
from coilclaw.sdk.private_file import PrivateFile

__all__ = ["SecretSource", "SecretStore", "check_secret_name"]

SecretSource: TypeAlias = Literal["environment", "secrets.toml", "keyring"]

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_LARGEST_FILE: Final = 1024 * 1024
_LONGEST_VALUE: Final = 64 * 1024
_SERVICE: Final = "coilclaw"
_HEADER: Final = "# Written by `coilclaw secret set`, which replaces this file and keeps the values only.\n"


class SecretStore:
    """The secrets of one home folder. What is asked for is read afresh each time."""

    def __init__(self, home: Path, environment: Mapping[str, str], *, keyring: bool = False) -> None:
        self.path = home / "secrets.toml"
        self._file = PrivateFile(self.path, most_bytes=_LARGEST_FILE, remedy="set your secrets")
        self._environment = environment
        self._keyring = keyring

    def __repr__(self) -> str:
        return f"SecretStore({str(self.path)!r}, keyring={self._keyring})"

    def check(self) -> None:
        """Raise OperatorError now if the file cannot be used, and not in the middle of a run."""
        self._read()

    def get(self, name: str) -> str | None:
        """The value, or None when nobody set one. Raises OperatorError when a source cannot be used."""
        found = self._find(name)
        return None if found is None else found[1]

    def source(self, name: str) -> SecretSource | None:
        """Where the value comes from, or None when nobody set one."""
        found = self._find(name)
        return None if found is None else found[0]

    def has(self, name: str) -> bool:
        """Whether a tool that needs it would get it."""
        return bool(self.get(name))

    def names(self) -> list[str]:
        """The names in the file. The environment and a keyring do not say which of theirs are secrets."""
        return sorted(self._read())

    def set(self, name: str, value: str, *, in_keyring: bool = False) -> None:
        """Keep a value in the file, or in the keyring."""
        check_secret_name(name)
        _check_value(value)
        if in_keyring:
            with _explained_keyring() as keyring:
                keyring.set_password(_SERVICE, name, value)
            return
        with self._file.locked():
            self._write({**self._read(), name: value})

    def remove(self, name: str, *, in_keyring: bool = False) -> bool:
        """Forget a value; False when there was none."""
        check_secret_name(name)
        if in_keyring:
            with _explained_keyring() as keyring:
                if keyring.get_password(_SERVICE, name) is None:
                    return False
                keyring.delete_password(_SERVICE, name)
                return True
        with self._file.locked():
            values = self._read()
            if name not in values:
                return False
            del values[name]
            self._write(values)
            return True

    def _find(self, name: str) -> tuple[SecretSource, str] | None:
        if value := self._environment.get(name):
            return "environment", value
        if value := self._read().get(name):
            return "secrets.toml", value
        if self._keyring:
            with _explained_keyring() as keyring:
                value = keyring.get_password(_SERVICE, name)
            if value:
                return "keyring", value
        return None

    # The file ----------------------------------------------------------------------------------------

    def _read(self) -> dict[str, str]:
        data = self._file.read()
        return {} if data is None else self._parsed(data)

    def _parsed(self, data: bytes) -> dict[str, str]:
        try:
            found: dict[str, Any] = tomllib.loads(data.decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            # The parser's own words could quote a value.
            place = re.search(r"line \d+", str(error)) if isinstance(error, tomllib.TOMLDecodeError) else None
            where = f" ({place[0]})" if place else ""
            raise OperatorError(f'{self.path} is not TOML{where}; each line is: NAME = "value"') from None
        for name, value in found.items():
            if not isinstance(value, str):
                raise OperatorError(f"{self.path}: {name!r:.60} is not a text", hint='each line is: NAME = "value"')
        return found

    def _write(self, values: Mapping[str, str]) -> None:
        text = _HEADER + "".join(f"{_key(name)} = {_quoted(values[name])}\n" for name in sorted(values))
        self._file.replace(text.encode())


def check_secret_name(name: str) -> None:
    """Raise OperatorError for what no secret can be called."""
    if not _NAME.fullmatch(name):
        # Somebody may have written NAME=value: only what comes before it is shown.
        shown = name.partition("=")[0][:60]
        raise OperatorError(
            f"{shown!r} is not the name of a secret", hint="letters, digits and underscores, e.g. GITHUB_TOKEN"
        )


def _check_value(value: str) -> None:
    problem = None
    if not value.strip():
        problem = "is empty"
    elif "\0" in value:
        problem = "contains a null byte"
    elif len(value) > _LONGEST_VALUE:
        problem = f"has more than {_LONGEST_VALUE} characters"
    else:
        try:
            value.encode()
        except UnicodeEncodeError:
            problem = "is not valid Unicode text"
    if problem:
        raise OperatorError(f"the value {problem}; nothing was changed")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(value: str) -> str:
    # JSON's escapes are TOML's, but for one character that TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


@contextmanager
def _explained_keyring() -> Iterator[ModuleType]:
    try:
        import keyring
        import keyring.errors
    except ImportError:
        raise OperatorError(
            "the keyring is asked for but not installed", hint="pip install 'coilclaw[keyring]', or do without it"
        ) from None
    try:
        yield keyring
    except keyring.errors.NoKeyringError:
        raise OperatorError(
            "this machine has no keyring that can be used", hint="use `coilclaw secret set` without the keyring"
        ) from None
    except OperatorError:
        raise
    except Exception as error:
        # Backends raise what they like; their messages could hold anything.
        raise OperatorError(
            f"the keyring failed ({type(error).__name__})", hint="unlock it, or use `coilclaw secret set` without it"
        ) from None
