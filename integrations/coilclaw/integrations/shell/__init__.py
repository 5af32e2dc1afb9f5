"""Programs in the workspace, started without a shell: judged, confined while they run, gone when they end.

`grammar.py` reads the command, `verdict.py` says whether it may run, and `supervisor.py` starts exactly what was
judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from coilclaw.integrations.files.paths import forbidden, parts_of
from coilclaw.sdk import LONGEST_RUNS, Forbid, Judged, Risk, ToolContext, ToolFailure, define_tool

if TYPE_CHECKING:
    from coilclaw.integrations.shell.verdict import Verdict

__all__ = ["run"]


class Outcome(BaseModel, defer_build=True):
    exit_code: int | None
    """None when the command was ended before it was done."""
    stdout: str
    stderr: str
    truncated: bool
    timed_out: bool


def _judged(command: str | None, argv: list[str] | None, cwd: str, ctx: ToolContext) -> Verdict | Forbid:
    from coilclaw.integrations.shell.grammar import Refused, from_argv, parsed
    from coilclaw.integrations.shell.verdict import verdict

    if refusal := forbidden(cwd, ctx):
        return refusal
    if (command is None) == (argv is None):
        return Forbid(reason="give either command, a text, or argv, a list of words, and not both")
    try:
        line = parsed(command) if command is not None else from_argv(tuple(argv or ()))
        return verdict(line, "/".join(parts_of(cwd)), ctx.workspace, ctx.bounds)
    except Refused as reason:
        return Forbid(reason=str(reason))


def _classified(input: Any, ctx: ToolContext) -> Risk | Judged | Forbid:
    if input.seconds is not None and input.seconds > ctx.bounds.shell_seconds:
        return Forbid(reason=f"seconds may be at most {ctx.bounds.shell_seconds:g} (shell_seconds)")
    judged = _judged(input.command, input.argv, input.cwd, ctx)
    if isinstance(judged, Forbid):
        return judged
    if not judged.line.has_patterns:
        return judged.risk  # The arguments say all of it.
    runs = judged.line.text
    if len(runs) > LONGEST_RUNS:
        return Forbid(reason="the patterns stand for more names than a person could be shown; use fewer at a time")
    return Judged(risk=judged.risk, runs=runs)


@define_tool(
    id="shell.run",
    risk="write",
    classify=_classified,
    aliases=["shell"],
    examples=[{"command": "grep -rn 'def main' . | head -20"}, {"argv": ["ls", "-l"], "cwd": "reports"}],
    summary="Ran {command}",
)
def run(
    ctx: ToolContext,
    command: str | None = None,
    argv: list[str] | None = None,
    cwd: str = ".",
    seconds: Annotated[float, Field(gt=0)] | None = None,
) -> Outcome:
    """Run programs in the workspace, or in a folder of it. There is no shell; give `command` or `argv`.

    `command` knows words with '…', "…" and \\, patterns (* ? [a-z]), pipes, && || ; !, < > >> 2> 2>&1, and one
    leading `cd folder &&`. No variables, $(…), loops, braces, ~, here-documents or &: use Python and f-strings.
    `argv` is one program with its arguments as they are. Paths must stay inside the workspace, without `..`.
    Only programs on the operator's allowlist start.
    """
    from coilclaw.integrations.shell.execution import execute

    # Judged again: a person may have taken minutes to answer, and a link may be where a file was. What is started
    # is what this judgement looked at.
    judged = _judged(command, argv, cwd, ctx)
    if isinstance(judged, Forbid):
        raise ToolFailure(judged.reason, code="command_refused")
    if ctx.judged is not None and judged.line.text != ctx.judged:
        raise ToolFailure(
            "not run: the patterns stand for other files than when this call was decided",
            code="command_changed",
            hint="call it again, or name the files",
        )
    ended = execute(ctx, judged.line, parts_of(cwd), min(seconds or ctx.bounds.shell_seconds, ctx.bounds.shell_seconds))
    if ended.timed_out or ended.exit_code != 0:
        ctx.report_failure("it was ended after its time" if ended.timed_out else f"exit status {ended.exit_code}")
    return Outcome(
        exit_code=ended.exit_code,
        stdout=ended.stdout.decode("utf-8", "replace"),
        stderr=ended.stderr.decode("utf-8", "replace"),
        truncated=ended.truncated,
        timed_out=ended.timed_out,
    )
