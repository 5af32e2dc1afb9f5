"""What an engine makes of a sandbox's own account of its end. Every word of it is data, and may be a lie."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from coilclaw.sandbox.displayed import finite_json
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
    RunWarning,
    SnippetError,
)
from coilclaw.sdk import EvidenceUnavailable
from coilclaw.sdk.legible import text_of

__all__ = ["concluded", "reported_outcome", "unusable"]

_logger = logging.getLogger(__name__)

_MOST_WARNINGS: Final = 20
_LONGEST_WARNING: Final = 500
_DEEPEST: Final = 200
"""Levels of a value: as many as pydantic reads from JSON, besides the one around it."""
_KIND: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")


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
        fields = finite_json(answer)
        if not _is_deep(fields):
            return replace(_outcome(fields, limits), warnings=_warnings(fields.get("warnings")))
    except RecursionError:
        pass
    except (ValueError, KeyError, TypeError, AttributeError):
        return Crashed(reason="the guest's answer is not an outcome")
    message = f"the value of the snippet, or what it raised, is nested too deep to be read: at most {_DEEPEST} levels"
    return Failed(error=SnippetError(type="ValueTooDeep", message=message, hint="give back something flatter"))


def _is_deep(fields: Any) -> bool:
    """Whether something in the answer has more levels than anybody reads, however deep the stack is here."""
    level: list[Any] = [fields]
    for _ in range(_DEEPEST + 1):
        within = (each.values() if type(each) is dict else each for each in level if type(each) in (dict, list))
        level = [item for items in within for item in items if type(item) is dict or type(item) is list]
        if not level:
            return False
    return True


def _outcome(fields: dict[str, Any], limits: Limits) -> Outcome:
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


def _warnings(found: Any) -> tuple[RunWarning, ...]:
    """The warnings of a guest, bounded in number and size. They are advice: what is none is left out."""
    told = found[:_MOST_WARNINGS] if isinstance(found, list) else []
    return tuple(_warning(each) for each in told if isinstance(each, dict) and type(each.get("message")) is str)


def _warning(fields: dict[str, Any]) -> RunWarning:
    kind, line = fields.get("kind"), fields.get("line")
    return RunWarning(
        kind=kind if isinstance(kind, str) and _KIND.fullmatch(kind) else "other",
        message=text_of(fields["message"], _LONGEST_WARNING),
        line=_line(line),
    )


def _line(number: Any) -> int | None:
    return number if type(number) is int and 0 < number < 2**31 else None


def _error(fields: dict[str, Any]) -> SnippetError:
    return SnippetError(
        type=str(fields["type"]),
        message=str(fields["message"]),
        line=_line(fields.get("line")),
        traceback=str(fields["traceback"]) if fields.get("traceback") else None,
        hint=str(fields["hint"]) if fields.get("hint") else None,
    )
