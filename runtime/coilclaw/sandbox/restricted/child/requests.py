"""What the host and the warm parent agree on about a child."""

from __future__ import annotations

import struct
from typing import Final

__all__ = ["OUT_OF_MEMORY_EXIT", "REQUEST"]

REQUEST: Final = struct.Struct("!QQ")
"""A child's memory in bytes and its processor time in seconds; two descriptors come with it."""

OUT_OF_MEMORY_EXIT: Final = 70
"""How a child ends that has no memory left to say so."""
