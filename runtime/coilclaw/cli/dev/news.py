"""Events from what changed: in the tools, by comparing registries, and in the receipts, by reading on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from coilclaw.bridge import Registry
from coilclaw.cli.dev.events import Called, Event, Failed, HeldBack, Problem, Ready, Reloaded, Removed
from coilclaw.receipts import ReceiptLog
from coilclaw.sdk import CoilClawError, Diagnostic, Quarantined, Receipt, Tool
from coilclaw.workspace_tools import Change

__all__ = ["CallNews", "ToolNews", "failure_of"]

_OUTCOMES: Final = {
    "tool.call.succeeded": "succeeded",
    "tool.call.failed": "failed",
    "tool.call.denied": "denied",
}
_MOST_RECEIPTS: Final = 2000
_MOST_UNDER_WAY: Final = 10_000
_FIRST_LOOK: Final = 200


class ToolNews:
    """Tells one registry from the next."""

    def __init__(self, workspace: Path, registry: Registry) -> None:
        self._workspace = workspace
        self._prefix = f"{workspace / 'tools'}/"
        self._known = registry.diagnostics

    def own(self, registry: Registry) -> list[Tool]:
        """The tools that are files of this workspace."""
        return [tool for tool in registry.tools.values() if tool.file.startswith(self._prefix)]

    def opening(self, registry: Registry) -> list[Event]:
        """What there is to say about the tools as they are."""
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
        return [*failed, *map(_held_back, registry.quarantined), ready]

    def of(self, change: Change, registry: Registry) -> list[Event]:
        """What a change brought. A file that failed before and fails in the same way is told again."""
        took = change.seconds * 1000
        by_file: dict[str, list[str]] = {}
        for tool in registry.tools.values():
            by_file.setdefault(tool.file, []).append(tool.id)
        events: list[Event] = [
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
        events += [_held_back(each) for each in registry.quarantined if each.name in held]
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


def _held_back(held: Quarantined) -> HeldBack:
    return HeldBack(file=held.name, reason=held.reason, command=held.command)


class CallNews:
    """Reads on in the log where it stopped the last time, whoever wrote there meanwhile."""

    def __init__(self, log: ReceiptLog) -> None:
        self._log = log
        self._seen = 0
        self._begun: dict[str, datetime] = {}
        self._trouble: str | None = None

    def recent(self) -> Sequence[Event]:
        """Calls that ended before; later calls of `new` begin after them."""
        return self._guarded(lambda: self._read(self._log.latest(_FIRST_LOOK)))

    def new(self) -> Sequence[Event]:
        """Calls that ended since the last look. Costs one row if nothing happened."""
        return self._guarded(self._since)

    def _since(self) -> list[Event]:
        head = self._log.latest(1)
        missing = head[0].seq - self._seen if head else 0
        if missing <= 0:
            return []
        receipts = self._log.latest(min(missing, _MOST_RECEIPTS))
        events = self._read(receipts)
        if missing > _MOST_RECEIPTS:
            skipped = f"{missing - _MOST_RECEIPTS} receipts came too fast to be shown"
            events.insert(0, Problem(message=skipped, hint="coilclaw receipt export has all of them"))
        return events

    def _guarded(self, read: Callable[[], Sequence[Event]]) -> Sequence[Event]:
        try:
            events = read()
        except (CoilClawError, ValueError) as error:
            # Told once, not at every look.
            known, self._trouble = self._trouble, str(error)
            hint = error.hint if isinstance(error, CoilClawError) else "coilclaw receipt verify says which one"
            return [] if known == str(error) else [Problem(message=f"the receipts cannot be read: {error}", hint=hint)]
        self._trouble = None
        return events

    def _read(self, receipts: Sequence[Receipt]) -> list[Event]:
        events: list[Event] = []
        for receipt in receipts:
            if receipt.seq <= self._seen:
                continue
            self._seen = receipt.seq
            call = receipt.tool_call_id
            if call is None:
                continue
            if receipt.type == "tool.call.started":
                if len(self._begun) >= _MOST_UNDER_WAY:  # Calls of processes that died never end.
                    self._begun.pop(next(iter(self._begun)))
                self._begun[call] = receipt.ts
            elif receipt.type in _OUTCOMES:
                events.append(self._called(receipt, self._begun.pop(call, None)))
        return events

    def _called(self, receipt: Receipt, begun: datetime | None) -> Called:
        took = max(0.0, (receipt.ts - begun).total_seconds() * 1000) if begun else None
        return Called(
            when=receipt.ts.astimezone(),
            tool=receipt.tool or "",
            status=_OUTCOMES[receipt.type],
            milliseconds=round(took, 3) if took is not None else None,
            code=_text(receipt, "code"),
            message=_text(receipt, "message"),
            run_id=receipt.run_id,
            receipt=receipt.id,
        )


def _text(receipt: Receipt, name: str) -> str | None:
    value = receipt.payload.get(name)
    return str(value) if value is not None else None
