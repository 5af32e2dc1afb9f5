"""The script of `coilclaw dev --run`: noticing that it was saved, and running it on the newest tools."""

from __future__ import annotations

import os
import queue
import stat
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, TypeAlias

from coilclaw.app import Caller, CoilClaw, Report
from coilclaw.cli.dev.events import APPROVE, DevEvent, Problem, RunFinished, RunOutput, RunStarted
from coilclaw.cli.output_text import output_lines
from coilclaw.sandbox import Deadline, DisplayedOutput
from coilclaw.sdk import CoilClawError

__all__ = ["Script", "ScriptRuns"]

_QUIET_SECONDS: Final = 0.03
_LONGEST_EXCERPT: Final = 160
_LONGEST_LINE: Final = 8000

_Signature: TypeAlias = tuple[int, int, int, int]


class Unreadable(Exception):
    """The script cannot be used; the message says why."""


class Script:
    """A file that is looked at again and again. It may be replaced, or be gone for a moment, as editors do it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last = self._pending = self._signature()
        self._since = 0.0

    def was_saved(self) -> bool:
        """Whether it changed since the last time this said so, and has been left alone for a moment."""
        signature = self._signature()
        moment = time.monotonic()
        if signature != self._pending:
            self._pending, self._since = signature, moment
        if signature == self._last or moment - self._since < _QUIET_SECONDS:
            return False
        self._last = signature
        return signature is not None  # A file that is gone is not run; it may be on its way back.

    def read(self, largest: int) -> str:
        """The source; `Unreadable` for what is none."""
        try:
            # Opened without waiting, should it be a pipe.
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise Unreadable(f"{self.path} is not an ordinary file")
                data = file.read(largest + 1)
        except OSError as error:
            raise Unreadable(f"cannot read {self.path}: {error.strerror}") from None
        if b"\0" in data:
            raise Unreadable(f"{self.path} is a binary file, not Python source")
        if len(data) > largest:
            raise Unreadable(f"{self.path} is larger than {largest} bytes")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Unreadable(f"{self.path} is not UTF-8 text") from None

    def _signature(self) -> _Signature | None:
        try:
            facts = self.path.stat()
        except OSError:
            return None
        return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


class ScriptRuns:
    """Runs the script on a thread of its own, one run at a time.

    A run that is under way when something changes finishes with the tools it began with; then the
    next one starts, once, however much changed meanwhile.
    """

    def __init__(self, script: Script, claw: CoilClaw, caller: Caller, tell: Callable[[DevEvent], None]) -> None:
        self.script = script
        self._claw = claw
        self._caller = caller
        self._tell = tell
        self._limits = claw.settings.config.limits
        self._wanted: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._deadline: Deadline | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="coilclaw-dev-run", daemon=True)

    def want(self, reason: str) -> None:
        """Run it as soon as the present run is over."""
        self._wanted.put(reason)

    def run(self, reason: str) -> str | None:
        """Run it now, on this thread; returns the run's status, or None if there was no run."""
        name = self.script.path.name
        try:
            source = self.script.read(self._limits.source_bytes)
            generation = self._claw.tools.registry.generation
            with self._lock:
                if self._closed:
                    return None
                deadline = self._deadline = Deadline(self._limits.seconds)
            self._tell(RunStarted(script=name, reason=reason, generation=generation))
            output = _Lines(self._tell)
            report = self._claw.run(
                source, name=name, deadline=deadline, caller=replace(self._caller, show=output, display=output.display)
            )
            output.end()
            self._tell(self._finished(report, source))
            return report.status
        except Unreadable as problem:
            self._tell(Problem(message=str(problem), hint="it is run as soon as it can be read"))
        except CoilClawError as error:
            self._tell(Problem(message=error.message, hint=error.hint))
        return None

    def close(self) -> None:
        """Cancel what runs and wait for its end."""
        with self._lock:
            self._closed = True
            if self._deadline is not None:
                self._deadline.cancel()
        self._wanted.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def __enter__(self) -> ScriptRuns:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _work(self) -> None:
        while (reason := self._next()) is not None:
            self.run(reason)

    def _next(self) -> str | None:
        """Why the next run was triggered; triggers that arrive together are merged."""
        reason = self._wanted.get()
        while reason is not None:
            try:
                reason = self._wanted.get_nowait()
            except queue.Empty:
                break
        return reason

    def _finished(self, report: Report, source: str) -> RunFinished:
        facts = report.facts()
        if report.error is not None:
            if "approval_required" in report.unmet:
                facts["error"]["hint"] = APPROVE
            facts["error"]["excerpt"] = _line_of(source, report.error.line)
        return RunFinished(
            script=self.script.path.name,
            run_id=report.run_id,
            status=report.status,
            engine=report.engine,
            milliseconds=report.duration_ms,
            value=report.value,
            error=facts["error"],
            activity=tuple(facts["activity"]),
        )


class _Lines:
    """Puts what a snippet prints together to lines."""

    def __init__(self, tell: Callable[[DevEvent], None]) -> None:
        self._tell = tell
        self._rest = {1: "", 2: ""}

    def __call__(self, stream: int, text: str) -> None:
        *lines, self._rest[stream] = (self._rest.get(stream, "") + text).split("\n")
        if len(self._rest[stream]) > _LONGEST_LINE:  # Waiting for its end would mean to copy it with every piece.
            lines.append(self._rest[stream])
            self._rest[stream] = ""
        for line in lines:
            self._tell(RunOutput(stream=stream, text=line))

    def display(self, output: DisplayedOutput) -> None:
        for line in output_lines(output):
            self._tell(RunOutput(stream=1, text=line))

    def end(self) -> None:
        for stream, rest in self._rest.items():
            if rest:
                self._tell(RunOutput(stream=stream, text=rest))


def _line_of(source: str, line: int | None) -> str | None:
    lines = source.splitlines()
    return lines[line - 1][:_LONGEST_EXCERPT] if line and 0 < line <= len(lines) else None
