"""What can go wrong, divided by who has to react.

CoilClawError                 anything this project raises on purpose; has a stable `code`
├── ToolDefinitionError       the tool author: a contract is wrong; names file, line and field
├── ToolFailure               raised by a handler to tell the model what happened and what to do
├── OperatorError             the person running CoilClaw: configuration, paths, credentials
└── EvidenceUnavailable       the operator, at once: receipts cannot be written, so nothing runs
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "CoilClawError",
    "EvidenceUnavailable",
    "OperatorError",
    "ToolDefinitionError",
    "ToolFailure",
]


class CoilClawError(Exception):
    """Root of every deliberate error; `code` stays the same between releases."""

    code: str = "error"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ToolDefinitionError(CoilClawError):
    """A tool's contract cannot be used as written; the tool's author has to change it."""

    code: str = "tool_definition"

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        file: str | Path | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        self.field = field
        self.file: str | None = str(file) if file is not None else None
        self.line = line
        self.problem = message
        where = f"{self.file}:{line}: " if self.file else ""
        what = f"{field}: " if field else ""
        super().__init__(f"{where}{what}{message}", hint=hint)


class ToolFailure(CoilClawError):
    """Raised inside a handler: the call failed in a way the caller can understand.

    Any other exception that leaves a handler is reported as a crash of the tool, with its
    message but without its traceback; use this one when the caller can do something about it.
    """

    def __init__(self, message: str, *, code: str = "tool_failed", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class OperatorError(CoilClawError):
    """The environment is not as it must be; the message says what to change."""

    code: str = "operator"


class EvidenceUnavailable(CoilClawError):
    """The receipt log cannot be written. No tool runs until it can."""

    code: str = "evidence_unavailable"
