"""Views derived from receipts, and the event feed.

Most commands only want the activity of a run; the feed and its events are loaded when they are asked for.
"""

from typing import TYPE_CHECKING

from coilclaw.evidence.activity import activity_of, run_of

if TYPE_CHECKING:
    from coilclaw.evidence.events import (
        AnyEvent,
        ApprovalAsked,
        ApprovalDecided,
        CallApproved,
        CallDenied,
        CallEvent,
        CallFailed,
        CallProgress,
        CallRequested,
        CallStarted,
        CallSucceeded,
        EstopCleared,
        EstopSet,
        Event,
        OtherReceipt,
        RunDiverged,
        RunFinished,
        RunOutput,
        RunResumed,
        RunStarted,
        RunSuspended,
        ToolReloaded,
        WindowClosed,
        WindowOpened,
    )
    from coilclaw.evidence.feed import EventFeed
    from coilclaw.evidence.live import OutputBuffer
    from coilclaw.evidence.reader import EventReader

__all__ = [
    "AnyEvent",
    "ApprovalAsked",
    "ApprovalDecided",
    "CallApproved",
    "CallDenied",
    "CallEvent",
    "CallFailed",
    "CallProgress",
    "CallRequested",
    "CallStarted",
    "CallSucceeded",
    "EstopCleared",
    "EstopSet",
    "Event",
    "EventFeed",
    "EventReader",
    "OtherReceipt",
    "OutputBuffer",
    "RunDiverged",
    "RunFinished",
    "RunOutput",
    "RunResumed",
    "RunStarted",
    "RunSuspended",
    "ToolReloaded",
    "WindowClosed",
    "WindowOpened",
    "activity_of",
    "run_of",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from coilclaw.evidence import events, feed, live, reader

    loaded = {**vars(events), **vars(reader), **vars(live), **vars(feed)}
    globals().update({each: loaded[each] for each in __all__ if each in loaded})
    return globals()[name]
