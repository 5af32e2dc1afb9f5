"""What can go wrong between this program and a server.

CoilClawError
└── ClientError             anything the client raises; `code` is the server's where the server refused
    ├── BadAddress          the address or token cannot be used as given; nothing was sent
    ├── Unreachable         nothing answered in time; a request that changes something may have arrived
    ├── NotUnderstood       something answered that is no server of this version
    └── Refused             the server refused the request; carries `status`, `code`, `hint`, `details`
        ├── NotAuthenticated    401: no token, or one that does not count
        ├── NotAllowed          403: the token's scope is not enough
        ├── NotFound            404
        ├── Conflict            409: it does not go with the present state
        └── ServerFailed        5xx
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from coilclaw.sdk import CoilClawError

__all__ = [
    "BadAddress",
    "ClientError",
    "Conflict",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "NotUnderstood",
    "Refused",
    "ServerFailed",
    "Unreachable",
    "refusal",
]

_LONGEST: Final = 2000


class ClientError(CoilClawError):
    """Something went wrong between this program and the server."""

    code = "client"


class BadAddress(ClientError):
    """The address or the token cannot be used; nothing was sent."""

    code = "bad_address"


class Unreachable(ClientError):
    """Nothing answered, or not in time."""

    code = "unreachable"


class NotUnderstood(ClientError):
    """The answer is not one that a server of this version gives."""

    code = "not_understood"


class Refused(ClientError):
    """The server refused a request."""

    code = "refused"
    statuses: ClassVar[tuple[int, ...]] = ()

    def __init__(self, status: int, code: str, message: str, *, hint: str | None = None, details: Any = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.details = details


class NotAuthenticated(Refused):
    """There was no token, or one that does not count."""

    statuses = (401,)


class NotAllowed(Refused):
    """The token's scope is not enough for this."""

    statuses = (403,)


class NotFound(Refused):
    """There is no such thing."""

    statuses = (404,)


class Conflict(Refused):
    """The request does not go with the present state."""

    statuses = (409,)


class ServerFailed(Refused):
    """The server could not do what it should."""

    statuses = tuple(range(500, 600))


def refusal(status: int, envelope: Any) -> ClientError:
    """The error that an answer stands for. Whatever is not an envelope is said to be no answer of a server."""
    error = envelope.get("error") if isinstance(envelope, dict) else None
    code, message, hint = (
        (error.get(name) for name in ("code", "message", "hint")) if isinstance(error, dict) else ("",) * 3
    )
    if not isinstance(error, dict) or not isinstance(code, str) or not isinstance(message, str) or not code:
        return NotUnderstood(
            f"the answer has status {status} and is not one of a CoilClaw server", hint="check the address"
        )
    kind = next((each for each in Refused.__subclasses__() if status in each.statuses), Refused)
    return kind(
        status,
        code[:100],
        message[:_LONGEST],
        hint=hint[:_LONGEST] if isinstance(hint, str) and hint else None,
        details=error.get("details"),
    )
