"""The bridge: registry, preflight, stubs, and the one path every call takes."""

from coilclaw.bridge.bridge import Bridge
from coilclaw.bridge.caller import Caller
from coilclaw.bridge.calls import call_number
from coilclaw.bridge.catalogue import Match, registry_tools, search_tools
from coilclaw.bridge.handlers import Handlers
from coilclaw.bridge.identified_call import call_difference
from coilclaw.bridge.journal import JOURNAL, Journal, Known, Recorded, read_journal
from coilclaw.bridge.live_registry import LiveRegistry, Provision
from coilclaw.bridge.prior_calls import PriorCall
from coilclaw.bridge.registry import Registry, build_registry
from coilclaw.bridge.replay_host import ReplayHost
from coilclaw.bridge.run_spec import RunSpec
from coilclaw.bridge.services import Services
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

__all__ = [
    "JOURNAL",
    "Bridge",
    "Caller",
    "Handlers",
    "Journal",
    "Known",
    "LiveRegistry",
    "Match",
    "PriorCall",
    "Provision",
    "Recorded",
    "Registry",
    "ReplayHost",
    "RunSpec",
    "Services",
    "Spelling",
    "Stubs",
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
