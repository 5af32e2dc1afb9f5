"""Inputs of a snippet: JSON data in which `{"": [kind, …]}` stands for a value of another type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from coilclaw.sdk.typed_values import plan_reader

__all__ = ["typed_inputs"]

_TEXTS: Final = {
    kind: plan_reader(f'["{kind}"]') for kind in ("date-time", "date", "time", "duration", "decimal", "uuid", "base64")
}
_COLLECTIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
}


def typed_inputs(value: Any) -> Any:
    """The value that was passed in."""
    if type(value) is list:
        return [typed_inputs(each) for each in value]
    if type(value) is not dict:
        return value
    match value.get("") if len(value) == 1 else None:
        case [str(kind), str(text)] if kind in _TEXTS:
            return _TEXTS[kind](text)
        case [str(kind), list(items)] if kind in _COLLECTIONS:
            return _COLLECTIONS[kind](typed_inputs(items))
    return {key: typed_inputs(each) for key, each in value.items()}
