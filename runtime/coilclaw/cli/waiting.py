"""Runs that may wait: for the person at this terminal, for one elsewhere, or for a later process."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from coilclaw.app import Caller
from coilclaw.cli.approver import approver_for
from coilclaw.cli.opening import open_app
from coilclaw.cli.pending_calls import tell_pending
from coilclaw.cli.terminal import say, warn
from coilclaw.policy import Answer
from coilclaw.sdk import CoilClawError
from coilclaw.sdk.frozen import Frozen
from coilclaw.sdk.legible import as_name, one_line

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw
    from coilclaw.cli.remote.remote_app import RemoteApp
    from coilclaw.config import Settings
    from coilclaw.evidence import EventReader
    from coilclaw.policy import Question
    from coilclaw.sandbox import Deadline

__all__ = ["CommandApp", "RunPlace", "command_caller", "open_for_run", "open_run_place", "warn_if_stopped"]


class CommandApp(Frozen):
    """The app of a command that runs something, and the caller it runs for."""

    claw: CoilClaw
    caller: Caller


class RunPlace(Frozen):
    """Where a command runs something, the app of this process or a server, and the caller it runs for."""

    claw: CoilClaw | RemoteApp
    caller: Caller
    here: CommandApp | None = None
    """The app of this process, if that is the place."""
    elsewhere: str = ""
    """The option that further commands need, if it is a server."""


@contextmanager
def open_for_run(settings: Settings, deadline: Deadline, *, yes: bool, wait: bool) -> Iterator[CommandApp]:
    """Open the app for a run that is resumed later if nobody answers now.

    With `wait`, nobody is asked here: this process stays until the decision is made elsewhere.
    """
    with open_app(settings, deadline=deadline) as claw:
        warn_if_stopped(claw)
        if yes or not wait:
            approver = approver_for(yes, deadline, may_wait=True, workspace=settings.config.workspace_dir)
            yield CommandApp(claw=claw, caller=command_caller(approver=approver, ask=_questions(deadline)))
            return
        patience = _Patience()
        with patience.watching(claw):
            yield CommandApp(claw=claw, caller=command_caller(approver=patience, waits=patience.lasts))


@contextmanager
def open_run_place(
    settings: Settings, deadline: Deadline, *, yes: bool, wait: bool, server: str | None
) -> Iterator[RunPlace]:
    """The same for a run that may be at a server."""
    if server is None:
        with open_for_run(settings, deadline, yes=yes, wait=wait) as command:
            yield RunPlace(claw=command.claw, caller=command.caller, here=command)
        return
    from coilclaw.cli.approver import somebody_is_here
    from coilclaw.cli.remote.connecting import connected

    decides = yes or (not wait and somebody_is_here())
    with connected(server, "operator" if decides else "run") as remote:
        approver = approver_for(yes, deadline, may_wait=True)
        caller = command_caller(approver=approver, waits=lambda: wait and not yes)
        yield RunPlace(claw=remote, caller=caller, elsewhere=f" --server {as_name(remote.client.url)}")


def _questions(deadline: Deadline) -> Callable[[str], str | None]:
    def ask(question: str) -> str | None:
        from coilclaw.cli.questions import ask_on_terminal  # Few runs ask.

        return ask_on_terminal(question, deadline)

    return ask


def warn_if_stopped(claw: CoilClaw) -> None:
    if stopped := claw.estop.state:
        warn(f"{stopped}. Every call is refused until `coilclaw estop --clear`.")


def command_caller(**facts: object) -> Caller:
    """The caller of what a person starts with a command: what tools report is shown on stderr."""
    facts.setdefault("progress", lambda tool, message: say(f"{as_name(tool)}: {one_line(message)}", err=True))
    return Caller(channel="cli", **facts)  # type: ignore[arg-type]


class _Patience:
    """Says once what a run waits for. Lasts until it is interrupted; then the run is left for a later process."""

    def __init__(self) -> None:
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
    def watching(self, claw: CoilClaw) -> Iterator[None]:
        watched = (claw, claw.feed.end())
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

    def _watch(self, claw: CoilClaw, start: str) -> None:
        told: set[str] = set()
        events: EventReader | None = None
        followed = ""
        while True:
            self._again.wait()
            self._again.clear()
            if self._closed:
                return
            if events is None or followed != self._run_id:  # The steps of a SOP are one run after the other.
                followed = self._run_id
                events = claw.feed.of_run(followed, start, wake=self._again.set)
            with suppress(CoilClawError):  # The run finds out by itself that the log does not hold.
                while events.take():
                    pass  # Whatever happened, the store knows what is pending now.
            pending = claw.approvals.pending(self._run_id)
            self._waits = bool(pending)
            new = [each for each in pending if each.id not in told]
            if new:
                told.update(each.id for each in new)
                tell_pending(new, self._run_id, "", waits=True)
            self._tell_if_left()
