"""The files of a space: listed, read, and written whole, each with a version against lost updates."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from coilclaw.sdk.frozen import Frozen
from coilclaw.spaces.errors import FileChanged, FileTooLarge, NoSuchFile, PathRefused
from coilclaw.spaces.paths import explained, is_reserved, open_folder, parts_of

__all__ = ["FileContent", "FileEntry", "FileListing", "SpaceFiles", "WrittenFile"]

_LARGEST_FILE: Final = 8 * 1024 * 1024
_MOST_LISTED: Final = 5000
_MOST_LOOKED_AT: Final = 20_000
_PIECE: Final = 1024 * 1024
_ABSENT: Final = "*"


class FileEntry(Frozen):
    """One file in a list."""

    path: str
    size: int
    modified_at: str


class FileListing(Frozen):
    """The files of a space, by path; `truncated` if there are more."""

    entries: Sequence[FileEntry]
    truncated: bool


class FileContent(Frozen):
    """A file as it is now."""

    path: str
    data: bytes
    version: str


class WrittenFile(Frozen):
    """A file that was written: its new version, and whether it was not there before."""

    path: str
    size: int
    version: str
    created: bool


class SpaceFiles:
    """Files below one folder. No link is followed, and what the runtime keeps there is neither shown nor touched.

    A version is a hash of the content. Writers that name one are put in order by a lock on the folder; an agent's
    file tools do not take it, so their changes may fall between the look at a version and the write.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list(self) -> FileListing:
        """Every file, by path."""
        found: list[FileEntry] = []
        waiting: list[tuple[str, ...]] = [()]
        seen = 0
        while waiting:
            parts = waiting.pop(0)
            with (
                suppress(NoSuchFile, PathRefused),  # Gone meanwhile, or a link by now.
                open_folder(self._folder, parts) as folder,
                os.scandir(folder) as items,
            ):
                for item in items:
                    seen += 1
                    if seen > _MOST_LOOKED_AT or len(found) >= _MOST_LISTED:
                        return FileListing(entries=sorted(found, key=lambda each: each.path), truncated=True)
                    if not _is_shown(item.name, first=not parts):
                        continue
                    facts = item.stat(follow_symlinks=False)
                    if stat.S_ISDIR(facts.st_mode):
                        waiting.append((*parts, item.name))
                    elif stat.S_ISREG(facts.st_mode):
                        found.append(_entry("/".join((*parts, item.name)), facts))
        return FileListing(entries=sorted(found, key=lambda each: each.path), truncated=False)

    def read(self, path: str) -> FileContent:
        """Return a file's content and version. Raises NoSuchFile, PathRefused and FileTooLarge."""
        parts = parts_of(path)
        with open_folder(self._folder, parts[:-1]) as folder:
            data = _read(folder, parts[-1], path)
        return FileContent(path=path, data=data, version=_version(data))

    def write(self, path: str, data: bytes, *, instead_of: str | None = None) -> WrittenFile:
        """Put a file in place, at once and whole. Raises FileChanged unless it is in the version `instead_of`.

        `*` as that version means that there must be no such file. Folders on the way are made.
        """
        parts = parts_of(path)
        if len(data) > _LARGEST_FILE:
            raise FileTooLarge(f"a file of a project has at most {_LARGEST_FILE} bytes")
        with self._locked(), open_folder(self._folder, parts[:-1], create=True) as folder:
            before = _kind(folder, parts[-1], path)
            if instead_of is not None and instead_of != self._version_now(folder, parts[-1], path, before):
                raise FileChanged(path)
            _replace(folder, parts[-1], data, path)
        return WrittenFile(path=path, size=len(data), version=_version(data), created=before is None)

    def delete(self, path: str, *, version: str | None = None) -> None:
        """Remove a file. Raises NoSuchFile, PathRefused, and FileChanged unless it is in that version."""
        parts = parts_of(path)
        with self._locked(), open_folder(self._folder, parts[:-1]) as folder:
            kind = _kind(folder, parts[-1], path)
            if kind is None:
                raise NoSuchFile(path)
            if version is not None and version != self._version_now(folder, parts[-1], path, kind):
                raise FileChanged(path)
            try:
                os.unlink(parts[-1], dir_fd=folder)
                os.fsync(folder)
            except OSError as error:
                raise explained(error, path) from None

    def _version_now(self, folder: int, name: str, path: str, kind: int | None) -> str:
        return _ABSENT if kind is None else _version(_read(folder, name, path))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with open_folder(self._folder, ()) as folder:
            fcntl.flock(folder, fcntl.LOCK_EX)  # Closing the descriptor releases it.
            yield


def _is_shown(name: str, *, first: bool) -> bool:
    return not is_reserved(name, first=first) and name.isprintable() and "\\" not in name


def _entry(path: str, facts: os.stat_result) -> FileEntry:
    modified = datetime.fromtimestamp(facts.st_mtime, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return FileEntry(path=path, size=facts.st_size, modified_at=modified)


def _kind(folder: int, name: str, path: str) -> int | None:
    """The mode of an ordinary file, or None if there is nothing. Anything else is neither replaced nor removed."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        raise explained(error, path) from None
    if not stat.S_ISREG(mode):
        raise PathRefused(f"{path[:200]!r} is not an ordinary file")
    return mode


def _read(folder: int, name: str, path: str) -> bytes:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        raise explained(error, path) from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise PathRefused(f"{path[:200]!r} is not an ordinary file")
        data = file.read(_LARGEST_FILE + 1)
    if len(data) > _LARGEST_FILE:
        raise FileTooLarge(f"{path[:200]!r} has more than {_LARGEST_FILE} bytes")
    return data


def _replace(folder: int, name: str, data: bytes, path: str) -> None:
    # Under a name that nobody is shown, in the folder it belongs to; renaming is one step.
    temporary = f".coilclaw-{secrets.token_hex(8)}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for start in range(0, len(data), _PIECE):
                    file.write(data[start : start + _PIECE])
                file.flush()
                os.fsync(descriptor)
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
            raise
        os.fsync(folder)
    except OSError as error:
        raise explained(error, path) from None


def _version(data: bytes) -> str:
    return sha256(data).hexdigest()
