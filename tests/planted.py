"""Secrets that tests plant, and the search for them: none may turn up where secrets do not belong.

Every planted secret contains `PREFIX`, so that a search after any number of tests finds those of all of them.
`planted_search.py` makes that search at the end of every session.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["KEPT_IN", "PREFIX", "has_planted", "leaks", "planted", "planted_setup_token"]

PREFIX: Final = "COILCLAW-PLANTED-"
KEPT_IN: Final = ("auth-profiles.json", "secrets.toml", "config.toml", "planted")
"""Files whose purpose is to hold secrets, the configuration that a test writes, and folders for whatever else it plants."""
_AT_ONCE: Final = 8 * 1024 * 1024
_LONGEST_FORM: Final = 256


def planted(name: str) -> str:
    """A secret that can be recognised wherever it turns up."""
    return f"{PREFIX}{name}"


def planted_setup_token(name: str = "manual") -> str:
    """A setup token as Anthropic's look: its prefix, and enough behind it."""
    return f"sk-ant-oat01-{planted(name)}-".ljust(108, "x")


def _forms() -> Iterator[bytes]:
    """What `PREFIX` looks like as it is, and encoded in the ways that logs, databases and services use."""
    raw = PREFIX.encode()
    yield from (raw, raw.hex().encode(), raw.hex().upper().encode(), PREFIX.encode("utf-16-le"))
    for before in range(3):  # Base64 has three forms of a text, by its place; the ends depend on what is beside it.
        yield base64.b64encode(b"x" * before + raw)[4 if before else 0 : -4]
    for escape in ("%{:02X}", "%{:02x}", "\\u{:04x}", "\\u{:04X}", "\\x{:02x}", "&#{};"):
        yield "".join(map(escape.format, raw)).encode()
    yield PREFIX.replace("-", "%2D").encode()
    yield PREFIX.replace("-", "%2d").encode()


_FORMS: Final = tuple(_forms())


def has_planted(data: bytes) -> bool:
    """Whether a planted secret is in some data, as it is or encoded."""
    return any(form in data for form in _FORMS)


def leaks(*folders: Path) -> list[Path]:
    """Every file below these folders that has a planted secret in it, or in its name, and is not there to hold it."""
    return [file for folder in folders for file in sorted(_files(folder)) if _holds_planted(file)]


def _files(folder: Path) -> Iterator[Path]:
    for place, inner, names in os.walk(folder):
        inner[:] = [name for name in inner if name not in KEPT_IN]
        yield from (Path(place, name) for name in names if name not in KEPT_IN)


def _holds_planted(file: Path) -> bool:
    if has_planted(os.fsencode(file.name)):
        return True
    if not file.is_file() or file.is_symlink():
        return False
    try:
        with file.open("rb") as stream:
            before = b""
            while data := stream.read(_AT_ONCE):
                if has_planted(before + data):
                    return True
                before = data[-_LONGEST_FORM:]
    except OSError:  # Gone, or not for us to read: then nobody else reads it either.
        pass
    return False
