"""Runs that may wait: for the person at this terminal, for one elsewhere, or for a later process."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from coilclaw.cli.approval import approver_for
from coilclaw.cli.composition import Evidence, Parts, open_parts
from coilclaw.cli.disclosure import approval_facts, pending_of, tell_pending
from coilclaw.cli.terminal import say
from coilclaw.config import Settings
from coilclaw.policy import Answer, Question
from coilclaw.sandbox import Deadline
from coilclaw.sdk import CoilClawError

if TYPE_CHECKING:
    from coilclaw.evidence import EventFeed, EventReader

__all__ = ["open_waiting"]


@contextmanager
def open_waiting(settings: Settings, deadline: Deadline, *, yes: bool, wait: bool, options: str) -> Iterator[Parts]:
    """Everything but the engine, for a run that goes on later if nobody answers now.

    With `wait`, nobody is asked here: this process stays until the decision is made elsewhere. `options` is what the
    commands that decide and resume need besides the id.
    """
    if yes or not wait:
        approver = approver_for(yes, deadline, may_wait=True, workspace=settings.config.workspace_dir)
        with open_parts(settings, approver, deadline=deadline) as parts:
            yield parts
        return
    patience = _Patience(options)
    with (
        open_parts(settings, patience, stays=patience.lasts, deadline=deadline) as parts,
        patience.watching(parts.evidence),
    ):
        yield parts


class _Patience:
    """Says once what a run waits for. Lasts until it is interrupted; then the run is left for a later process."""

    def __init__(self, options: str) -> None:
        self._options = options
        self._again = threading.Event()
        self._closed = False
        self._given_up = False
        self._left = False
        self._waits = False
        self._run_id = ""

    def lasts(self) -> bool:
        if self._given_up:
            self._again.set()
        return not self._given_up

    def decide(self, question: Question) -> Answer:
        """Nobody answers here."""
        self._run_id = question.run_id
        self._again.set()
        return Answer(decision="unanswered", decided_by="nobody")

    @contextmanager
    def watching(self, evidence: Evidence) -> Iterator[None]:
        from coilclaw.evidence import EventFeed

        feed = EventFeed(evidence.log)
        watched = (evidence, feed, feed.end())
        thread = threading.Thread(target=self._watch, args=watched, name="coilclaw-waiting", daemon=True)
        thread.start()
        before = signal.getsignal(signal.SIGINT)
        if before is signal.default_int_handler:  # What our parent ignores for us stays ignored.
            signal.signal(signal.SIGINT, self._interrupted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
            self._closed = True
            self._again.set()
            thread.join()
            feed.close()
            self._tell_if_left()

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        # Nothing is printed from here: the interrupt may have come in the middle of a line.
        if not self._waits or self._given_up:
            raise KeyboardInterrupt
        self._given_up = True

    def _tell_if_left(self) -> None:
        if self._given_up and not self._left:
            self._left = True
            say(err=True)
            say("Interrupted: the run is left suspended. Once more cancels it.", err=True)

    def _watch(self, evidence: Evidence, feed: EventFeed, start: str) -> None:
        told: set[str] = set()
        events: EventReader | None = None
        while True:
            self._again.wait()
            self._again.clear()
            if self._closed:
                return
            events = events or feed.of_run(self._run_id, start, wake=self._again.set)
            with suppress(CoilClawError):  # The run finds out by itself that the log does not hold.
                while events.take():
                    pass  # Whatever happened, the store knows what is pending now.
            pending = pending_of(evidence, self._run_id)
            self._waits = bool(pending)
            new = [each for each in pending if each.id not in told]
            if new:
                told.update(each.id for each in new)
                tell_pending([approval_facts(each, evidence.log) for each in new], self._run_id, self._options)
                say("Waiting here for the decision. Ctrl-C leaves the run suspended.", err=True)
            self._tell_if_left()
