"""Where the values of secrets come from: the environment, then `secrets.toml`, then the system's keyring.

The file belongs to one person: it is used only if nobody else can read it, and it is replaced whole or not
at all. Values are never part of a message, a `repr` or a list.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import secrets
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal, TypeAlias

from coilclaw.sdk import OperatorError

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
        with self._locked():
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
        with self._locked():
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
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            descriptor = os.open(self.path, flags)
        except FileNotFoundError:
            return {}
        except OSError as error:
            reason = "it is a link, and links are not followed" if error.errno == errno.ELOOP else error.strerror
            raise OperatorError(
                f"{self.path} cannot be used: {reason}", hint="put the file itself there, readable by you only"
            ) from None
        try:
            self._check(os.fstat(descriptor))
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return self._parsed(file.read(_LARGEST_FILE + 1))
        finally:
            os.close(descriptor)

    def _check(self, facts: os.stat_result) -> None:
        """Asked of the open file, so that it cannot be swapped in between."""
        if not stat.S_ISREG(facts.st_mode):
            raise OperatorError(f"{self.path} is not an ordinary file")
        if facts.st_uid != os.geteuid():
            raise OperatorError(f"{self.path} belongs to another user", hint=f"rm {self.path}, then set your secrets")
        if facts.st_mode & 0o077:
            raise OperatorError(
                f"{self.path} can be read or changed by others, so its secrets may be known",
                hint=f"chmod 600 {self.path}, and think about replacing them",
            )

    def _parsed(self, data: bytes) -> dict[str, str]:
        if len(data) > _LARGEST_FILE:
            raise OperatorError(f"{self.path} has more than {_LARGEST_FILE} bytes")
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

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time: who writes has read what the one before wrote."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW
            descriptor = os.open(self.path.with_name("secrets.lock"), flags, 0o600)
        except OSError as error:
            raise OperatorError(f"cannot write in {self.path.parent}: {error.strerror}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _write(self, values: Mapping[str, str]) -> None:
        text = _HEADER + "".join(f"{_key(name)} = {_quoted(values[name])}\n" for name in sorted(values))
        data = text.encode()
        if len(data) > _LARGEST_FILE:
            raise OperatorError(f"{self.path} would have more than {_LARGEST_FILE} bytes; nothing was changed")
        fresh = self.path.with_name(f"{self.path.name}.{secrets.token_hex(8)}.tmp")
        try:
            # Writers are locked out, so what lies here was left by one that was killed, with values in it.
            for left in self.path.parent.glob(f"{self.path.name}.*.tmp"):
                left.unlink(missing_ok=True)
            descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
            _sync_folder(self.path.parent)
        except OSError as error:
            with suppress(OSError):
                fresh.unlink()
            raise OperatorError(f"cannot write {self.path}: {error.strerror}") from None


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


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
