"""The SOPs of a workspace: `<workspace>/sops/<name>/SOP.toml`.

A name is one plain word, and no link is followed below the workspace: what is read lies where it seems to lie.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from coilclaw.agent.sop.errors import NoSuchSop

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_sop_file", "sop_names", "sop_path"]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_MOST_BYTES: Final = 64 * 1024
_MOST_SOPS: Final = 1000


def sop_path(name: str) -> str:
    """Return where a SOP lies, seen from the workspace."""
    return f"sops/{name}/SOP.toml"


def sop_names(workspace: Path) -> list[str]:
    """Return the names of the folders under `sops` that may hold a SOP, sorted; none if there is no such folder."""
    try:
        folder = os.open(workspace / "sops", _FOLDER)
    except OSError:
        return []
    try:
        with os.scandir(folder) as found:
            names = [each.name for each in found if each.is_dir(follow_symlinks=False)]
    finally:
        os.close(folder)
    return sorted(name for name in names if _NAME.fullmatch(name))[:_MOST_SOPS]


def read_sop_file(workspace: Path, name: str) -> bytes:
    """Return the bytes of a SOP's file. Raises NoSuchSop."""
    if not _NAME.fullmatch(name):
        raise NoSuchSop(
            f"{name[:100]!r} cannot be the name of a SOP",
            hint="a name is a word of at most 64 letters, digits, `-` and `_`",
        )
    try:
        with ExitStack() as stack:
            folder: int | None = None
            for part in (str(workspace / "sops"), name):
                folder = os.open(part, _FOLDER, dir_fd=folder)
                stack.callback(os.close, folder)
            file = os.open("SOP.toml", _FILE, dir_fd=folder)
            stack.callback(os.close, file)
            facts = os.fstat(file)
            if not stat.S_ISREG(facts.st_mode):
                raise NoSuchSop(f"{sop_path(name)} is not an ordinary file")
            if facts.st_size > _MOST_BYTES:
                raise NoSuchSop(f"{sop_path(name)} has {facts.st_size} bytes; at most {_MOST_BYTES} are read")
            return _whole(file)
    except FileNotFoundError:
        known = ", ".join(sop_names(workspace)[:20]) or "none"
        raise NoSuchSop(f"there is no {sop_path(name)} in {workspace}", hint=f"there are: {known}") from None
    except OSError as error:
        reason = "links are not followed" if _is_link(workspace, name) else error.strerror
        raise NoSuchSop(f"{sop_path(name)} cannot be read: {reason}") from None


def _whole(file: int) -> bytes:
    with os.fdopen(os.dup(file), "rb") as stream:
        data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise NoSuchSop(f"a SOP has at most {_MOST_BYTES} bytes")
    return data


def _is_link(workspace: Path, name: str) -> bool:
    folder = workspace / "sops"
    return any(each.is_symlink() for each in (folder, folder / name, folder / name / "SOP.toml"))
