"""A client of a CoilClaw server, for other programs and other machines. It needs neither the runtime nor the server."""

from coilclaw.client.answers import (
    Approval,
    ApprovalDetails,
    CallResult,
    Conversation,
    Event,
    Message,
    Run,
    Runs,
    RunSummary,
    ServerStatus,
    ToolInfo,
)
from coilclaw.client.client import Client
from coilclaw.client.errors import (
    BadAddress,
    ClientError,
    Conflict,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    NotUnderstood,
    Refused,
    ServerFailed,
    Unreachable,
)

__all__ = [
    "Approval",
    "ApprovalDetails",
    "BadAddress",
    "CallResult",
    "Client",
    "ClientError",
    "Conflict",
    "Conversation",
    "Event",
    "Message",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "NotUnderstood",
    "Refused",
    "Run",
    "RunSummary",
    "Runs",
    "ServerFailed",
    "ServerStatus",
    "ToolInfo",
    "Unreachable",
]
