"""The bridge: registry, preflight, stubs, and the one path every call takes."""

from coilclaw.bridge.bridge import Bridge
from coilclaw.bridge.catalogue import Match, registry_tools, search_tools
from coilclaw.bridge.handlers import Handlers
from coilclaw.bridge.live import LiveRegistry, Provision
from coilclaw.bridge.registry import Registry, build_registry
from coilclaw.bridge.stubs import (
    Spelling,
    Stubs,
    estimated_tokens,
    example_calls,
    first_sentence,
    registry_stubs,
    tool_schemas,
    tool_stub,
)
from coilclaw.bridge.surroundings import Surroundings

__all__ = [
    "Bridge",
    "Handlers",
    "LiveRegistry",
    "Match",
    "Provision",
    "Registry",
    "Spelling",
    "Stubs",
    "Surroundings",
    "build_registry",
    "estimated_tokens",
    "example_calls",
    "first_sentence",
    "registry_stubs",
    "registry_tools",
    "search_tools",
    "tool_schemas",
    "tool_stub",
]
