"""Events that `coilclaw dev` prints.

The fields of an event are the fields of its JSON object, and `words_of` is the same in one line for a person. Neither
is fit for a terminal before it went through `one_line`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field, fields
from datetime import datetime
from typing import Any, ClassVar, Final

from coilclaw.cli.terminal import counted
from coilclaw.sdk.frozen import Frozen

__all__ = [
    "APPROVE",
    "Called",
    "DevEvent",
    "Failed",
    "Note",
    "Problem",
    "QuarantinedFile",
    "Ready",
    "Reloaded",
    "Removed",
    "RunFinished",
    "RunOutput",
    "RunStarted",
    "further_hint",
    "words_of",
]

APPROVE: Final = "with --yes, `coilclaw dev` approves the calls of its script"


def _now() -> datetime:
    return datetime.now().astimezone()


class DevEvent(Frozen):
    """Something that happened, and when."""

    kind: ClassVar[str]
    when: datetime = field(default_factory=_now)

    def object(self) -> dict[str, Any]:
        """The event for a program."""
        facts = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "when"}
        return {"event": self.kind, "time": self.when.isoformat(timespec="milliseconds"), **facts}


class Ready(DevEvent):
    """Everything was loaded once, and from now on changes are noticed."""

    kind = "ready"
    workspace: str
    tools: int
    workspace_tools: int
    errors: int
    quarantined: int
    hint: str | None = None


class Reloaded(DevEvent):
    """A file is in force as it stands on disk."""

    kind = "reloaded"
    file: str
    tools: tuple[str, ...]
    milliseconds: float
    generation: int


class Failed(DevEvent):
    """A file, or a tool in it, cannot be used as it stands."""

    kind = "failed"
    file: str
    line: int | None
    column: int | None
    message: str
    hint: str | None
    excerpt: str | None
    milliseconds: float | None = None

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class Removed(DevEvent):
    """A file is gone, and so are its tools."""

    kind = "removed"
    file: str


class QuarantinedFile(DevEvent):
    """A file waits until a person trusts it."""

    kind = "quarantined"
    file: str
    reason: str
    command: str


class Called(DevEvent):
    """A call came to its end, in this process or in another one of the same home."""

    kind = "call"
    tool: str
    status: str
    milliseconds: float | None
    code: str | None
    message: str | None
    run_id: str | None
    receipt: str


class RunStarted(DevEvent):
    """The script of `--run` begins; `reason` says what changed."""

    kind = "run.started"
    script: str
    reason: str
    generation: int


class RunOutput(DevEvent):
    """One line that the script printed; stream 1 is its output, 2 its errors."""

    kind = "run.output"
    stream: int
    text: str


class RunFinished(DevEvent):
    """The script came to its end."""

    kind = "run.finished"
    script: str
    run_id: str
    status: str
    engine: str
    milliseconds: float
    value: Any
    error: dict[str, Any] | None
    activity: tuple[dict[str, Any], ...]


class Problem(DevEvent):
    """Something other than a tool file stands in the way: the script, the receipts."""

    kind = "problem"
    message: str
    hint: str | None = None


class Note(DevEvent):
    """What a tool printed while the screen belongs to the live view."""

    kind = "note"
    text: str


def further_hint(error: Mapping[str, Any]) -> str | None:
    """Return the hint of an error, unless its message has it already, as that of a failed call does."""
    hint: str | None = error["hint"]
    return None if hint is None or hint in error["message"] else hint


def words_of(event: DevEvent) -> str:
    """Return the event in one line for a person."""
    match event:
        case Ready():
            held = f", {event.quarantined} quarantined" if event.quarantined else ""
            advice = f" ({event.hint})" if event.hint else ""
            return f"ready: {counted(event.tools, 'tool')}, {counted(event.errors, 'error')}{held}{advice}"
        case Reloaded():
            return f"reloaded {event.file} in {event.milliseconds:.0f} ms ({counted(len(event.tools), 'tool')})"
        case Failed():
            return f"error {event.place} {event.message}" + (f" ({event.hint})" if event.hint else "")
        case Removed():
            return f"removed {event.file}"
        case QuarantinedFile():
            return f"quarantined {event.file}: {event.reason} (read it and trust it: {event.command})"
        case Called():
            took = f" {event.milliseconds:.0f} ms" if event.milliseconds is not None else ""
            why = f" {event.code}: {event.message}" if event.code else ""
            why += f" ({APPROVE})" if event.code == "approval_required" else ""
            return f"call {event.tool} {event.status}{took}{why}"
        case RunStarted():
            return f"run {event.script} started ({event.reason})"
        case RunOutput():
            return f"output {event.text}"
        case RunFinished():
            calls = counted(len(event.activity), "call")
            said = f"run {event.script} {event.status} in {event.milliseconds:.0f} ms, {calls}"
            if event.value is not None:
                said += f", value {json.dumps(event.value, ensure_ascii=False)}"
            if event.error is not None:
                where = f" (line {event.error['line']})" if event.error["line"] else ""
                hint = f" ({hint})" if (hint := further_hint(event.error)) else ""
                said += f", {event.error['type']}: {event.error['message']}{where}{hint}"
            return said
        case Problem():
            return f"problem {event.message}" + (f" ({event.hint})" if event.hint else "")
        case Note():
            return f"note {event.text}"
        case _:
            raise AssertionError(f"{event.kind} has no words")
