"""Kept machine code and its seal: code that was changed since it was compiled is not run.

Beside each file stands a seal: the hash of its contents, what the system says of the file (inode, size,
times), and a keyed hash over both and the file's name. The key is a secret of the user, made once and kept
in the same folder. While the system says the same of the file, its contents are not read again: hashing
fifty megabytes takes longer than everything else at the start of a run, and no write leaves the time of the
last change as it was. If it says anything else, as of a copy, the contents are hashed and must be the same.

So every change through the file system is noticed; a bit that flips below it is not, until the file moves.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from coilclaw.sdk.private_file import replace_file

__all__ = ["is_sealed", "keep"]

_KEY_BYTES: Final = 32
_LARGEST_SEAL: Final = 4096
_STALE_SECONDS: Final = 7 * 24 * 3600


def is_sealed(path: Path) -> bool:
    """Whether this is, unchanged, what was kept there. Nobody else may have been able to write it."""
    if not all(_is_ours(each) for each in (path, path.parent)):
        return False
    key = _key(path.parent)
    seal = _read_seal(path)
    if key is None or seal is None:
        return False
    if not hmac.compare_digest(_mac(key, path.name, seal["sha256"], seal["facts"]), seal["mac"]):
        return False
    facts = _facts(path)
    if facts == seal["facts"]:
        return True
    if _hashed(path) != seal["sha256"] or _facts(path) != facts:
        return False
    _write_seal(path, key, seal["sha256"], facts)
    return True


def keep(path: Path, data: bytes) -> None:
    """Write and seal it, as far as the folder can be written: the run goes on, and the next one compiles again."""
    with suppress(OSError):
        key = _key(path.parent) or _new_key(path.parent)
        replace_file(path, data)
        _write_seal(path, key, hashlib.sha256(data).hexdigest(), _facts(path))
        for stale in path.parent.glob("guest-*"):  # Of other builds, and of processes that were killed.
            if stale not in (path, _seal_of(path)) and time.time() - stale.stat().st_mtime > _STALE_SECONDS:
                stale.unlink(missing_ok=True)


def _is_ours(path: Path) -> bool:
    try:
        facts = path.stat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True
    return facts.st_uid == os.getuid() and not facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _key(folder: Path) -> bytes | None:
    """The user's secret, if there is one that nobody else could read or write."""
    path = folder / "key"
    try:
        readable_by_others = path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        key = path.read_bytes() if _is_ours(path) and not readable_by_others else b""
    except OSError:
        return None
    return key if len(key) == _KEY_BYTES else None


def _new_key(folder: Path) -> bytes:
    # Whoever replaces it last is believed by all from then on; what others sealed meanwhile is compiled again.
    replace_file(folder / "key", secrets.token_bytes(_KEY_BYTES))
    return _key(folder) or b""


def _seal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.seal")


def _read_seal(path: Path) -> dict[str, Any] | None:
    try:
        with _seal_of(path).open("rb") as file:
            seal = json.loads(file.read(_LARGEST_SEAL))
    except (OSError, ValueError, RecursionError):
        return None
    kinds = {"sha256": str, "mac": str, "facts": list}
    if not isinstance(seal, dict) or any(type(seal.get(name)) is not kind for name, kind in kinds.items()):
        return None
    return seal if seal["mac"].isascii() else None


def _write_seal(path: Path, key: bytes, digest: str, facts: list[int]) -> None:
    seal = {"sha256": digest, "facts": facts, "mac": _mac(key, path.name, digest, facts)}
    with suppress(OSError):
        replace_file(_seal_of(path), json.dumps(seal).encode())


def _mac(key: bytes, name: str, digest: str, facts: list[int]) -> str:
    return hmac.digest(key, json.dumps([name, digest, facts]).encode(), "sha256").hex()


def _facts(path: Path) -> list[int]:
    try:
        facts = path.stat()
    except OSError:
        return []
    return [facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns]


def _hashed(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
