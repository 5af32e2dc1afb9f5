"""The folder of calendars in the workspace: opened strictly, locked, and written all at once.

Every file is opened relative to the descriptor of the folder, and no link is followed: what was
checked is what is used. The lock is on the folder itself, which no tool can replace by another.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from coilclaw.sdk import Forbid, ToolContext, ToolFailure

__all__ = ["FOLDER", "Stored", "forbidden", "locked", "names", "open_folder", "read", "replace"]

FOLDER = "calendars"
_MOST_BYTES = 4 * 2**20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.ics", re.ASCII)
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY
_NO_LINKS = os.O_NOFOLLOW
_WAIT_SECONDS = 10.0


@dataclass(frozen=True)
class Stored:
    """A file as it was read; `state` tells whether it is still the same."""

    data: bytes
    mode: int
    state: tuple[int, int, int]


def forbidden(ctx: ToolContext, calendar: str) -> Forbid | None:
    """Why this calendar may not be used, if the operator forbids its place."""
    place = Path(os.path.realpath(ctx.workspace)) / FOLDER / f"{calendar}.ics"
    for each in ctx.bounds.forbidden_paths:
        if place.is_relative_to(each) or place.is_relative_to(os.path.realpath(each)):
            return Forbid(reason=f"{FOLDER}/{calendar}.ics is under the forbidden path {each}")
    for each in (place.parent, place):
        if each.is_symlink():
            return Forbid(reason=f"{each.name!r} is a symbolic link, and links are not followed")
    return None


@contextmanager
def open_folder(ctx: ToolContext, *, create: bool = False) -> Iterator[int | None]:
    """A descriptor of the folder of calendars, or None where there is none."""
    try:
        workspace = os.open(ctx.workspace, _DIRECTORY)
    except OSError:
        raise ToolFailure(
            "the workspace does not exist", code="no_workspace", hint="a person makes one with `coilclaw init`"
        ) from None
    try:
        if create:
            with suppress(FileExistsError):
                os.mkdir(FOLDER, dir_fd=workspace)
        folder: int | None = os.open(FOLDER, _DIRECTORY | _NO_LINKS, dir_fd=workspace)
    except FileNotFoundError:
        folder = None
    except OSError as error:
        raise _explained(error, FOLDER) from None
    finally:
        os.close(workspace)
    try:
        yield folder
    finally:
        if folder is not None:
            os.close(folder)


@contextmanager
def locked(ctx: ToolContext, folder: int) -> Iterator[None]:
    """Keep other processes that use this function out; waits for a while."""
    import fcntl

    left = ctx.remaining_seconds
    until = time.monotonic() + (_WAIT_SECONDS if left is None else min(_WAIT_SECONDS, left))
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            ctx.raise_if_cancelled()
            if time.monotonic() >= until:
                raise ToolFailure(
                    "another process is writing to the calendars", code="busy", hint="try again in a moment"
                ) from None
            time.sleep(0.01)
        except OSError as error:
            raise _explained(error, FOLDER) from None
    try:
        yield
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)


def read(folder: int, calendar: str) -> Stored | None:
    """The file of a calendar, or None where there is none. A pipe or a device is refused, not waited for."""
    shown = f"{FOLDER}/{calendar}.ics"
    try:
        flags = os.O_RDONLY | os.O_NONBLOCK | _NO_LINKS
        descriptor = os.open(f"{calendar}.ics", flags, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _explained(error, shown) from None
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise ToolFailure(f"{shown!r} is not an ordinary file", code="not_a_file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise _explained(error, shown) from None
    finally:
        os.close(descriptor)
    if len(data) > _MOST_BYTES:
        raise ToolFailure(f"{shown!r} has more than {_MOST_BYTES} bytes", code="too_large", hint="a person divides it")
    return Stored(data, stat.S_IMODE(facts.st_mode), _state(facts))


def replace(ctx: ToolContext, folder: int, calendar: str, data: bytes, before: Stored | None) -> None:
    """Put new content in the place of what was read, entirely or not at all."""
    shown, name = f"{FOLDER}/{calendar}.ics", f"{calendar}.ics"
    if len(data) > _MOST_BYTES:
        raise ToolFailure(f"{shown!r} would have more than {_MOST_BYTES} bytes", code="too_large")
    fresh = f".{secrets.token_hex(8)}.tmp"
    ctx.will_write(data)
    try:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        target = os.open(fresh, flags, before.mode if before else 0o644, dir_fd=folder)
        with os.fdopen(target, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # Calendar programs know nothing of our lock; at least a change they have finished is not lost.
        if _present(folder, name) != (before.state if before else None):
            raise ToolFailure(f"{shown!r} was changed by another program", code="busy", hint="try again")
        os.replace(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(fresh, dir_fd=folder)
        if isinstance(error, OSError):
            raise _explained(error, shown) from None
        raise


def names(folder: int) -> list[str]:
    """The calendars there are."""
    return sorted(name.removesuffix(".ics") for name in os.listdir(folder) if _NAME.fullmatch(name))


def _present(folder: int, name: str) -> tuple[int, int, int] | None:
    try:
        return _state(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return None


def _state(facts: os.stat_result) -> tuple[int, int, int]:
    return facts.st_ino, facts.st_mtime_ns, facts.st_size


def _explained(error: OSError, shown: str) -> ToolFailure:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return ToolFailure(f"{shown!r} is a link or not a folder, and links are not followed", code="path_refused")
    return ToolFailure(f"{shown!r}: {error.strerror}", code="io_error")
