"""A plugin's folder as a whole: what is in it, whether it may be used, and one hash of it all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["UnusableFolder", "digest", "entries"]

_MOST_FILES: Final = 2_000
_MOST_BYTES: Final = 64 * 1024 * 1024


class UnusableFolder(Exception):
    """The folder holds something a plugin must not contain; the message names it."""


def entries(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Everything in the folder, sorted, as path relative to it. Links that lead out of it are refused."""
    root = folder.resolve()
    count = size = 0
    for place, names, files in os.walk(root, followlinks=False, onerror=_fail):
        names.sort()
        for name in sorted([*names, *files]):
            path = Path(place) / name
            status = path.lstat()
            shown = str(path.relative_to(root))
            count += 1
            size += status.st_size if stat.S_ISREG(status.st_mode) else 0
            if count > _MOST_FILES or size > _MOST_BYTES:
                raise UnusableFolder(f"more than {_MOST_FILES} files or {_MOST_BYTES // 2**20} MiB")
            if stat.S_ISLNK(status.st_mode):
                _check_link(root, path, shown)
            elif not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
                raise UnusableFolder(f"{shown!r} is neither a file nor a folder")
            elif status.st_mode & (stat.S_ISUID | stat.S_ISGID) and stat.S_ISREG(status.st_mode):
                raise UnusableFolder(f"{shown!r} would run with other rights (setuid or setgid)")
            yield shown, status


def _check_link(root: Path, path: Path, shown: str) -> None:
    target = path.readlink()
    try:
        inside = not target.is_absolute() and path.resolve().is_relative_to(root)
        # Since Python 3.13 a link that leads to itself is resolved without complaint.
        with contextlib.suppress(FileNotFoundError):
            path.stat()
    except (OSError, RuntimeError):
        inside = False
    if not inside:
        raise UnusableFolder(f"{shown!r} is a link to something outside the folder")


def _fail(error: OSError) -> None:
    raise UnusableFolder(f"{error.filename!r} cannot be read: {error.strerror}")


def digest(folder: Path) -> str:
    """The hash of all names, contents, links and execute bits. Any change of the plugin is another digest."""
    whole = hashlib.sha256()
    root = folder.resolve()
    try:
        for shown, status in entries(root):
            path = root / shown
            if stat.S_ISLNK(status.st_mode):
                kind, content = b"link", str(path.readlink()).encode("utf-8", "surrogateescape")
            elif stat.S_ISREG(status.st_mode):
                kind = b"program" if status.st_mode & 0o100 else b"file"
                content = hashlib.sha256(path.read_bytes()).digest()
            else:
                kind, content = b"folder", b""
            for part in (kind, shown.encode("utf-8", "surrogateescape"), content):
                whole.update(len(part).to_bytes(8, "big") + part)
    except OSError as error:
        raise UnusableFolder(f"{error.filename!r} cannot be read: {error.strerror}") from None
    return whole.hexdigest()
