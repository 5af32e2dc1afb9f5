"""What an engine makes of a sandbox's own account of its end. Every word of it is data, and may be a lie."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable
from typing import Any

from coilclaw.sandbox.engine import Snippet
from coilclaw.sandbox.errors import EngineUnavailable
from coilclaw.sandbox.limits import Limits
from coilclaw.sandbox.outcomes import (
    Completed,
    Crashed,
    Failed,
    Outcome,
    OutOfMemory,
    OutputExceeded,
    Rejected,
    RunEnded,
    SnippetError,
)
from coilclaw.sdk import EvidenceUnavailable

__all__ = ["concluded", "reported_outcome", "unusable"]

_logger = logging.getLogger(__name__)


def unusable(snippet: Snippet, limits: Limits) -> SnippetError | None:
    """Why this source is not even given to a sandbox."""
    try:
        size = len(snippet.source.encode())
    except UnicodeEncodeError:
        return SnippetError(type="SyntaxError", message="the source is not valid Unicode text")
    if size > limits.source_bytes:
        return SnippetError(
            type="SourceTooLarge", message=f"the source has {size} bytes; at most {limits.source_bytes} are allowed"
        )
    return None


def concluded(run: Callable[[], Outcome]) -> Outcome:
    """The outcome of a run, however it ends. An error of the host's own code is a crash, not an exception."""
    try:
        return run()
    except RunEnded as ended:
        return ended.outcome
    except (EvidenceUnavailable, EngineUnavailable):
        raise  # No snippet can end this way: whoever operates the runtime must react.
    except Exception as error:
        _logger.exception("a host function failed")
        return Crashed(reason=f"a host function failed ({type(error).__name__})", hint="this is a bug in CoilClaw")


def reported_outcome(answer: str, limits: Limits) -> Outcome:
    """The outcome that a sandbox reports. Anything unexpected is a crash."""
    if len(answer.encode("utf-8", "replace")) > limits.output_bytes:
        return OutputExceeded(output_bytes=limits.output_bytes)
    try:
        fields = json.loads(answer, parse_constant=_not_a_number, parse_float=_finite)
        match fields["status"]:
            case "completed":
                return Completed(value=fields["value"])
            case "failed":
                return Failed(error=_error(fields["error"]))
            case "rejected":
                problems = tuple(_error(problem) for problem in fields.get("problems", ()))
                return Rejected(error=_error(fields["error"]), problems=problems)
            case "out_of_memory":
                return OutOfMemory(memory_bytes=limits.memory_bytes)
            case "output_exceeded":
                return OutputExceeded(output_bytes=limits.output_bytes)
            case status:
                return Crashed(reason=f"the guest answered with an unknown status {status!r:.40}")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Crashed(reason="the guest's answer is not an outcome")


def _not_a_number(text: str) -> float:
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _not_a_number(text)


def _error(fields: dict[str, Any]) -> SnippetError:
    line = fields.get("line")
    return SnippetError(
        type=str(fields["type"]),
        message=str(fields["message"]),
        line=line if isinstance(line, int) else None,
        traceback=str(fields["traceback"]) if fields.get("traceback") else None,
        hint=str(fields["hint"]) if fields.get("hint") else None,
    )
