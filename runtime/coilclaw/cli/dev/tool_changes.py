"""Events about tool files: how one registry differs from the one before."""

from __future__ import annotations

from pathlib import Path

from coilclaw.bridge import Registry
from coilclaw.cli.dev.events import DevEvent, Failed, QuarantinedFile, Ready, Reloaded, Removed
from coilclaw.sdk import Diagnostic, Quarantined, Tool
from coilclaw.workspace_tools import Change

__all__ = ["ToolChanges", "failure_of"]


class ToolChanges:
    """Compares each registry with the one before."""

    def __init__(self, workspace: Path, registry: Registry) -> None:
        self._workspace = workspace
        self._prefix = f"{workspace / 'tools'}/"
        self._known = registry.diagnostics

    def own(self, registry: Registry) -> list[Tool]:
        """The tools that are files of this workspace."""
        return [tool for tool in registry.tools.values() if tool.file.startswith(self._prefix)]

    def opening(self, registry: Registry) -> list[DevEvent]:
        """The events of the tools as they are at the beginning."""
        own = len(self.own(registry))
        hint = None
        if not own and not registry.diagnostics and not registry.quarantined:
            hint = "no tools in this workspace yet; make one: coilclaw tool new example.hello.say"
        ready = Ready(
            workspace=str(self._workspace),
            tools=len(registry.tools),
            workspace_tools=own,
            errors=len(registry.diagnostics),
            quarantined=len(registry.quarantined),
            hint=hint,
        )
        failed = [failure_of(each, self._workspace) for each in registry.diagnostics]
        return [*failed, *map(_quarantined, registry.quarantined), ready]

    def of(self, change: Change, registry: Registry) -> list[DevEvent]:
        """The events of a change. A file that failed before and fails in the same way is mentioned again."""
        took = change.seconds * 1000
        by_file: dict[str, list[str]] = {}
        for tool in registry.tools.values():
            by_file.setdefault(tool.file, []).append(tool.id)
        events: list[DevEvent] = [
            Reloaded(
                file=f"tools/{source.name}",
                tools=tuple(by_file.get(source.path, ())),
                milliseconds=round(took, 3),
                generation=registry.generation,
            )
            for source in change.loaded
        ]
        events += [Removed(file=f"tools/{name}") for name in change.removed]
        again = {f"{self._prefix}{name}" for name in change.failed}
        before, self._known = set(self._known), registry.diagnostics
        problems = [each for each in registry.diagnostics if each not in before or each.file in again]
        if change.failed and not problems:
            problems = list(registry.diagnostics)  # The mistake is in a file that this one imports.
        events += [failure_of(each, self._workspace, round(took, 3)) for each in problems]
        held = {f"tools/{name}" for name in change.quarantined}
        events += [_quarantined(each) for each in registry.quarantined if each.name in held]
        return events


def failure_of(problem: Diagnostic, workspace: Path, milliseconds: float | None = None) -> Failed:
    """A diagnostic as an event, with the line it is about."""
    excerpt = problem.excerpt
    if excerpt is None and problem.line is not None:
        from coilclaw.workspace_tools import excerpts

        excerpt = excerpts.line_of(excerpts.source_text(problem.file), problem.line)
    return Failed(
        file=problem.file.removeprefix(f"{workspace}/"),
        line=problem.line,
        column=problem.column,
        message=problem.message,
        hint=problem.hint,
        excerpt=excerpt,
        milliseconds=milliseconds,
    )


def _quarantined(held: Quarantined) -> QuarantinedFile:
    return QuarantinedFile(file=held.name, reason=held.reason, command=held.command)
