"""Shell commands in the workspace: judged by their grammar, confined while they run, gone when they end.

`verdict.py` says what is allowed and why. What is run is not the text that came in but what was judged of it,
written out again (`script.py`). `supervisor.py` is the process around the shell.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from coilclaw.integrations.files.paths import forbidden, parts_of
from coilclaw.sdk import Forbid, Risk, ToolContext, ToolFailure, define_tool

__all__ = ["run"]


class Outcome(BaseModel, defer_build=True):
    exit_code: int | None
    """None when the command was ended before it was done."""
    stdout: str
    stderr: str
    truncated: bool
    timed_out: bool


def _judged(input: Any, ctx: ToolContext) -> Risk | Forbid:
    from coilclaw.integrations.shell.verdict import verdict

    if refusal := forbidden(input.cwd, ctx):
        return refusal
    if input.seconds is not None and input.seconds > ctx.bounds.shell_seconds:
        return Forbid(reason=f"seconds may be at most {ctx.bounds.shell_seconds:g} (shell_seconds)")
    return verdict(input.command, ctx.workspace.joinpath(*parts_of(input.cwd)), ctx.workspace, ctx.bounds)


@define_tool(
    id="shell.run",
    risk="write",
    classify=_judged,
    aliases=["shell"],
    examples=[{"command": "grep -rn 'def main' . | head -20"}, {"command": "ls -l | wc -l", "cwd": "reports"}],
    summary="Ran {command}",
)
def run(
    ctx: ToolContext, command: str, cwd: str = ".", seconds: Annotated[float, Field(gt=0)] | None = None
) -> Outcome:
    """Run a bash command in the workspace, or in a folder of it.

    Paths must be relative and stay inside. Only programs on the operator's allowlist start. Programs and
    redirection targets must be written out; functions, eval and `[[ ]]` are refused.
    """
    from coilclaw.integrations.shell.execution import execute
    from coilclaw.integrations.shell.parsing import parsed
    from coilclaw.integrations.shell.verdict import verdict

    # Judged again: a person may have taken minutes to answer, and a link may be where a file was.
    opinion = verdict(command, ctx.workspace.joinpath(*parts_of(cwd)), ctx.workspace, ctx.bounds)
    if isinstance(opinion, Forbid):
        raise ToolFailure(opinion.reason, code="command_refused")
    script = parsed(command)
    ended = execute(ctx, script, parts_of(cwd), min(seconds or ctx.bounds.shell_seconds, ctx.bounds.shell_seconds))
    return Outcome(
        exit_code=ended.exit_code,
        stdout=ended.stdout.decode("utf-8", "replace"),
        stderr=ended.stderr.decode("utf-8", "replace"),
        truncated=ended.truncated,
        timed_out=ended.timed_out,
    )
