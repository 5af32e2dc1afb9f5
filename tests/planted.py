"""Secrets that tests plant, and the search for them: none may turn up where secrets do not belong.

Every planted secret contains `PREFIX`, so that a search after any number of tests finds those of all of them.
"""

from __future__ import annotations

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


def leaks(*folders: Path) -> list[Path]:
    """Every file below these folders that has a planted secret in it and is not there to hold it."""
    return [
        file
        for folder in folders
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.is_symlink() and not set(KEPT_IN) & set(file.relative_to(folder).parts)
        if PREFIX.encode() in file.read_bytes()
    ]
