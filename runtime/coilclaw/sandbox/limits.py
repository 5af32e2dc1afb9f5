"""How much one run may use."""

from __future__ import annotations

from coilclaw.sdk.frozen import Frozen

__all__ = ["Limits"]

MIB = 1024 * 1024


class Limits(Frozen):
    """Bounds of one run. Each has an outcome of its own when it is reached."""

    seconds: float = 60.0
    memory_bytes: int = 256 * MIB
    output_bytes: int = 1 * MIB
    source_bytes: int = 1 * MIB
    calls: int = 1000
    kept_bytes: int = 64 * MIB
    """Of arguments and results in the store: a call that may exceed them is refused."""
