"""The file that describes a service to its supervisor, on disk."""

from __future__ import annotations

from pathlib import Path

from coilclaw.sdk.private_file import replace_file
from coilclaw.service.errors import ServiceFailed

__all__ = ["remove_file", "write_file"]


def write_file(path: Path, contents: bytes) -> None:
    """Put a service file in place, as a whole. Raises ServiceFailed."""
    try:
        replace_file(path, contents)
    except OSError as error:
        raise ServiceFailed(f"cannot write {path}: {error.strerror}") from None


def remove_file(path: Path) -> None:
    """Remove a service file. Raises ServiceFailed."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise ServiceFailed(f"cannot remove {path}: {error.strerror}") from None
