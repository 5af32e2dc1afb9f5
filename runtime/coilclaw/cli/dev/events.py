"""Events that `coilclaw dev` prints.

The fields of an event are the fields of its JSON object. `words` is the same in one line for a
person. Neither is fit for a terminal before it went through `one_line`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, ClassVar

from coilclaw.cli.terminal import counted

__all__ = [
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
]


def _now() -> datetime:
    return datetime.now().astimezone()


@dataclass(frozen=True, kw_only=True)
class DevEvent:
    """Something that happened, and when."""

    kind: ClassVar[str]
    when: datetime = field(default_factory=_now)

    @property
    def words(self) -> str:
        raise AssertionError(f"{self.kind} has no words")

    def object(self) -> dict[str, Any]:
        """The event for a program."""
        facts = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "when"}
        return {"event": self.kind, "time": self.when.isoformat(timespec="milliseconds"), **facts}


@dataclass(frozen=True, kw_only=True)
class Ready(DevEvent):
    """Everything was loaded once, and from now on changes are noticed."""

    kind = "ready"
    workspace: str
    tools: int
    workspace_tools: int
    errors: int
    quarantined: int
    hint: str | None = None

    @property
    def words(self) -> str:
        held = f", {self.quarantined} quarantined" if self.quarantined else ""
        advice = f" ({self.hint})" if self.hint else ""
        return f"ready: {counted(self.tools, 'tool')}, {counted(self.errors, 'error')}{held}{advice}"


@dataclass(frozen=True, kw_only=True)
class Reloaded(DevEvent):
    """A file is in force as it stands on disk."""

    kind = "reloaded"
    file: str
    tools: tuple[str, ...]
    milliseconds: float
    generation: int

    @property
    def words(self) -> str:
        return f"reloaded {self.file} in {self.milliseconds:.0f} ms ({counted(len(self.tools), 'tool')})"


@dataclass(frozen=True, kw_only=True)
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

    @property
    def words(self) -> str:
        return f"error {self.place} {self.message}" + (f" ({self.hint})" if self.hint else "")


@dataclass(frozen=True, kw_only=True)
class Removed(DevEvent):
    """A file is gone, and so are its tools."""

    kind = "removed"
    file: str

    @property
    def words(self) -> str:
        return f"removed {self.file}"


@dataclass(frozen=True, kw_only=True)
class QuarantinedFile(DevEvent):
    """A file waits until a person trusts it."""

    kind = "quarantined"
    file: str
    reason: str
    command: str

    @property
    def words(self) -> str:
        return f"quarantined {self.file}: {self.reason} (read it and trust it: {self.command})"


@dataclass(frozen=True, kw_only=True)
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

    @property
    def words(self) -> str:
        took = f" {self.milliseconds:.0f} ms" if self.milliseconds is not None else ""
        why = f" {self.code}: {self.message}" if self.code else ""
        return f"call {self.tool} {self.status}{took}{why}"


@dataclass(frozen=True, kw_only=True)
class RunStarted(DevEvent):
    """The script of `--run` begins; `reason` says what changed."""

    kind = "run.started"
    script: str
    reason: str
    generation: int

    @property
    def words(self) -> str:
        return f"run {self.script} started ({self.reason})"


@dataclass(frozen=True, kw_only=True)
class RunOutput(DevEvent):
    """One line that the script printed; stream 1 is its output, 2 its errors."""

    kind = "run.output"
    stream: int
    text: str

    @property
    def words(self) -> str:
        return f"output {self.text}"


@dataclass(frozen=True, kw_only=True)
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

    @property
    def words(self) -> str:
        said = f"run {self.script} {self.status} in {self.milliseconds:.0f} ms, {counted(len(self.activity), 'call')}"
        if self.value is not None:
            said += f", value {json.dumps(self.value, ensure_ascii=False)}"
        if self.error is not None:
            where = f" (line {self.error['line']})" if self.error["line"] else ""
            hint = f" ({self.error['hint']})" if self.error["hint"] else ""
            said += f", {self.error['type']}: {self.error['message']}{where}{hint}"
        return said


@dataclass(frozen=True, kw_only=True)
class Problem(DevEvent):
    """Something other than a tool file stands in the way: the script, the receipts."""

    kind = "problem"
    message: str
    hint: str | None = None

    @property
    def words(self) -> str:
        return f"problem {self.message}" + (f" ({self.hint})" if self.hint else "")


@dataclass(frozen=True, kw_only=True)
class Note(DevEvent):
    """What a tool printed while the screen belongs to the live view."""

    kind = "note"
    text: str

    @property
    def words(self) -> str:
        return f"note {self.text}"
