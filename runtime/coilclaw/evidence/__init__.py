"""Views derived from receipts, and the event feed."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.evidence.activity import Relevant, activity_of, approval_words, relevant, run_of
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
        CallReused,
        CallStarted,
        CallSucceeded,
        EstopCleared,
        EstopSet,
        Event,
        OtherReceipt,
        RunDisplayed,
        RunDiverged,
        RunFinished,
        RunOutput,
        RunQueued,
        RunResumed,
        RunStarted,
        RunSuspended,
        ToolReloaded,
        WindowClosed,
        WindowOpened,
    )
    from coilclaw.evidence.feed import EventFeed
    from coilclaw.evidence.grounding import (
        AnswerStream,
        Claim,
        Evidence,
        Grounding,
        Released,
        check_answer,
    )
    from coilclaw.evidence.live import OutputBuffer
    from coilclaw.evidence.reader import EventReader
    from coilclaw.evidence.receipt_events import event_of
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "activity": "Relevant activity_of approval_words relevant run_of",
            "events": (
                "AnyEvent ApprovalAsked ApprovalDecided CallApproved CallDenied CallEvent CallFailed CallProgress "
                "CallRequested CallReused CallStarted CallSucceeded EstopCleared EstopSet Event OtherReceipt "
                "RunDisplayed RunDiverged RunFinished RunOutput RunQueued RunResumed RunStarted RunSuspended "
                "ToolReloaded WindowClosed WindowOpened"
            ),
            "feed": "EventFeed",
            "grounding": "AnswerStream Claim Evidence Grounding Released check_answer",
            "live": "OutputBuffer",
            "reader": "EventReader",
            "receipt_events": "event_of",
        },
    )

__all__ = [
    "AnswerStream",
    "AnyEvent",
    "ApprovalAsked",
    "ApprovalDecided",
    "CallApproved",
    "CallDenied",
    "CallEvent",
    "CallFailed",
    "CallProgress",
    "CallRequested",
    "CallReused",
    "CallStarted",
    "CallSucceeded",
    "Claim",
    "EstopCleared",
    "EstopSet",
    "Event",
    "EventFeed",
    "EventReader",
    "Evidence",
    "Grounding",
    "OtherReceipt",
    "OutputBuffer",
    "Released",
    "Relevant",
    "RunDisplayed",
    "RunDiverged",
    "RunFinished",
    "RunOutput",
    "RunQueued",
    "RunResumed",
    "RunStarted",
    "RunSuspended",
    "ToolReloaded",
    "WindowClosed",
    "WindowOpened",
    "activity_of",
    "approval_words",
    "check_answer",
    "event_of",
    "relevant",
    "run_of",
]
