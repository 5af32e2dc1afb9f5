"""Reading and writing JSON with pydantic's own functions, which are several times as quick as the standard library's.

They are loaded by the first use: a command that neither reads nor writes much does without them.
"""

from __future__ import annotations

from typing import Any

__all__ = ["from_json", "to_json"]


def from_json(data: str | bytes, *, allow_inf_nan: bool = True) -> Any:
    """Return what JSON says. Raises ValueError if it is not JSON."""
    import pydantic_core

    return pydantic_core.from_json(data, allow_inf_nan=allow_inf_nan)


def to_json(value: Any) -> bytes:
    """Return compact JSON. Raises ValueError for what has none."""
    import pydantic_core

    return pydantic_core.to_json(value)
