"""The names of the layers that confine a child, and what is known about one of them on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

__all__ = ["LAYERS", "Layer", "LayerName"]

LayerName = Literal["rlimits", "environment", "descriptors", "user", "no_new_privs", "landlock", "seccomp"]
LAYERS: Final[tuple[LayerName, ...]] = get_args(LayerName)


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One layer: whether a child gets it here, and why not."""

    name: LayerName
    state: Literal["active", "unavailable", "off"]
    detail: str
