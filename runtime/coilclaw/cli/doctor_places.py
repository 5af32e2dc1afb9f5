"""What `coilclaw doctor` finds out about folders and files: can they be written, and who else can reach them?"""

from __future__ import annotations

import os
import shlex
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from coilclaw.config import STORE_SUFFIXES, Settings

__all__ = ["Finding", "exposed", "private_places", "written"]

_OTHERS: Final = 0o077
_OTHERS_ENTER: Final = 0o011
_TRIED_BYTES: Final = 65_536


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    check: str
    state: Literal["ok", "warning", "error"]
    detail: str
    hint: str | None = None


def written(check: str, folder: Path) -> Finding | None:
    """Try to write in a folder, and return what went wrong. Only a write finds a full disk or a read-only mount."""
    try:
        with tempfile.TemporaryFile(dir=folder, prefix=".coilclaw-doctor-") as file:
            file.write(bytes(_TRIED_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return Finding(
            check=check,
            state="error",
            detail=f"cannot write in {folder}: {error.strerror}",
            hint="make room on the disk, or make the folder writable",
        )
    return None


def private_places(settings: Settings) -> Iterator[tuple[Path, str]]:
    """Everything that only its owner may reach, with the mode that makes it so."""
    receipts = settings.config.receipts
    yield settings.home, "700"
    for name in ("config.toml", "secrets.toml", "auth-profiles.json", "keys"):
        yield settings.home / name, "700" if name == "keys" else "600"
    yield receipts.key_path, "600"
    for suffix in STORE_SUFFIXES:
        yield Path(f"{receipts.path}{suffix}"), "600"


def exposed(check: str, path: Path, mode: str) -> Finding | None:
    """Whether others than the owner can reach a file or folder, and the command that ends it."""
    if sys.platform == "win32":
        return None
    try:
        facts = path.stat()
        around = path.resolve().parent.stat()
    except FileNotFoundError:
        return None
    if facts.st_uid not in (os.geteuid(), 0):
        return Finding(
            check=check,
            state="error",
            detail=f"{path} belongs to another user",
            hint=f"sudo chown {os.geteuid()} {shlex.quote(str(path))}",
        )
    # Nobody reaches a file through a folder that lets nobody in; a folder is judged by itself.
    is_open = stat.S_ISDIR(facts.st_mode) or around.st_mode & _OTHERS_ENTER
    if not facts.st_mode & _OTHERS or not is_open:
        return None
    done = "changed" if facts.st_mode & 0o022 else "read"
    return Finding(
        check=check,
        state="error",
        detail=f"{path} can be {done} by others (mode {stat.S_IMODE(facts.st_mode):o})",
        hint=f"chmod {mode} {shlex.quote(str(path))}",
    )
