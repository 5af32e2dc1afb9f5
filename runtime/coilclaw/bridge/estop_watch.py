"""Looking for the emergency stop while calls of a run are under way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from coilclaw.bridge.answers import Refusal
from coilclaw.sandbox import POLL_SECONDS, Deadline

__all__ = ["EstopWatch"]

_GRACE_SECONDS: Final = 0.15
"""How long handlers that look at `ctx.cancelled` have to end what they began, once everything is stopped."""

_STEP_SECONDS: Final = 0.01


class EstopWatch:
    """Cancels one run when everything is stopped while calls of it are under way.

    A run without such calls is left alone: what it asks for from then on is refused, and it may still answer.
    The thread begins with the first call and ends with the run.
    """

    def __init__(
        self,
        stop: Callable[[], str | None] | None,
        progress: Callable[[str, str], None],
        deadline: Deadline,
        under_way: Callable[[], Sequence[str]],
    ) -> None:
        self._stop = stop
        self._progress = progress
        self._deadline = deadline
        self._under_way = under_way
        self._begun = False
        self._ended = threading.Event()
        self.reason: str | None = None
        """Why the calls are cancelled; None until they are."""

    def refusal(self) -> Refusal | None:
        """The refusal every call gets while the emergency stop is set."""
        reason = self._stop() if self._stop is not None else None
        if reason is None:
            return None
        hint = "do without tools; a person ends this with `coilclaw estop --clear`"
        return Refusal(code="stopped", message=reason, hint=hint, denied=True)

    def begin(self) -> None:
        if self._stop is not None and not self._begun:
            self._begun = True
            threading.Thread(target=self._watch, name="coilclaw-stop", daemon=True).start()

    def end(self) -> None:
        self._ended.set()

    def end_if_over(self) -> None:
        """Raise `RunEnded` if the run is over. One that is being cancelled does not go on while others clean up."""
        while self.reason is not None and not self._deadline.cancelled:
            self._ended.wait(_STEP_SECONDS)
        self._deadline.end_if_over()

    def given_up(self) -> Refusal | None:
        """What became of a call that did not end by itself, if the stop is to blame."""
        if self.reason is None:
            return None
        return Refusal(code="stopped", message=f"{self.reason}; what the tool did is unknown")

    def _watch(self) -> None:
        assert self._stop is not None
        while not self._ended.wait(POLL_SECONDS):
            tools = self._under_way()
            reason = self._stop() if tools else None
            if reason is not None:
                self._cancel(tools, reason)
                return

    def _cancel(self, tools: Sequence[str], reason: str) -> None:
        self.reason = reason  # From here on `ctx.cancelled` is true.
        ends = time.monotonic() + _GRACE_SECONDS
        while self._under_way() and time.monotonic() < ends and not self._ended.is_set():
            time.sleep(_STEP_SECONDS)
        self._deadline.cancel()
        with suppress(OSError):  # Nobody may be reading any longer.
            for tool in dict.fromkeys(tools):
                self._progress(tool, reason)
