"""The caller of a run: where it comes from, and who can be asked and told about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

from coilclaw.policy import Approver, NobodyToAsk
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.sandbox import DisplayedOutput

__all__ = ["Caller"]


class Caller(Frozen):
    """Belongs to one run, as `Services` belong to the app. Policy sees the channel, tools see agent and project."""

    channel: str = "app"
    """Where the run comes from, for rules about that."""
    conversation: str | None = None
    agent: str | None = None
    project: str | None = None
    view: str | None = None
    request: str | None = None
    """The request of a model that the run answers: by it the run is found again after its process ended."""
    tools_allow: tuple[str, ...] | None = None
    """Names or patterns of the tools that the run may call; None means all. It is kept when the run is resumed."""
    approver: Approver = field(default_factory=NobodyToAsk)
    """Asked about a call that needs approval. When it has no answer, the run is suspended."""
    suspends: bool = True
    """Whether a call that nobody can approve now suspends the run; otherwise it is denied."""
    ask: Callable[[str], str | None] = lambda question: None
    """Asks the person a question of a tool and returns the answer, or None if nobody answers."""
    waits: Callable[[], bool] = lambda: False
    """Whether to wait in this process for decisions made elsewhere, instead of suspending the run."""
    leaves: Callable[[], bool] = lambda: False
    """Whether the run is suspended at its next call, because this process is about to end."""
    show: Callable[[int, str], None] = lambda stream, text: None
    """Receives what the snippet prints, as it comes: 1 is stdout, 2 is stderr."""
    display: Callable[[DisplayedOutput], None] = lambda output: None
    """Receives what the snippet displays, as it comes."""
    progress: Callable[[str, str], None] = lambda tool, message: None
    """Receives what tools report while they run."""
