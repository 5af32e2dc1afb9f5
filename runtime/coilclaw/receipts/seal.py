"""A keyed seal over the head of the log.

The chain alone shows an edit to whoever kept a later hash. Someone who can write the database
could recompute every hash after an edit, or cut the end off; without the key they cannot make
the seal fit. It does not cover a person who has the key, nor a whole older copy of the database
put in place of the present one.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from coilclaw.sdk import OperatorError

__all__ = ["load_or_create_key", "seal"]


def load_or_create_key(path: Path, *, create: bool = True) -> bytes:
    """The log's key, readable by its owner only; made on first use, but never for a log that has one already."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            if not create:
                raise OperatorError(f"the key of the receipt log is missing: {path}", hint="restore it from a backup")
            _create(path)
        key = path.read_bytes()
    except OSError as error:
        raise OperatorError(f"cannot use the receipt key {path}: {error.strerror}") from None
    if len(key) != 32:
        raise OperatorError(f"{path} is not a receipt key (32 bytes)", hint="restore it from a backup")
    return key


def _create(path: Path) -> None:
    fresh = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(descriptor, secrets.token_bytes(32))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(fresh, path)  # Fails if another process made one meanwhile: theirs counts.
    except FileExistsError:
        pass
    finally:
        fresh.unlink()


def seal(key: bytes, *, log_id: str, seq: int, receipt_hash: str) -> str:
    return hmac.new(key, f"{log_id}:{seq}:{receipt_hash}".encode(), hashlib.sha256).hexdigest()
