"""The engine protocol, its limits and its outcomes. The engines are in the packages below."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.sandbox.clock import RunClock
    from coilclaw.sandbox.deadline import POLL_SECONDS, Deadline
    from coilclaw.sandbox.displayed import DISPLAY_STREAM, DisplayedOutput, accepted_output
    from coilclaw.sandbox.engine import Engine, Host, Pins, Snippet
    from coilclaw.sandbox.errors import EngineUnavailable
    from coilclaw.sandbox.limits import Limits
    from coilclaw.sandbox.outcomes import (
        Cancelled,
        Completed,
        Crashed,
        Diverged,
        Failed,
        Outcome,
        OutOfMemory,
        OutputExceeded,
        Rejected,
        RunEnded,
        RunWarning,
        SnippetError,
        Suspended,
        TimedOut,
    )
    from coilclaw.sandbox.threads import Abandoned, ExpendableThreads
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "clock": "RunClock",
            "deadline": "POLL_SECONDS Deadline",
            "displayed": "DISPLAY_STREAM DisplayedOutput accepted_output",
            "engine": "Engine Host Pins Snippet",
            "errors": "EngineUnavailable",
            "limits": "Limits",
            "outcomes": (
                "Cancelled Completed Crashed Diverged Failed Outcome OutOfMemory OutputExceeded Rejected "
                "RunEnded RunWarning SnippetError Suspended TimedOut"
            ),
            "threads": "Abandoned ExpendableThreads",
        },
    )

__all__ = [
    "DISPLAY_STREAM",
    "POLL_SECONDS",
    "Abandoned",
    "Cancelled",
    "Completed",
    "Crashed",
    "Deadline",
    "DisplayedOutput",
    "Diverged",
    "Engine",
    "EngineUnavailable",
    "ExpendableThreads",
    "Failed",
    "Host",
    "Limits",
    "OutOfMemory",
    "Outcome",
    "OutputExceeded",
    "Pins",
    "Rejected",
    "RunClock",
    "RunEnded",
    "RunWarning",
    "Snippet",
    "SnippetError",
    "Suspended",
    "TimedOut",
    "accepted_output",
]
