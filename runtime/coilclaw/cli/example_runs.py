"""Trying the examples of contracts, on the way every call takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from coilclaw.bridge import Registry
from coilclaw.cli.approval import approver_for
from coilclaw.cli.composition import Parts, make_bounds, make_policy, open_parts, run_limits
from coilclaw.config import Settings
from coilclaw.net import GuardedNetwork
from coilclaw.policy import Answer, NobodyToAsk, Question, classify
from coilclaw.sandbox import Deadline
from coilclaw.sdk import Decision, Forbid, Risk, Tool, ToolContext

__all__ = ["Trial", "try_examples"]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One example and what became of it. `checked` means that it would be taken, and was not called."""

    tool: str
    example: dict[str, Any]
    status: Literal["passed", "checked", "failed"]
    outcome: str
    hint: str | None = None
    milliseconds: float = 0.0


def try_examples(settings: Settings, names: Sequence[str], *, writes: bool, yes: bool) -> Iterator[Trial]:
    """Every example of the tools meant: those named, or all of the workspace."""
    asking = _Asking(yes, settings.config.workspace_dir)
    with open_parts(settings, asking if writes else NobodyToAsk(), may_wait=False) as parts:
        for tool in _meant(parts.registry, names, settings.config.workspace_dir):
            for example in tool.examples:
                began = time.perf_counter()
                if tool.risk is Risk.READ or writes:
                    status, outcome, hint = _called(parts, tool, dict(example), asking, writes=writes)
                else:
                    status, outcome, hint = _checked(settings, tool, dict(example))
                yield Trial(
                    tool=tool.id,
                    example=dict(example),
                    status=status,
                    outcome=outcome,
                    hint=hint,
                    milliseconds=round((time.perf_counter() - began) * 1000, 3),
                )


class _Asking:
    """Puts each question for as long as the call it is about may take."""

    def __init__(self, yes: bool, workspace: Path) -> None:
        self._yes = yes
        self._workspace = workspace
        self.deadline = Deadline(0)

    def decide(self, question: Question) -> Answer:
        return approver_for(self._yes, self.deadline, workspace=self._workspace).decide(question)


_Outcome = tuple[Literal["passed", "checked", "failed"], str, str | None]


def _meant(registry: Registry, names: Sequence[str], workspace: Path) -> list[Tool]:
    if not names:
        return [tool for tool in registry.tools.values() if Path(tool.file).is_relative_to(workspace / "tools")]
    meant: dict[str, Tool] = {}
    for name in names:
        exact = registry.resolve(name)
        found = [exact] if exact else [each for each in registry.tools.values() if each.id.startswith(f"{name}.")]
        if not found:
            raise click.UsageError(f"there is no tool {name!r}; {registry.suggestion(name)}")
        meant.update((each.id, each) for each in found)
    return list(meant.values())


def _called(parts: Parts, tool: Tool, example: dict[str, Any], asking: _Asking, *, writes: bool) -> _Outcome:
    limits = run_limits(parts.settings.config)
    asking.deadline = Deadline(limits.seconds)
    with redirect_stdout(sys.stderr):  # What a tool prints is not the report.
        result, report = parts.runtime.call(tool.id, example, parts.registry, limits, deadline=Deadline(limits.seconds))
    if report.status == "cancelled":
        raise KeyboardInterrupt  # The person wants to stop, not to go on with the next example.
    error = result.error
    if error is None:
        return "passed", "fits its output type", None
    if error.code == "approval_required" and not writes:
        return "checked", "valid; a person would be asked, so it was not called", None
    return "failed", f"{error.code}: {error.message}", error.hint


def _checked(settings: Settings, tool: Tool, example: dict[str, Any]) -> _Outcome:
    """What would be decided about a call that is not made."""
    config = settings.config
    try:
        input = tool.input.__pydantic_validator__.validate_json(to_json(example), strict=True, extra="forbid")
    except (ValidationError, PydanticSerializationError, ValueError, TypeError) as error:
        return "failed", f"invalid_input: {' '.join(str(error).split())}", "change the example, or the parameters"
    context = ToolContext(
        workspace=config.workspace_dir.resolve(),
        tool_id=tool.id,
        hosts=tool.hosts,
        bounds=make_bounds(settings),
        settings=config.integrations.settings_of(tool.integration),
        network=GuardedNetwork,
    )
    with redirect_stdout(sys.stderr):
        opinion = classify(tool, input, context)
    verdict = make_policy(config).decide(tool, opinion)
    if isinstance(opinion, Forbid):
        return "failed", f"denied: {verdict.reason}", "an example should be a call that is allowed"
    if verdict.decision is Decision.DENY:
        return "checked", f"valid; denied here ({verdict.reason})", None
    return "checked", f"valid; policy: {verdict.decision.value}", None
