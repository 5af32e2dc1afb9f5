"""The bridge: registry, preflight, stubs, and the one path every call takes."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.bridge.bridge import Bridge
    from coilclaw.bridge.caller import Caller
    from coilclaw.bridge.calls import call_number
    from coilclaw.bridge.catalogue import Match, search_tools
    from coilclaw.bridge.errors import NoSuchRun, NotResumable
    from coilclaw.bridge.handlers import Handlers
    from coilclaw.bridge.identified_call import call_difference
    from coilclaw.bridge.journal import JOURNAL, Journal, Known, Recorded, count_rows, read_journal
    from coilclaw.bridge.live_registry import LiveRegistry, Provision
    from coilclaw.bridge.prior_calls import PriorCall
    from coilclaw.bridge.redaction import Redaction
    from coilclaw.bridge.registry import Registry, build_registry
    from coilclaw.bridge.registry_tools import registry_tools
    from coilclaw.bridge.replay_host import ReplayHost
    from coilclaw.bridge.reuse import EarlierWrite, ReusableWrites
    from coilclaw.bridge.run_spec import RunSpec
    from coilclaw.bridge.run_store import (
        RUNS,
        RunHeader,
        RunPage,
        RunRecord,
        add_queued_run,
        add_run,
        begin_queued_run,
        cancel_waiting_run,
        count_runs,
        end_run,
        find_run,
        list_runs,
        runs_of_conversation,
        take_over,
    )
    from coilclaw.bridge.services import Services
    from coilclaw.bridge.stubs import (
        GUEST_PYTHON,
        Spelling,
        Stubs,
        example_calls,
        first_sentence,
        registry_stubs,
        tool_schemas,
        tool_stub,
    )
    from coilclaw.bridge.tool_bounds import allowed_tools
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "tool_bounds": "allowed_tools",
            "bridge": "Bridge",
            "caller": "Caller",
            "calls": "call_number",
            "catalogue": "Match search_tools",
            "errors": "NoSuchRun NotResumable",
            "handlers": "Handlers",
            "identified_call": "call_difference",
            "journal": "JOURNAL Journal Known Recorded count_rows read_journal",
            "live_registry": "LiveRegistry Provision",
            "prior_calls": "PriorCall",
            "redaction": "Redaction",
            "registry": "Registry build_registry",
            "registry_tools": "registry_tools",
            "replay_host": "ReplayHost",
            "reuse": "EarlierWrite ReusableWrites",
            "run_spec": "RunSpec",
            "run_store": (
                "RUNS RunHeader RunPage RunRecord add_queued_run add_run begin_queued_run cancel_waiting_run "
                "count_runs end_run find_run list_runs runs_of_conversation take_over"
            ),
            "services": "Services",
            "stubs": ("GUEST_PYTHON Spelling Stubs example_calls first_sentence registry_stubs tool_schemas tool_stub"),
        },
    )

__all__ = [
    "GUEST_PYTHON",
    "JOURNAL",
    "RUNS",
    "Bridge",
    "Caller",
    "EarlierWrite",
    "Handlers",
    "Journal",
    "Known",
    "LiveRegistry",
    "Match",
    "NoSuchRun",
    "NotResumable",
    "PriorCall",
    "Provision",
    "Recorded",
    "Redaction",
    "Registry",
    "ReplayHost",
    "ReusableWrites",
    "RunHeader",
    "RunPage",
    "RunRecord",
    "RunSpec",
    "Services",
    "Spelling",
    "Stubs",
    "add_queued_run",
    "add_run",
    "allowed_tools",
    "begin_queued_run",
    "build_registry",
    "call_difference",
    "call_number",
    "cancel_waiting_run",
    "count_rows",
    "count_runs",
    "end_run",
    "example_calls",
    "find_run",
    "first_sentence",
    "list_runs",
    "read_journal",
    "registry_stubs",
    "registry_tools",
    "runs_of_conversation",
    "search_tools",
    "take_over",
    "tool_schemas",
    "tool_stub",
]
