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

__all__ = ["keep_key", "load_key", "seal", "sync_folder"]


def load_key(path: Path) -> bytes | None:
    """The log's key, or None if there is none yet."""
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OperatorError(f"cannot use the receipt key {path}: {error.strerror}") from None
    if len(key) != 32:
        raise OperatorError(f"{path} is not a receipt key (32 bytes)", hint="restore it from a backup")
    return key


def keep_key(path: Path, key: bytes) -> None:
    """Write a new key, readable by its owner only. On disk, complete, before this returns; never over another."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            os.write(descriptor, key)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        try:
            os.link(fresh, path)
        finally:
            fresh.unlink()
        sync_folder(path.parent)
    except OSError as error:
        raise OperatorError(f"cannot use the receipt key {path}: {error.strerror}") from None


def sync_folder(folder: Path) -> None:
    """Otherwise a power cut could take the name of a key, and receipts would be left without one."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def seal(key: bytes, *, log_id: str, seq: int, receipt_hash: str) -> str:
    return hmac.new(key, f"{log_id}:{seq}:{receipt_hash}".encode(), hashlib.sha256).hexdigest()
