"""Paths of files in a space, walked one folder at a time without following a link.

Each component is opened relative to the descriptor of the one before. What was checked is what is used: replacing a
folder by a link in between makes the walk fail instead of leading it outside.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from coilclaw.spaces.errors import NoSuchFile, PathRefused

__all__ = ["RESERVED", "explained", "is_reserved", "open_folder", "parts_of"]

RESERVED: Final = (".live-artifacts", ".git", "tools")
"""Names in the folder of a space that are no files of it: live artifacts, git's own, and the workspace's tools."""
_LONGEST_PATH: Final = 1024
_LONGEST_PART: Final = 255
_MOST_PARTS: Final = 32
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def is_reserved(name: str, *, first: bool) -> bool:
    """Whether a component of a path names something that is no file of a space, as any file system would read it."""
    plain = name.casefold().rstrip(". ")
    return plain in RESERVED[:2] or (first and plain == RESERVED[2])


def parts_of(path: str) -> tuple[str, ...]:
    """The components of a file's path. Raises PathRefused for whatever is not plainly a file inside the space."""
    if not path or len(path) > _LONGEST_PATH:
        raise PathRefused(f"a path has 1 to {_LONGEST_PATH} characters")
    parts = tuple(path.split("/"))
    if len(parts) > _MOST_PARTS:
        raise PathRefused(f"a path has at most {_MOST_PARTS} parts")
    for number, part in enumerate(parts):
        if part in ("", ".", ".."):
            raise PathRefused("a path is relative to the project, without empty parts, '.' and '..'")
        if not part.isprintable() or "\\" in part or len(part.encode("utf-8", "replace")) > _LONGEST_PART:
            raise PathRefused("a part of a path is at most 255 bytes of printable characters, without a backslash")
        if is_reserved(part, first=number == 0):
            raise PathRefused(f"{part!r} is not among a project's files")
    return parts


@contextmanager
def open_folder(root: Path, parts: tuple[str, ...], *, create: bool = False) -> Iterator[int]:
    """A descriptor of the folder that these parts name below the root."""
    shown = "/".join(parts)
    try:
        descriptor = os.open(root, _FOLDER)
    except OSError as error:
        raise explained(error, shown) from None
    try:
        for part in parts:
            try:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(part, mode=0o700, dir_fd=descriptor)
                inner = os.open(part, _FOLDER, dir_fd=descriptor)
            except OSError as error:
                raise explained(error, shown) from None
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def explained(error: OSError, shown: str) -> NoSuchFile | PathRefused:
    """An error of the operating system without any path outside the space."""
    if error.errno == errno.ENOENT:
        return NoSuchFile(shown)
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return PathRefused(f"{shown[:200]!r} leads through a link or a file; neither is followed")
    if error.errno in (errno.EISDIR, errno.ENOTEMPTY):
        return PathRefused(f"{shown[:200]!r} is a folder")
    return PathRefused(f"{shown[:200]!r}: {error.strerror}")
