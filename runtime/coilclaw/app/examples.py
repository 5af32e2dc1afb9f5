"""Run the examples of contracts through the bridge, or only check that they would be accepted."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from coilclaw.sdk import Decision, Forbid, Risk

if TYPE_CHECKING:
    from coilclaw.app.app import CoilClaw
    from coilclaw.bridge import Caller
    from coilclaw.sandbox import Deadline
    from coilclaw.sdk import Tool

__all__ = ["Trial", "try_example"]

_Status: TypeAlias = Literal["passed", "checked", "failed", "cancelled"]
_Outcome: TypeAlias = tuple[_Status, str, str | None]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One example and what became of it. `checked` means that it would be taken, and was not called."""

    tool: str
    example: dict[str, Any]
    status: _Status
    outcome: str
    hint: str | None = None
    milliseconds: float = 0.0


def try_example(
    claw: CoilClaw, tool: Tool, example: Mapping[str, Any], *, writes: bool, caller: Caller, deadline: Deadline
) -> Trial:
    """Call a tool that reads with an example of its contract; one that writes only with `writes`."""
    began = time.perf_counter()
    if tool.risk is Risk.READ or writes:
        status, outcome, hint = _called(claw, tool, example, writes=writes, caller=caller, deadline=deadline)
    else:
        status, outcome, hint = _checked(claw, tool, example)
    return Trial(
        tool=tool.id,
        example=dict(example),
        status=status,
        outcome=outcome,
        hint=hint,
        milliseconds=round((time.perf_counter() - began) * 1000, 3),
    )


def _called(
    claw: CoilClaw, tool: Tool, example: Mapping[str, Any], *, writes: bool, caller: Caller, deadline: Deadline
) -> _Outcome:
    done = claw.call(tool.id, example, caller=caller, deadline=deadline)
    if done.status == "cancelled":
        return "cancelled", "the run was cancelled", None
    error = done.error
    if error is None:
        return "passed", "fits its output type", None
    if error.code == "approval_required" and not writes:
        return "checked", "valid; a person would be asked, so it was not called", None
    return "failed", f"{error.code}: {error.message}", error.hint


def _checked(claw: CoilClaw, tool: Tool, example: Mapping[str, Any]) -> _Outcome:
    """What would be decided about a call that is not made."""
    try:
        input = tool.input.__pydantic_validator__.validate_json(to_json(dict(example)), strict=True, extra="forbid")
    except (ValidationError, PydanticSerializationError, ValueError, TypeError) as error:
        return "failed", f"invalid_input: {' '.join(str(error).split())}", "change the example, or the parameters"
    opinion = claw.tools.classified(tool, input)
    verdict = claw.tools.policy.decide(tool, opinion)
    if isinstance(opinion, Forbid):
        return "failed", f"denied: {verdict.reason}", "an example should be a call that is allowed"
    if verdict.decision is Decision.DENY:
        return "checked", f"valid; denied here ({verdict.reason})", None
    return "checked", f"valid; policy: {verdict.decision.value}", None
