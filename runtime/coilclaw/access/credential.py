"""Credentials: an id to find a row by, and a secret of which only a hash is stored.

The secret has 256 random bits, so a plain hash of it is enough: there is nothing to guess. Rows are found by the id,
and hashes are compared in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import Final, NamedTuple

from coilclaw.access.errors import BadGrant

__all__ = ["Credential", "checked_name", "mint", "read_credential"]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@:+-]{0,63}")
_REST: Final = "([0-9a-f]{16})_([A-Za-z0-9_-]{43})"


class Credential(NamedTuple):
    """An id, and the secret that proves it."""

    kind: str
    id: str
    secret: str

    @property
    def text(self) -> str:
        """What its owner keeps and sends; the kind in front says where it belongs, also to a scanner for leaks."""
        return f"{self.kind}_{self.id}_{self.secret}"

    @property
    def hash(self) -> str:
        """What is stored."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def matches(self, stored: str) -> bool:
        """Whether this is the credential whose hash was stored."""
        return hmac.compare_digest(self.hash, stored)

    def __repr__(self) -> str:
        return f"Credential({self.kind}_{self.id}_…)"


def mint(kind: str) -> Credential:
    """Make a new credential."""
    return Credential(kind, secrets.token_hex(8), secrets.token_urlsafe(32))


def read_credential(kind: str, text: str) -> Credential | None:
    """Return the credential of this kind that a text is, or None if it is none."""
    found = re.fullmatch(f"{re.escape(kind)}_{_REST}", text, re.ASCII)
    return None if found is None else Credential(kind, found[1], found[2])


def checked_name(name: str) -> str:
    """Return the name of a token or session. Raises BadGrant if it is none: names are shown and recorded."""
    if not _NAME.fullmatch(name):
        raise BadGrant("a name has 1 to 64 letters, digits, spaces and . _ @ : + -")
    return name
