"""Following a run at a server from this terminal: its output as it comes, its approvals, and Ctrl-C."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Literal

from coilclaw.cli.pending_calls import tell_pending
from coilclaw.cli.remote.answers import read_report, read_request
from coilclaw.cli.terminal import say, warn
from coilclaw.client import Conflict, Unreachable
from coilclaw.policy import Question
from coilclaw.sandbox import DisplayedOutput
from coilclaw.sdk import Risk
from coilclaw.sdk.legible import as_name

if TYPE_CHECKING:
    from coilclaw.app import Caller, Report
    from coilclaw.client import Approval, Client, Event, Run
    from coilclaw.sandbox import Deadline

__all__ = ["Following"]


class _ReaderGone(Exception):
    """Whoever read the output has gone away."""


class Following:
    """Stays with one run until it has ended or waits for somebody else."""

    def __init__(self, client: Client, caller: Caller, deadline: Deadline) -> None:
        self._client = client
        self._caller = caller
        self._deadline = deadline
        self._run_id = ""
        self._cursor: str | None = None
        self._told: set[str] = set()
        self._shown: Counter[int] = Counter()
        """How much of each stream was shown; 3 counts what was displayed."""
        self._again: Counter[int] = Counter()
        """How much of it comes again, because the run was resumed."""

    def of(self, start: Callable[[], str]) -> Report:
        """Start a run and follow it."""
        with _held_back() as release:  # An interrupt before its id is known could cancel nothing.
            self._run_id = start()
            return self._guarded(lambda: self._decided(self._waited(release)))

    def resumed(self, run_id: str, timeout: float | None, unknown: Literal["retry", "failed"] | None) -> Report:
        """Resume a run and follow it."""
        self._run_id = run_id
        return self._guarded(
            lambda: self._decided(self._client.resume(run_id, timeout=timeout, unknown=unknown, listen=self._hear))
        )

    def decided(self, run_id: str) -> Report:
        """Ask about what a suspended run waits for, and follow it."""
        self._run_id = run_id
        return self._guarded(lambda: self._decided(self._client.show(run_id)))

    def _waited(self, release: Callable[[], None] = lambda: None) -> Run:
        release()
        return self._client.wait(self._run_id, after=self._cursor, listen=self._hear)

    def _guarded(self, follow: Callable[[], Run]) -> Report:
        try:
            run = follow()
        except (KeyboardInterrupt, _ReaderGone):
            run = self._cancelled()
        except Unreachable:
            warn(f"{as_name(self._run_id)} may still be running at {self._client.url}")
            raise
        self._show_rest(run)
        waits = self._client.approvals(run_id=self._run_id) if run.status == "suspended" else ()
        return read_report(run, waits)

    def _cancelled(self) -> Run:
        say(f"Cancelling {as_name(self._run_id)} at {self._client.url} …", err=True)
        try:
            self._client.cancel(self._run_id)
        except Conflict:  # It is over already, or waits for nothing that could be cancelled.
            return self._client.show(self._run_id)
        return self._client.wait(self._run_id, after=self._cursor)

    # Output ------------------------------------------------------------------------------------------------

    def _hear(self, event: Event) -> None:
        self._cursor = event.cursor
        data = event.data
        if event.kind == "run.output" and isinstance(data.get("text"), str):
            stream = 1 if data.get("stream") == 1 else 2
            self._show(stream, data["text"])
        elif event.kind == "run.displayed":
            self._display(str(data.get("mime")), data.get("data"))
        elif event.kind == "run.resumed":
            self._again = self._shown.copy()
        if self._deadline.cancelled:
            raise _ReaderGone

    def _show(self, stream: int, text: str) -> None:
        known = min(len(text), self._again[stream])
        self._again[stream] -= known
        self._shown[stream] += len(text) - known
        if text[known:]:
            self._caller.show(stream, text[known:])

    def _display(self, mime: str, data: object) -> None:
        if self._again[3]:
            self._again[3] -= 1
            return
        self._shown[3] += 1
        self._caller.display(DisplayedOutput.of_facts(mime, data))

    def _show_rest(self, run: Run) -> None:
        """Show what came by no event: the server may have been started again meanwhile."""
        for stream, text in ((1, run.stdout), (2, run.stderr)):
            if rest := text[self._shown[stream] :]:
                self._caller.show(stream, rest)
        for each in run.outputs[self._shown[3] :]:
            self._caller.display(DisplayedOutput.of_facts(str(each.get("mime")), each.get("data")))

    # Approvals ---------------------------------------------------------------------------------------------

    def _decided(self, run: Run) -> Run:
        """Ask about each call that the run waits for, and follow it, until nobody answers or it has ended."""
        while run.status == "suspended" and not run.unknown:
            pending = self._client.approvals(run_id=self._run_id)
            if self._caller.waits():
                self._tell(pending)
            elif False in list(map(self._is_answered, pending)):  # Each is asked about.
                return run
            try:
                run = self._waited()
            except KeyboardInterrupt:
                if not self._caller.waits() or self._client.show(self._run_id).status != "suspended":
                    raise
                say(err=True)
                say("Interrupted: the run is left suspended.", err=True)
                return self._client.show(self._run_id)
        return run

    def _tell(self, pending: tuple[Approval, ...]) -> None:
        new = [read_request(each) for each in pending if each.id not in self._told]
        self._told.update(each.id for each in new)
        if new:
            tell_pending(new, self._run_id, "", waits=True, elsewhere=f" --server {self._client.url}")

    def _is_answered(self, asked: Approval) -> bool:
        answer = self._caller.approver.decide(_question(asked))
        if answer.decision == "unanswered":
            return False
        if answer.decision == "deny":
            self._client.deny(asked)
        else:
            self._client.approve(asked)
        return True


def _question(asked: Approval) -> Question:
    return Question(
        run_id=asked.run_id,
        call_id=asked.id,
        number=asked.number,
        tool=asked.tool,
        tool_version=asked.tool_version,
        risk=Risk(asked.risk),
        reason=asked.reason,
        arguments=json.dumps(asked.arguments),
        line=asked.line,
        matched_rule=asked.matched_rule or "",
        runs=asked.runs,
    )


@contextmanager
def _held_back() -> Iterator[Callable[[], None]]:
    """Hold an interrupt back until the function that is yielded is called; a second one comes through."""
    held: list[int] = []
    before = signal.getsignal(signal.SIGINT)

    def hold(number: int, frame: FrameType | None) -> None:
        if held:
            raise KeyboardInterrupt
        held.append(number)

    def release() -> None:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)
        if held:
            raise KeyboardInterrupt

    if before is signal.default_int_handler:  # What our parent ignores for us stays ignored.
        signal.signal(signal.SIGINT, hold)
    try:
        yield release
    finally:
        signal.signal(signal.SIGINT, before)
