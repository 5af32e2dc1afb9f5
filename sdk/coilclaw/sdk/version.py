"""The version of this distribution, as a constant: asking the installed metadata takes longer than most commands."""

from __future__ import annotations

from typing import Final

__all__ = ["VERSION"]

VERSION: Final = "0.1.0"
