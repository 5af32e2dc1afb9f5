"""`coilclaw sop`: the SOPs of the workspace, and their runs."""

from __future__ import annotations

from typing import Final

import click

from coilclaw.cli.lazy import LazyGroup

__all__ = ["sop"]

_COMMANDS: Final = {
    "list": ("coilclaw.cli.sop.listing:list_sops", "List the SOPs of the workspace, and their latest runs."),
    "validate": ("coilclaw.cli.sop.listing:validate", "Check SOPs, and report every problem at once."),
    "run": ("coilclaw.cli.sop.running:run_sop", "Run a SOP, step by step."),
    "resume": ("coilclaw.cli.sop.running:resume_sop", "Resume a suspended run, or one whose process ended."),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def sop() -> None:
    """List, check, run and resume the SOPs of the workspace.

    \b
    Example:
      coilclaw sop validate daily-check
      coilclaw sop run daily-check
      coilclaw sop resume sop-1a1e265a6b2e813fd94
    """
