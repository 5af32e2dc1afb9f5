"""Running a judged script with bash."""

from __future__ import annotations

import shutil
import tempfile

from coilclaw.integrations.files.paths import open_folder
from coilclaw.integrations.shell.processes import PATH, Ended, Order, supervised
from coilclaw.integrations.shell.script import Script, rendered
from coilclaw.sdk import ToolContext, ToolFailure

__all__ = ["execute"]

_MOST_OUTPUT = 256 * 1024


def execute(
    ctx: ToolContext, script: Script, parts: tuple[str, ...], seconds: float, *, namespace: bool = True
) -> Ended:
    """Run the script in a folder of the workspace, in an environment that is almost empty."""
    shell = shutil.which("bash", path=PATH)
    if shell is None:
        raise ToolFailure(
            "bash is not installed, and commands are judged by its grammar",
            code="no_shell",
            hint="a person installs it",
        )
    workspace = str(ctx.workspace.resolve())
    with tempfile.TemporaryDirectory(prefix="coilclaw-shell-") as temporary, open_folder(ctx, parts) as folder:
        order = Order(
            command=(shell, "--noprofile", "--norc", "-c", rendered(script)),
            seconds=seconds,
            workspace=workspace,
            temporary=temporary,
            environment={"PATH": PATH, "HOME": workspace, "LANG": "C.UTF-8", "TMPDIR": temporary},
            programs=None if ctx.bounds.autonomy == "full" else ctx.bounds.shell_allow,
            namespace=namespace,
        )
        return supervised(ctx, order, folder, _MOST_OUTPUT)
