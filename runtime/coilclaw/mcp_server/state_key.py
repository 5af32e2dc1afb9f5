"""The key that seals what a client keeps for us between two requests."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

from coilclaw.sdk import OperatorError
from coilclaw.sdk.private_file import PrivateFile

__all__ = ["load_state_key"]

_BYTES: Final = 32


def load_state_key(home: Path) -> bytes:
    """The key of a home, made when there is none: a state outlives the process that sealed it."""
    path = home / "keys" / "mcp-state.key"
    file = PrivateFile(path, most_bytes=1024, remedy="start the server again")
    with file.locked():
        key = file.read()
        if key is None:
            key = secrets.token_bytes(_BYTES)
            file.replace(key)
    if len(key) != _BYTES:
        raise OperatorError(f"{path} is not a key", hint=f"rm {path}; the next start makes another")
    return key
