"""Errors of the HTTP API, all in one envelope: `{"error": {"code", "message", "hint", "details"}}`.

CoilClawError
└── ApiError          a request that cannot be answered as it was sent; carries its HTTP status
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel
from starlette.responses import JSONResponse

from coilclaw.sdk import CoilClawError

__all__ = ["STATUS_OF_CODES", "ApiError", "ErrorEnvelope", "error_response", "status_of"]

STATUS_OF_CODES: Final = {
    # Something in the request is wrong.
    "bad_argument": 400,
    "bad_cursor": 400,
    "bad_limit": 400,
    "bad_step": 400,
    "bad_turn": 400,
    "error": 400,
    "invalid_sop": 400,
    "operator": 400,
    "bad_grant": 400,
    "tool_definition": 400,
    "bad_project": 400,
    "path_refused": 400,
    # What it names is not there.
    "no_such_approval": 404,
    "no_such_file": 404,
    "no_such_message": 404,
    "no_such_project": 404,
    "no_such_conversation": 404,
    "no_such_quarantined_file": 404,
    "no_such_receipt": 404,
    "no_such_run": 404,
    "no_such_sop": 404,
    "no_such_tool": 404,
    "no_such_token": 404,
    "no_such_window": 404,
    "no_such_sop_run": 404,
    # It is there, and in another state than the request takes for granted: look, and decide again.
    "already_decided": 409,
    "channel_disabled": 409,
    "conflict": 409,
    "conversation_busy": 409,
    "conversation_waits": 409,
    "damaged_approval": 409,
    "digest_mismatch": 409,
    "not_cancellable": 409,
    "not_resumable": 409,
    "not_retryable": 409,
    "nothing_to_resume": 409,
    "pending_changed": 409,
    "project_archived": 409,
    "file_changed": 412,
    "file_too_large": 413,
    "plan_not_usable": 409,
    "sop_run_taken": 409,
    # The server's operator has to react.
    "config": 500,
    "damaged_receipt": 500,
    "would_block": 500,
    "app_closed": 503,
    "credentials": 503,
    "engine_unavailable": 503,
    "evidence_unavailable": 503,
    "log_missing": 503,
    "provider": 503,
    "store": 503,
    "store_unwritable": 503,
    "too_many_files": 503,
    "too_many_runs": 503,
}
"""The HTTP status of every error of the runtime that can reach a request, by its code."""


class ErrorFacts(BaseModel):
    """What went wrong, and what to do about it."""

    code: str
    """Stays the same between releases."""
    message: str
    hint: str | None
    details: Any


class ErrorEnvelope(BaseModel):
    """The body of every response that is not a success."""

    error: ErrorFacts


class ApiError(CoilClawError):
    """A request that is refused, or asks for something that is not there."""

    def __init__(self, status: int, code: str, message: str, *, hint: str | None = None, details: Any = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.details = details


def status_of(error: CoilClawError) -> int:
    """The HTTP status that an error of the runtime is answered with."""
    return error.status if isinstance(error, ApiError) else STATUS_OF_CODES.get(error.code, 400)


def error_response(error: CoilClawError) -> JSONResponse:
    """The envelope of an error."""
    body = {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "details": getattr(error, "details", None),
    }
    return JSONResponse({"error": body}, status_of(error))
