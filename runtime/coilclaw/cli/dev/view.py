"""The live view as lines of text: what is on it, and what gives way when there is too little room.

Whatever comes from files, tools, receipts or the script goes through `coilclaw.sdk.legible`, and into `Text` objects,
which know no markup. So it stays one line, and it cannot control the terminal.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from coilclaw.bridge import Registry
from coilclaw.cli.dev.events import (
    Called,
    DevEvent,
    Failed,
    Note,
    Problem,
    QuarantinedFile,
    Reloaded,
    Removed,
    RunFinished,
    RunOutput,
    RunStarted,
    further_hint,
    words_of,
)
from coilclaw.cli.dev.tool_changes import ToolChanges, failure_of
from coilclaw.cli.terminal import counted
from coilclaw.policy import Policy
from coilclaw.sdk import Tool
from coilclaw.sdk.legible import as_name, one_line, visible

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["Picture", "view"]

_KEPT: Final = 200
_LONGEST_CELL: Final = 400
_MOST_VALUE_LINES: Final = 40
_MOST_OUTPUT_LINES: Final = 20
_MOST_ACTIVITY_LINES: Final = 20
_ALARM: Final = "bold red"
_COLOURS: Final = {
    "allow": "green", "ask": "yellow", "deny": "red", "read": "green", "write": "yellow", "destructive": "red",
    "succeeded": "green", "failed": "red", "denied": "yellow", "pending": "cyan", "completed": "green",
    "running": "cyan", "unknown": "yellow",
}  # fmt: skip


_Any = TypeVar("_Any")


@dataclass(kw_only=True)
class Picture:
    """What the view is made from; events change it."""

    workspace: Path
    policy: Policy
    changes: ToolChanges
    registry: Registry = field(default_factory=lambda: Registry(generation=0, tools={}))
    own: Sequence[Tool] = ()
    errors: Sequence[Failed] = ()
    reloads: deque[DevEvent] = field(default_factory=lambda: deque(maxlen=_KEPT))
    calls: deque[Called] = field(default_factory=lambda: deque(maxlen=_KEPT))
    notes: deque[DevEvent] = field(default_factory=lambda: deque(maxlen=_KEPT))
    output: deque[RunOutput] = field(default_factory=lambda: deque(maxlen=_KEPT))
    started: RunStarted | None = None
    finished: RunFinished | None = None
    value: Sequence[str] = ()
    runs: int = 0

    def use(self, registry: Registry) -> None:
        """From now on these are the tools."""
        self.registry = registry
        self.own = self.changes.own(registry)
        self.errors = [failure_of(each, self.workspace) for each in registry.diagnostics]

    def add(self, event: DevEvent) -> None:
        match event:
            case Reloaded() | Failed() | Removed() | QuarantinedFile():
                self.reloads.append(event)
            case Called():
                self.calls.append(event)
            case Note() | Problem():
                self.notes.append(event)
            case RunStarted():
                self.started, self.finished = event, None
                self.runs += 1
                self.output.clear()
            case RunOutput():
                self.output.append(event)
            case RunFinished(value=value):
                self.finished = event
                text = json.dumps(value, indent=2, ensure_ascii=False) if value is not None else ""
                self.value = text.split("\n")[:_MOST_VALUE_LINES] if text else ()


@dataclass(frozen=True, kw_only=True)
class _Section:
    """A title and lines. `least` of them are shown before others get more; `rest` names what is left out.

    `beyond` counts what was not even made into lines.
    """

    title: str
    lines: Sequence[Text]
    least: int
    rest: str = "lines"
    beyond: int = 0
    style: str = "bold cyan"

    def shown(self, room: int) -> list[Text]:
        """The section in at most `room` lines, with its title."""
        if room < 2:
            return []
        lines = list(self.lines)
        if len(lines) > room - 1 or self.beyond:
            kept = min(room - 2, len(lines))
            lines = [*lines[:kept], _text(f"  … {len(lines) - kept + self.beyond} more {self.rest}", "dim")]
        return [_text(self.title, self.style), *lines]


def view(picture: Picture, width: int, height: int) -> list[Text]:
    """At most `height` lines for a terminal of this width."""
    sections = [each for each in _sections(picture, width, height) if each.lines]
    room = _shares(sections, height - 2)
    body = [line for section, share in zip(sections, room, strict=True) for line in section.shown(share)]
    body = body[: max(0, height - 2)]
    blank = [_text("")] * max(0, height - 2 - len(body))
    footing = _text(f"Ctrl-C ends this.  {_cell(str(picture.workspace))}", "dim")
    return [_heading(picture), *body, *blank, footing][:height]


def _shares(sections: Sequence[_Section], room: int) -> list[int]:
    """Lines for each section: the least it needs in the order of importance, then more in the same order."""
    shares = [0] * len(sections)
    for wanted in ([1 + min(each.least, len(each.lines)) for each in sections], [1 + len(s.lines) for s in sections]):
        for number, lines in enumerate(wanted):
            more = max(0, min(lines - shares[number], room))
            shares[number] += more
            room -= more
    return shares


def _sections(picture: Picture, width: int, height: int) -> list[_Section]:
    registry = picture.registry
    others = counted(len(registry.tools) - len(picture.own), "built-in tool")
    return [
        _Section(
            title=counted(len(picture.errors), "error"), lines=_errors(picture.errors[:height]), least=8, style=_ALARM
        ),
        _Section(
            title=f"{counted(len(registry.quarantined), 'file')} quarantined: not loaded until you trust it",
            lines=[
                _text(f"  {_cell(each.command)}   ({_cell(each.reason)})", "yellow")
                for each in registry.quarantined[:height]
            ],
            least=3,
            rest="files",
            beyond=max(0, len(registry.quarantined) - height),
            style="bold yellow",
        ),
        _Section(title=_run_title(picture), lines=_run(picture), least=8),
        _Section(
            title=f"Tools of this workspace, beside {others}",
            lines=_tools(picture, width, height),
            least=5,
            rest="tools",
            beyond=max(0, len(picture.own) - height),
        ),
        _Section(title="Reloads", lines=[_reload(each) for each in _latest(picture.reloads, height)], least=3),
        _Section(title="Calls", lines=[_call(each) for each in _latest(picture.calls, height)], least=4),
        _Section(title="Notes", lines=[_note(each) for each in _latest(picture.notes, height)], least=2),
    ]


def _heading(picture: Picture) -> Text:
    registry = picture.registry
    errors = counted(len(registry.diagnostics), "error")
    line = _text("coilclaw dev", "bold")
    line.append(f"  {counted(len(registry.tools), 'tool')}, {len(picture.own)} of this workspace, ")
    line.append(errors, "red" if registry.diagnostics else "green")
    line.append(f"  autonomy {picture.policy.autonomy.value}", "dim")
    return line


def _errors(errors: Iterable[Failed]) -> list[Text]:
    from rich.cells import cell_len

    lines: list[Text] = []
    for failed in errors:
        line = _text(f"  {_cell(failed.place)}  ", "bold")
        line.append(one_line(failed.message, _LONGEST_CELL), "red")
        lines.append(line)
        if failed.excerpt is not None:
            number = f"    {failed.line} | "
            excerpt = failed.excerpt.replace("\t", " ")
            lines.append(_text(f"{number}{_cell(excerpt)}"))
            column = failed.column or len(excerpt) - len(excerpt.lstrip()) + 1
            if column <= len(excerpt) + 1:
                before = _cell(excerpt[: column - 1])
                lines.append(_text(" " * (len(number) - 2) + "| " + " " * cell_len(before) + "^", "red"))
        if failed.hint:
            lines.append(_text(f"    Fix: {_cell(failed.hint)}", "cyan"))
    return lines


def _tools(picture: Picture, width: int, most: int) -> list[Text]:
    from rich.cells import set_cell_size

    if not picture.own:
        return [_text("  None yet. Make one: coilclaw tool new example.hello.say")]
    shown = picture.own[:most]
    column = max(12, min(max(len(as_name(each.id)) for each in shown), width - 40))
    lines = [_text(f"  {'ID':<{column}}  {'RISK':<11}  {'POLICY':<6}  INTEGRATION", "dim")]
    for tool in shown:
        decision = picture.policy.decide(tool, tool.risk).decision.value
        line = _text(f"  {set_cell_size(as_name(tool.id, _LONGEST_CELL), column)}  ")
        line.append(f"{tool.risk.value:<11}  ", _COLOURS[tool.risk.value])
        line.append(f"{decision:<6}  ", _COLOURS[decision])
        line.append(as_name(tool.integration, _LONGEST_CELL))
        lines.append(line)
    return lines


def _reload(event: DevEvent) -> Text:
    line = _stamp(event)
    match event:
        case Reloaded():
            line.append("reloaded     ", "green")
            line.append(_cell(f"{event.file}  {event.milliseconds:.0f} ms, {counted(len(event.tools), 'tool')}"))
        case Failed():
            took = f"  {event.milliseconds:.0f} ms" if event.milliseconds is not None else ""
            line.append("failed       ", "red")
            line.append(_cell(f"{event.place}{took}  {event.message}"))
        case Removed():
            line.append("removed      ", "yellow")
            line.append(_cell(event.file))
        case QuarantinedFile():
            line.append("quarantined  ", "yellow")
            line.append(_cell(event.file))
    return line


def _call(event: Called) -> Text:
    line = _stamp(event)
    took = f"{event.milliseconds:.0f} ms" if event.milliseconds is not None else ""
    line.append(f"{event.status:<9}  ", _COLOURS[event.status])
    line.append(f"{as_name(event.tool, _LONGEST_CELL):<24}  {took:>7}  ")
    line.append(_cell(f"{event.code}: {event.message}" if event.code else event.receipt), "dim")
    return line


def _note(event: DevEvent) -> Text:
    line = _stamp(event)
    line.append(_cell(event.text if isinstance(event, Note) else words_of(event)))
    return line


def _run_title(picture: Picture) -> str:
    started, finished = picture.started, picture.finished
    if started is None:
        return "Script"
    state = f"{finished.status} in {finished.milliseconds:.0f} ms" if finished else "running"
    return f"{as_name(started.script)}: {state}  (run {picture.runs}, {started.reason})"


def _run(picture: Picture) -> list[Text]:
    """What went wrong first, then the value, the calls, and the end of the output."""
    if picture.started is None:
        return []
    lines: list[Text] = []
    finished = picture.finished
    if finished is not None:
        lines += _run_error(finished)
        lines += [_text(f"  {_cell(each)}", "bold") for each in picture.value]
        for item in finished.activity[:_MOST_ACTIVITY_LINES]:
            line = _text(f"  {item['status']:<9}  ", _COLOURS[item["status"]])
            line.append(f"{as_name(item['tool_id'], _LONGEST_CELL):<28}  {_cell(item['receipt_ref'])}")
            lines.append(line)
    lines += [_text(f"  | {_cell(each.text)}") for each in list(picture.output)[-_MOST_OUTPUT_LINES:]]
    return lines or [_text("  no output yet", "dim")]


def _run_error(finished: RunFinished) -> Iterable[Text]:
    error = finished.error
    if error is None:
        return
    where = f" (line {error['line']})" if error["line"] else ""
    yield _text("  " + _cell(f"{error['type']}: {error['message']}{where}"), "red")
    if error["excerpt"] is not None:
        yield _text(f"    {error['line']} | {_cell(error['excerpt'])}")
    if hint := further_hint(error):
        yield _text(f"    Hint: {_cell(hint)}", "cyan")


def _latest(events: Sequence[_Any], number: int) -> list[_Any]:
    """The newest first."""
    return list(events)[::-1][:number]


def _stamp(event: DevEvent) -> Text:
    return _text(f"  {event.when:%H:%M:%S}  ", "dim")


def _cell(text: str) -> str:
    return one_line(text, _LONGEST_CELL)


def _text(text: str, style: str = "") -> Text:
    from rich.text import Text

    # The style is a span, not the text's own: what is appended later has a style of its own.
    line = Text(no_wrap=True, overflow="ellipsis", end="\n")
    line.append(visible(text), style or None)
    return line
