"""The bridge: registry, preflight, stubs, and the one path every call takes."""

from coilclaw.bridge.bridge import Bridge, Surroundings
from coilclaw.bridge.handlers import Handlers
from coilclaw.bridge.registry import Registry, build_registry
from coilclaw.bridge.stubs import registry_stubs, tool_stub

__all__ = [
    "Bridge",
    "Handlers",
    "Registry",
    "Surroundings",
    "build_registry",
    "registry_stubs",
    "tool_stub",
]
