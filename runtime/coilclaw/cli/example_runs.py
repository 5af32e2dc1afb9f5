"""The examples of `coilclaw tool test`: which are meant, and who is asked about them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coilclaw.app import Trial, try_example
from coilclaw.cli.approver import approver_for
from coilclaw.cli.opening import open_app
from coilclaw.cli.waiting import command_caller, warn_if_stopped
from coilclaw.config import Settings
from coilclaw.policy import NobodyToAsk
from coilclaw.sandbox import Deadline
from coilclaw.sdk import Tool

if TYPE_CHECKING:
    from coilclaw.bridge import Registry

__all__ = ["try_examples"]


def try_examples(settings: Settings, names: Sequence[str], *, writes: bool, yes: bool) -> Iterator[Trial]:
    """Every example of the tools meant: those named, or all of the workspace."""
    place = settings.config.workspace_dir
    with open_app(settings) as claw:
        warn_if_stopped(claw)
        for tool in _meant(claw.tools.registry, names, place):
            for example in tool.examples:
                deadline = Deadline(settings.config.limits.seconds)
                approver = approver_for(yes, deadline, workspace=place) if writes else NobodyToAsk()
                caller = command_caller(approver=approver, suspends=False)
                with redirect_stdout(sys.stderr):  # What a tool prints is not the report.
                    trial = try_example(claw, tool, example, writes=writes, caller=caller, deadline=deadline)
                if trial.status == "cancelled":
                    raise KeyboardInterrupt  # The person wants to stop, not to go on with the next example.
                yield trial


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
