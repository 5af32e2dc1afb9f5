"""The bridge: registry, preflight, stubs, and the one path every call takes."""

from coilclaw.bridge.admission import RunFacts
from coilclaw.bridge.bridge import Bridge
from coilclaw.bridge.calls import PriorCall, call_number
from coilclaw.bridge.catalogue import Match, registry_tools, search_tools
from coilclaw.bridge.handlers import Handlers
from coilclaw.bridge.identity import call_difference
from coilclaw.bridge.journal import JOURNAL, Journal, Known, Recorded, read_journal
from coilclaw.bridge.live import LiveRegistry, Provision
from coilclaw.bridge.registry import Registry, build_registry
from coilclaw.bridge.repetition import Repetition
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
    "JOURNAL",
    "Bridge",
    "Handlers",
    "Journal",
    "Known",
    "LiveRegistry",
    "Match",
    "PriorCall",
    "Provision",
    "Recorded",
    "Registry",
    "Repetition",
    "RunFacts",
    "Spelling",
    "Stubs",
    "Surroundings",
    "build_registry",
    "call_difference",
    "call_number",
    "estimated_tokens",
    "example_calls",
    "first_sentence",
    "read_journal",
    "registry_stubs",
    "registry_tools",
    "search_tools",
    "tool_schemas",
    "tool_stub",
]
