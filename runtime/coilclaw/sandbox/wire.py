"""How the host and a child speak: frames of JSON over one socket, each with its length in front.

A frame from the child is a JSON array `[kind, ...]`, a newline, and the JSON that goes with it. A frame
from the host is JSON alone, and always an answer. Nothing else crosses, and nothing is unpickled.
"""

from __future__ import annotations

import struct
from typing import Final

__all__ = ["FRAME_LIMIT", "HEADER_LIMIT", "LENGTH", "SPIN_SECONDS", "frame"]

LENGTH: Final = struct.Struct("!I")
FRAME_LIMIT: Final = 16 * 1024 * 1024
"""More than this in one frame ends the run: the host reads a frame into memory as a whole."""

HEADER_LIMIT: Final = 64 * 1024
"""The array in front, which names a tool at most."""

SPIN_SECONDS: Final = 0.0002
"""How long either side looks for the next frame before it sleeps: waking up takes longer than most calls do."""


def frame(body: bytes) -> bytes:
    return LENGTH.pack(len(body)) + body
