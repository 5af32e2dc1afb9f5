"""Secrets that tests plant, and the search for them: none may turn up where secrets do not belong.

Every planted secret contains `PREFIX`, so that a search after any number of tests finds those of all of them.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["KEPT_IN", "PREFIX", "leaks", "planted", "planted_setup_token"]

PREFIX: Final = "COILCLAW-PLANTED-"
KEPT_IN: Final = ("auth-profiles.json", "secrets.toml", "planted")
"""Files whose purpose is to hold secrets, and folders of tests for files that are referred to."""


def planted(name: str) -> str:
    """A secret that can be recognised wherever it turns up."""
    return f"{PREFIX}{name}"


def planted_setup_token(name: str = "manual") -> str:
    """A setup token as Anthropic's look: its prefix, and enough behind it."""
    return f"sk-ant-oat01-{planted(name)}-".ljust(108, "x")


def _forms() -> Iterator[bytes]:
    """What `PREFIX` looks like as it is, and encoded in the ways that logs and databases use."""
    raw = PREFIX.encode()
    yield from (raw, raw.hex().encode(), PREFIX.encode("utf-16-le"))
    for before in range(3):  # Base64 has three forms of a text, by its place; the ends depend on what is beside it.
        yield base64.b64encode(b"x" * before + raw)[4 if before else 0 : -4]


_FORMS: Final = tuple(_forms())


def leaks(*folders: Path) -> list[Path]:
    """Every file below these folders that has a planted secret in it and is not there to hold it."""
    return [
        file
        for folder in folders
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.is_symlink() and not set(KEPT_IN) & set(file.relative_to(folder).parts)
        if any(form in data for data in [file.read_bytes()] for form in _FORMS)
    ]
