"""Errors of the HTTP API, all in one envelope: `{"error": {"code", "message", "hint", "details"}}`.

CoilClawError
└── ApiError          a request that cannot be answered as it was sent; carries its HTTP status
"""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import JSONResponse

from coilclaw.sdk import CoilClawError

__all__ = ["ApiError", "error_response", "status_of"]

_STATUS: Final = {
    "bad_argument": 400,
    "bad_cursor": 400,
    "bad_limit": 400,
    "no_such_approval": 404,
    "no_such_conversation": 404,
    "no_such_run": 404,
    "no_such_window": 404,
    "already_decided": 409,
    "conversation_busy": 409,
    "conversation_waits": 409,
    "not_cancellable": 409,
    "not_resumable": 409,
    "nothing_to_resume": 409,
    "closed": 503,
    "evidence_unavailable": 503,
}


class ApiError(CoilClawError):
    """A request that is refused, or asks for something that is not there."""

    def __init__(self, status: int, code: str, message: str, *, hint: str | None = None, details: Any = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.details = details


def status_of(error: CoilClawError) -> int:
    """The HTTP status that an error of the runtime is answered with."""
    return error.status if isinstance(error, ApiError) else _STATUS.get(error.code, 400)


def error_response(error: CoilClawError) -> JSONResponse:
    """The envelope of an error."""
    body = {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "details": getattr(error, "details", None),
    }
    return JSONResponse({"error": body}, status_of(error))
