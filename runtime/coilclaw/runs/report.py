"""What is known of a run when it is over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from coilclaw.receipts import digest
from coilclaw.sandbox import (
    Cancelled,
    Completed,
    Crashed,
    Diverged,
    Failed,
    OutOfMemory,
    OutputExceeded,
    Rejected,
    SnippetError,
    Suspended,
    TimedOut,
)
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coilclaw.sandbox import DisplayedOutput, Outcome, RunWarning
    from coilclaw.sdk import RunStatus

__all__ = ["RunReport", "error_of", "outputs_json", "value_digest", "value_json"]


def value_json(value: Any) -> bytes:
    """The value of a run as it is kept and hashed; any JSON has this form, also text that is not valid Unicode."""
    return json.dumps(value, separators=(",", ":")).encode()


def outputs_json(outputs: Iterable[DisplayedOutput]) -> bytes:
    """Displayed outputs as they are kept and hashed."""
    return json.dumps([[each.mime, each.data] for each in outputs], separators=(",", ":")).encode()


def value_digest(value: Any) -> str:
    """The hash of a run's value."""
    return digest(value_json(value))


class RunReport(Frozen):
    """One run: its outcome, what it printed, and where its receipts begin."""

    run_id: str
    engine: str
    outcome: Outcome
    stdout: str
    duration_ms: float
    first_receipt: str
    retry_of: str | None = None
    """The run whose succeeded writes were not made again."""
    unmet: frozenset[str] = frozenset()
    unknown: str | None = None
    """The call whose outcome nobody knows, if the run waits for a decision about it."""
    unkept: frozenset[str] = frozenset()
    """What a report of an earlier run cannot show, because it was not kept: a part of the outcome by its name."""

    @property
    def status(self) -> RunStatus:
        return self.outcome.status

    @property
    def value(self) -> Any:
        return self.outcome.value if isinstance(self.outcome, Completed) else None

    @property
    def stderr(self) -> str:
        return self.outcome.stderr

    @property
    def outputs(self) -> tuple[DisplayedOutput, ...]:
        return self.outcome.outputs

    @property
    def warnings(self) -> tuple[RunWarning, ...]:
        return self.outcome.warnings

    @property
    def error(self) -> SnippetError | None:
        return error_of(self.outcome)


def error_of(outcome: Outcome) -> SnippetError | None:
    """The outcome in the words of an error, or None if it is none."""
    match outcome:
        case Completed() | Suspended():
            return None
        case Failed(error=error) | Rejected(error=error) | Diverged(error=error):
            return error
        case TimedOut(seconds=seconds, lingering=str(tasks)):
            return SnippetError(
                type="TimedOut",
                message=f"the source had run, and after {seconds:g} s these tasks had not ended: {tasks}",
                hint="cancel a task that does not end by itself before the snippet ends",
            )
        case TimedOut(seconds=seconds):
            return SnippetError(
                type="TimedOut",
                message=f"the run took longer than {seconds:g} s",
                hint="do less in one run, or start calls at once with .start()",
            )
        case OutOfMemory(memory_bytes=memory):
            return SnippetError(
                type="OutOfMemory",
                message=f"the sandbox needed more than {memory // 2**20} MiB",
                hint="keep less at a time",
            )
        case OutputExceeded(output_bytes=size):
            return SnippetError(
                type="OutputExceeded",
                message=f"the run printed or returned more than {size} bytes",
                hint="print or return a summary",
            )
        case Cancelled():
            return SnippetError(type="Cancelled", message="the run was cancelled")
        case Crashed(reason=reason, hint=hint):
            return SnippetError(type="Crashed", message=reason, hint=hint)
