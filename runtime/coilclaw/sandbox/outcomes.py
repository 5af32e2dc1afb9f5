"""How a run can end: frozen values, matched exhaustively where they are used."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from coilclaw.sandbox.displayed import DisplayedOutput
from coilclaw.sdk import RunStatus
from coilclaw.sdk.frozen import Frozen

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
    "RunWarning",
    "SnippetError",
    "Suspended",
    "TimedOut",
]


class SnippetError(Frozen):
    """What went wrong, in the snippet's own terms: its lines, its exception, what to do next."""

    type: str
    message: str
    line: int | None = None
    traceback: str | None = None
    hint: str | None = None


class RunWarning(Frozen):
    """Something that the author of a snippet would want to know although it ended no run."""

    kind: str
    message: str
    line: int | None = None


class _Ended(Frozen):
    stdout: str = ""
    stderr: str = ""
    outputs: tuple[DisplayedOutput, ...] = ()
    warnings: tuple[RunWarning, ...] = ()


class Completed(_Ended):
    """The snippet ran to its end; `value` is its last expression."""

    status: ClassVar[RunStatus] = "completed"
    value: Any = None


class Failed(_Ended):
    """The snippet raised, or asked for more than it may have."""

    status: ClassVar[RunStatus] = "failed"
    error: SnippetError


class Rejected(_Ended):
    """Nothing of it ran: not Python, or a call in it can never work."""

    status: ClassVar[RunStatus] = "rejected"
    error: SnippetError
    problems: tuple[SnippetError, ...] = ()


class TimedOut(_Ended):
    """The run's time was up."""

    status: ClassVar[RunStatus] = "timed_out"
    seconds: float
    lingering: str | None = None
    """The tasks that the run still waited for, if its source had run by then."""


class OutOfMemory(_Ended):
    """The sandbox needed more memory than it may have."""

    status: ClassVar[RunStatus] = "out_of_memory"
    memory_bytes: int


class OutputExceeded(_Ended):
    """The snippet printed, or evaluated to, more than it may."""

    status: ClassVar[RunStatus] = "output_exceeded"
    output_bytes: int


class Suspended(_Ended):
    """The run waits for a person and holds no resources meanwhile."""

    status: ClassVar[RunStatus] = "suspended"


class Diverged(_Ended):
    """A run that was repeated did something else than before; nothing was executed for it."""

    status: ClassVar[RunStatus] = "diverged"
    error: SnippetError


class Cancelled(_Ended):
    """Someone ended the run."""

    status: ClassVar[RunStatus] = "cancelled"


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
