"""Files of one user: replaced as a whole, and never open to anybody else."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from coilclaw.sdk.errors import OperatorError

__all__ = ["PrivateFile", "replace_file"]


def replace_file(path: Path, data: bytes, suffix: str = "") -> None:
    """Put a file in place of another, synced and readable by this user alone; make its folder if there is none.

    Under a name of its own until then: neither a thread beside this one nor what a killed process left is in the way.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}{suffix}")
    try:
        descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise


class PrivateFile:
    """A file with secrets, which is used only if nobody else can read or change it. Errors never quote it."""

    def __init__(self, path: Path, *, most_bytes: int, remedy: str) -> None:
        """`remedy` says how to fill a file anew that belongs to somebody else."""
        self.path = path
        self._most_bytes = most_bytes
        self._remedy = remedy

    def read(self) -> bytes | None:
        """What is in it, or None if there is none. Raises OperatorError if it cannot be used."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            descriptor = os.open(self.path, flags)
        except FileNotFoundError:
            return None
        except OSError as error:
            reason = "it is a link, and links are not followed" if error.errno == errno.ELOOP else error.strerror
            raise OperatorError(
                f"{self.path} cannot be used: {reason}", hint="put the file itself there, readable by you only"
            ) from None
        try:
            self._check(os.fstat(descriptor))
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                data = file.read(self._most_bytes + 1)
        finally:
            os.close(descriptor)
        if len(data) > self._most_bytes:
            raise OperatorError(f"{self.path} has more than {self._most_bytes} bytes")
        return data

    def _check(self, facts: os.stat_result) -> None:
        """Asked of the open file, so that it cannot be swapped in between."""
        if not stat.S_ISREG(facts.st_mode):
            raise OperatorError(f"{self.path} is not an ordinary file")
        if facts.st_uid != os.geteuid():
            raise OperatorError(f"{self.path} belongs to another user", hint=f"rm {self.path}, then {self._remedy}")
        if facts.st_mode & 0o077:
            raise OperatorError(
                f"{self.path} can be read or changed by others, so its secrets may be known",
                hint=f"chmod 600 {self.path}, and think about replacing them",
            )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One writer at a time: who writes has read what the one before wrote."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW
            descriptor = os.open(self.path.with_suffix(".lock"), flags, 0o600)
        except OSError as error:
            raise OperatorError(f"cannot write in {self.path.parent}: {error.strerror}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def replace(self, data: bytes) -> None:
        """Replace the contents, while it is locked. Raises OperatorError, and the old contents stay then."""
        if len(data) > self._most_bytes:
            raise OperatorError(f"{self.path} would have more than {self._most_bytes} bytes; nothing was changed")
        try:
            # Writers are locked out, so what lies here was left by one that was killed, with values in it.
            for left in self.path.parent.glob(f"{self.path.name}.*.tmp"):
                left.unlink(missing_ok=True)
            replace_file(self.path, data, ".tmp")
            _sync_folder(self.path.parent)
        except OSError as error:
            raise OperatorError(f"cannot write {self.path}: {error.strerror}") from None


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
