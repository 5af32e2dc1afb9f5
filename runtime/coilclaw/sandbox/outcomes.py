"""How a run can end: frozen values, matched exhaustively where they are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from coilclaw.sdk import RunStatus

__all__ = [
    "Cancelled",
    "Completed",
    "Crashed",
    "Diverged",
    "Failed",
    "OutOfMemory",
    "Outcome",
    "OutputExceeded",
    "Rejected",
    "RunEnded",
    "SnippetError",
    "Suspended",
    "TimedOut",
]


@dataclass(frozen=True, kw_only=True)
class SnippetError:
    """What went wrong, in the snippet's own terms: its lines, its exception, what to do next."""

    type: str
    message: str
    line: int | None = None
    traceback: str | None = None
    hint: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Ended:
    stdout: str = ""


@dataclass(frozen=True, kw_only=True)
class Completed(_Ended):
    """The snippet ran to its end; `value` is its last expression."""

    status: ClassVar[RunStatus] = "completed"
    value: Any = None


@dataclass(frozen=True, kw_only=True)
class Failed(_Ended):
    """The snippet raised, or asked for more than it may have."""

    status: ClassVar[RunStatus] = "failed"
    error: SnippetError


@dataclass(frozen=True, kw_only=True)
class Rejected(_Ended):
    """Nothing of it ran: not Python, or a call in it can never work."""

    status: ClassVar[RunStatus] = "rejected"
    error: SnippetError
    problems: tuple[SnippetError, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TimedOut(_Ended):
    """The run's time was up."""

    status: ClassVar[RunStatus] = "timed_out"
    seconds: float


@dataclass(frozen=True, kw_only=True)
class OutOfMemory(_Ended):
    """The sandbox needed more memory than it may have."""

    status: ClassVar[RunStatus] = "out_of_memory"
    memory_bytes: int


@dataclass(frozen=True, kw_only=True)
class OutputExceeded(_Ended):
    """The snippet printed, or evaluated to, more than it may."""

    status: ClassVar[RunStatus] = "output_exceeded"
    output_bytes: int


@dataclass(frozen=True, kw_only=True)
class Suspended(_Ended):
    """The run waits for a person and holds no resources meanwhile."""

    status: ClassVar[RunStatus] = "suspended"


@dataclass(frozen=True, kw_only=True)
class Diverged(_Ended):
    """A run that was repeated did something else than before; nothing was executed for it."""

    status: ClassVar[RunStatus] = "diverged"
    error: SnippetError


@dataclass(frozen=True, kw_only=True)
class Cancelled(_Ended):
    """Someone ended the run."""

    status: ClassVar[RunStatus] = "cancelled"


@dataclass(frozen=True, kw_only=True)
class Crashed(_Ended):
    """The sandbox itself ended: an exhausted stack, a forbidden system call, a bug."""

    status: ClassVar[RunStatus] = "crashed"
    reason: str
    hint: str | None = None


Outcome: TypeAlias = (
    Completed | Failed | Rejected | TimedOut | OutOfMemory | OutputExceeded | Suspended | Diverged | Cancelled | Crashed
)


class RunEnded(Exception):
    """Raised by a host function to end the run with this outcome; the snippet cannot catch it."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.status)
        self.outcome = outcome
