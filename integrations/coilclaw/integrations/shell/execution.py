"""Running a judged command."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from coilclaw.integrations.files.paths import open_folder, parts_of
from coilclaw.integrations.shell.grammar import CommandLine
from coilclaw.integrations.shell.processes import PATH, Ended, Order, supervised
from coilclaw.integrations.shell.programs import ALWAYS_ALLOWED
from coilclaw.sdk import ToolContext

__all__ = ["execute"]

_MOST_OUTPUT = 256 * 1024


def execute(
    ctx: ToolContext, line: CommandLine, parts: tuple[str, ...], seconds: float, *, namespace: bool = True
) -> Ended:
    """Run exactly this line in a folder of the workspace, in an environment that is almost empty."""
    workspace = os.path.realpath(ctx.workspace)
    parts = (*parts, *parts_of(line.folder))
    with tempfile.TemporaryDirectory(prefix="coilclaw-shell-") as temporary, open_folder(ctx, parts) as folder:
        place = "/".join((workspace, *parts))
        order = Order(
            pipelines=_plain(line),
            seconds=seconds,
            workspace=workspace,
            temporary=temporary,
            environment={"PATH": PATH, "HOME": workspace, "PWD": place, "LANG": "C.UTF-8", "TMPDIR": temporary},
            programs=None if ctx.bounds.autonomy == "full" else (*ctx.bounds.shell_allow, *ALWAYS_ALLOWED),
            hidden=_hidden(ctx, workspace),
            namespace=namespace,
        )
        return supervised(ctx, order, folder, _MOST_OUTPUT)


def _hidden(ctx: ToolContext, workspace: str) -> tuple[str, ...]:
    real = (os.path.realpath(path) for path in ctx.bounds.forbidden_paths)
    return tuple(path for path in real if path.startswith(workspace + "/"))


def _plain(line: CommandLine) -> tuple[dict[str, Any], ...]:
    """The line as the supervisor reads it: without what only the verdict needed."""
    return tuple(
        {
            "joined": pipeline.joined,
            "negated": pipeline.negated,
            "stages": [
                {
                    "argv": stage.argv,
                    "redirections": [(each.descriptor, each.operator, each.target) for each in stage.redirections],
                }
                for stage in pipeline.stages
            ],
        }
        for pipeline in line.pipelines
    )
