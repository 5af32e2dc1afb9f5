"""What credentials look like, for whoever takes them out of text that is shown or kept.

A shape finds credentials that nobody has declared. One that is known by its value is replaced by value, elsewhere.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["has_credential", "without_credentials"]

_WHOLE: Final = re.compile(
    r"""
    -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    | \b(?:sk|pk|rk|xai|gsk)-[A-Za-z0-9_-]{12,}
    | \bgh[pousr]_[A-Za-z0-9]{16,} | \bgithub_pat_[A-Za-z0-9_]{16,} | \bglpat-[A-Za-z0-9_-]{16,}
    | \bxox[a-z]-[A-Za-z0-9-]{8,} | \bAKIA[0-9A-Z]{16}\b | \bAIza[A-Za-z0-9_-]{30,} | \bph[cx]_[A-Za-z0-9]{16,}
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*
    | (?<=Bearer\ )[A-Za-z0-9._~+/=-]{8,} | (?<=Basic\ )[A-Za-z0-9+/=]{8,}
    | (?<=://)[^\s/@:]*:[^\s/@]+(?=@)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_PART: Final = re.compile(r"\b(?:sk|pk|rk|xai|gsk|key)-[\w*.-]{4,}|\bBearer\s+\S+", re.IGNORECASE)
"""Also a piece of a credential, as a service quotes it: `sk-ab***yz`. Ordinary words may look like this."""


def without_credentials(text: str, mark: str, *, parts: bool = False) -> str:
    """Return the text with a mark in place of each credential; with `parts`, also of what may be a piece of one."""
    text = _WHOLE.sub(mark, text)
    return _PART.sub(mark, text) if parts else text


def has_credential(text: str, *, parts: bool = False) -> bool:
    """Whether something in the text looks like a credential; with `parts`, or like a piece of one."""
    return _WHOLE.search(text) is not None or (parts and _PART.search(text) is not None)
