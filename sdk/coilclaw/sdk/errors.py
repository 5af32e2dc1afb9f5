"""What can go wrong, divided by who has to react.

CoilClawError                 anything this project raises on purpose; has a stable `code`
├── ToolDefinitionError       the tool author: a contract is wrong; names file, line and field
├── ToolFailure               raised by a handler to tell the model what happened and what to do
├── OperatorError             the person running CoilClaw: configuration, paths, credentials
└── EvidenceUnavailable       the operator, at once: receipts cannot be written, so nothing runs
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from coilclaw.sdk.legible import kind_of, text_of

__all__ = [
    "LONGEST_MESSAGE",
    "RESERVED_CODES",
    "CoilClawError",
    "EvidenceUnavailable",
    "Failing",
    "OperatorError",
    "ToolDefinitionError",
    "ToolFailure",
    "crash_of",
    "failing_of",
]

RESERVED_CODES: Final = frozenset(
    (
        "abandoned", "approval_denied", "approval_required", "approval_unproven", "classify_timeout", "denied",
        "dry_run", "evidence_budget", "evidence_unavailable", "invalid_input", "invalid_output", "loop_blocked",
        "missing_secret", "output_too_large", "stopped", "timeout", "too_many_calls", "too_many_files",
        "tool_crashed", "unknown_outcome", "unknown_tool", "withdrawn",
    )
)  # fmt: skip
"""Codes with which the runtime itself answers a call. A tool that uses one gets `tool_` before it."""

_CODE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
LONGEST_MESSAGE: Final = 2000
"""Of the message of a failed call, in its answer and in its receipt."""


class CoilClawError(Exception):
    """Root of every deliberate error; `code` stays the same between releases."""

    code: str = "error"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if type(hint) is str and hint:  # Authors may have put anything into it.
            self.add_note(f"Hint: {hint}")  # A traceback shows notes, and no attributes.


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


class Failing(NamedTuple):
    """What a caller is told about a call that failed."""

    code: str
    message: str
    hint: str | None


def failing_of(error: ToolFailure) -> Failing:
    """Return what an author's `ToolFailure` says: text whatever it holds, and never a code of the runtime.

    The one place where authors' codes, messages and hints enter. An author may have put anything into them.
    """
    code, message, hint = (_attribute(error, name) for name in ("code", "message", "hint"))
    return Failing(
        code=_author_code(code),
        message=_safe_text(message),
        hint=None if hint is None else _safe_text(hint),
    )


def crash_of(error: BaseException) -> str:
    """Return the kind and the text of any exception of an author's code, on which nothing can be relied."""
    text = _safe_text(error)
    return f"{kind_of(error)}: {text}" if text else kind_of(error)


def _author_code(code: object) -> str:
    text = code if type(code) is str else ""
    if not _CODE.fullmatch(text):
        return "tool_failed"
    return f"tool_{text}" if text in RESERVED_CODES else text


def _attribute(error: BaseException, name: str) -> object:
    try:
        return getattr(error, name, None)
    except BaseException:
        return f"<no {name}>"


def _safe_text(value: object) -> str:
    try:
        return text_of(value, LONGEST_MESSAGE)
    except KeyboardInterrupt:  # Raised by the object's own `__str__`: interrupts reach the main thread only.
        return f"<{kind_of(value)} without a text>"


class OperatorError(CoilClawError):
    """The environment is not as it must be; the message says what to change."""

    code: str = "operator"


class EvidenceUnavailable(CoilClawError):
    """The receipt log cannot be written. No tool runs until it can."""

    code: str = "evidence_unavailable"
