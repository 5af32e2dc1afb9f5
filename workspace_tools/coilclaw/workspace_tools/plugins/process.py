"""Running a plugin's program for one call: JSON in, JSON out, and nothing left behind."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from coilclaw.sdk import ToolContext, ToolFailure
from coilclaw.sdk.errors import RESERVED_CODES
from coilclaw.sdk.legible import text_of
from coilclaw.workspace_tools.supervision import supervised_command

__all__ = ["Program", "Programs"]

_MOST_OUTPUT_BYTES: Final = 4 * 1024 * 1024
_KEPT_ERROR_BYTES: Final = 2_000
_POLL_SECONDS: Final = 0.02
_EXIT_POLL_SECONDS: Final = 0.001
_ENDING_SECONDS: Final = 10.0


class Programs:
    """The programs that run at the moment, of all plugins that were loaded together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[_Supervised] = set()

    def start(self, command: list[str], folder: Path, environment: Mapping[str, str]) -> _Supervised:
        with self._lock:
            supervised = _Supervised(command, folder, environment)
            self._running.add(supervised)
        return supervised

    def end(self, supervised: _Supervised) -> None:
        with self._lock:
            self._running.discard(supervised)
            supervised.end()

    def stop(self) -> None:
        """End every program that still runs, and with it the call it was started for."""
        with self._lock:
            for each in self._running:
                each.end()


@dataclass(frozen=True, kw_only=True)
class Program:
    """A command of a plugin, started once for each call."""

    tool_id: str
    command: tuple[str, ...]
    folder: Path
    path: str
    seconds: float
    programs: Programs

    def run(self, input: Mapping[str, Any], ctx: ToolContext) -> Any:
        """The value of the program's answer; `ToolFailure` for everything else."""
        request = {
            "tool": self.tool_id.split(".", 1)[1],
            "input": input,
            "context": {
                "run_id": ctx.run_id,
                "call_id": ctx.call_id,
                "idempotency_key": ctx.idempotency_key,
                "workspace": str(ctx.workspace),
            },
        }
        supervised = self._started(ctx)
        try:
            exchange = _Exchange(supervised.process, json.dumps(request).encode())
            self._wait(exchange, ctx)
        finally:
            self.programs.end(supervised)
            ending = supervised.wait()
        if isinstance(ending, str):
            raise self._not_started(ending)
        return self._value(exchange, ending)

    def _not_started(self, problem: str) -> ToolFailure:
        return ToolFailure(
            f"{self.tool_id} could not be started: {problem}",
            code="plugin_not_started",
            hint="the operator has to look at the plugin's command",
        )

    def _started(self, ctx: ToolContext) -> _Supervised:
        program = self.command[0]
        own = self.folder / program
        command = [str(own) if own.is_file() else program, *self.command[1:]]
        # Without the second, a Python program would change its own folder, and with it the tool's version.
        environment = {"PATH": self.path, "PYTHONDONTWRITEBYTECODE": "1", **ctx.secrets}
        try:
            return self.programs.start(command, self.folder, environment)
        except (OSError, ValueError) as error:
            raise self._not_started(getattr(error, "strerror", None) or str(error)) from None

    def _wait(self, exchange: _Exchange, ctx: ToolContext) -> None:
        remaining = ctx.remaining_seconds
        seconds = self.seconds if remaining is None else min(self.seconds, remaining)
        ends = time.monotonic() + seconds
        while not exchange.over:
            exchange.step(_POLL_SECONDS)
            if exchange.too_much:
                raise ToolFailure(f"{self.tool_id} wrote more than {_MOST_OUTPUT_BYTES} bytes", code="plugin_too_much")
            if ctx.cancelled:
                raise ToolFailure(f"{self.tool_id} was stopped because its run ended", code="cancelled")
            if time.monotonic() >= ends:
                raise ToolFailure(
                    f"{self.tool_id} did not finish within {seconds:g} s and was stopped; what it did is unknown"
                    + exchange.complaint,
                    code="plugin_timeout",
                    hint="its manifest may allow more with timeout = …" if seconds == self.seconds else None,
                )

    def _value(self, exchange: _Exchange, status: int) -> Any:
        answer: Any = None
        with contextlib.suppress(ValueError, RecursionError):
            answer = json.loads(exchange.output, parse_constant=_no_constant)
        if isinstance(answer, dict) and answer.get("ok") is False:
            raise self._failure(answer)
        if status != 0:
            ended = f"signal {-status}" if status < 0 else f"exit status {status}"
            raise ToolFailure(f"{self.tool_id} ended with {ended}{exchange.complaint}", code="plugin_failed")
        if not isinstance(answer, dict) or answer.get("ok") is not True or set(answer) - {"ok", "value"}:
            raise ToolFailure(
                f"{self.tool_id} did not answer with one JSON object{exchange.complaint}",
                code="plugin_answer",
                hint='a plugin writes {"ok": true, "value": …} or {"ok": false, "code": …, "message": …}',
            )
        return answer.get("value")

    def _failure(self, answer: Mapping[str, Any]) -> ToolFailure:
        code = text_of(answer.get("code") or "tool_failed", 60)
        if not code.replace("_", "a").isalnum() or not code.isascii():
            code = "tool_failed"
        message = text_of(answer.get("message") or f"{self.tool_id} failed without saying why", 2_000)
        hint = answer.get("hint")
        # Otherwise the runtime's own words would be in the mouth of a program.
        own = code in RESERVED_CODES or code.startswith("plugin_")
        return ToolFailure(message, code=f"plugin_{code}" if own else code, hint=text_of(hint, 500) if hint else None)


class _Supervised:
    """A program that runs, and the means to end it together with everything it started."""

    def __init__(self, command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
        given, self._control = os.pipe()
        self._status, told = os.pipe()
        line = supervised_command(given, told, command)
        # Elsewhere than on Linux there is nobody who finds processes that left the group.
        self._supervised = line is not command
        try:
            self.process = subprocess.Popen(  # noqa: S603
                line,
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                close_fds=True,
                pass_fds=(given, told) if self._supervised else (),
                start_new_session=True,
            )
        except BaseException:
            os.close(self._control)
            os.close(self._status)
            raise
        finally:
            os.close(given)
            os.close(told)
        self._ended = False

    def end(self) -> None:
        """Have everything end; under the lock, since it may be asked for twice at once."""
        if not self._ended:
            self._ended = True
            os.close(self._control)
            if not self._supervised:
                self._kill()

    def wait(self) -> int | str:
        """How the program ended, as an exit status, or why it could not be started."""
        try:
            self.process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            _close(pipe)
        told: list[dict[str, Any]] = []
        os.set_blocking(self._status, False)
        with contextlib.suppress(BlockingIOError), os.fdopen(self._status, "rb") as status:
            told = [json.loads(line) for line in (status.read() or b"").splitlines()]
        problem = next((each["problem"] for each in told if "problem" in each), None)
        code = next((each["code"] for each in told if "code" in each), self.process.returncode)
        return str(problem) if problem is not None else int(code)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)


class _Exchange:
    """The three pipes of a running program, moved along without ever blocking on one of them."""

    def __init__(self, process: subprocess.Popen[bytes], request: bytes) -> None:
        self._process = process
        self._left = memoryview(request)
        self._output = bytearray()
        self._error = bytearray()
        self._selector = selectors.DefaultSelector()
        for pipe, event in (
            (process.stdin, selectors.EVENT_WRITE),
            (process.stdout, selectors.EVENT_READ),
            (process.stderr, selectors.EVENT_READ),
        ):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, event)
        self._ended = False

    @property
    def over(self) -> bool:
        """The program is gone and what it wrote has been read. Children that hold its pipes are not waited for."""
        if self._ended:
            self._selector.close()
        return self._ended

    @property
    def too_much(self) -> bool:
        return len(self._output) > _MOST_OUTPUT_BYTES

    @property
    def output(self) -> bytes:
        return bytes(self._output)

    @property
    def complaint(self) -> str:
        """The end of what the program wrote to standard error."""
        text = self._error.decode("utf-8", "replace").strip()
        return f"; it said: {text[-_KEPT_ERROR_BYTES:]}" if text else ""

    def step(self, seconds: float) -> None:
        gone = _has_ended(self._process)
        ready = self._selector.select(0 if gone else seconds) if self._selector.get_map() else []
        moved = False
        for key, _ in ready:
            moved = self._move(key.fileobj) or moved
        if not gone and not self._selector.get_map():
            time.sleep(_EXIT_POLL_SECONDS)
        # What was in the pipes when it ended is read; what its children add later is not.
        self._ended = gone and (not moved or self.too_much)

    def _move(self, pipe: Any) -> bool:
        if pipe is self._process.stdin and self._process.stdin is not None:
            self._feed(self._process.stdin)
            return False
        try:
            data = pipe.read(65536)
        except OSError:
            data = b""
        if data is None:
            return False
        if not data:
            self._selector.unregister(pipe)
            return False
        if pipe is self._process.stdout:
            self._output += data
        else:
            self._error = (self._error + data)[-4 * _KEPT_ERROR_BYTES :]
        return True

    def _feed(self, pipe: IO[bytes]) -> None:
        try:
            self._left = self._left[os.write(pipe.fileno(), self._left[:65536]) :]
        except BlockingIOError:
            return
        except OSError:
            self._left = self._left[:0]  # It does not want its input, which is its own affair.
        if not self._left:
            self._selector.unregister(pipe)
            _close(pipe)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Without reaping it where that is possible: until then nobody else can get its number, and its group with it."""
    if sys.platform == "linux":
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return process.poll() is not None


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        with contextlib.suppress(OSError):
            pipe.close()


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")
