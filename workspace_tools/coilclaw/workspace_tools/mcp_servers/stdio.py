"""Talking to a server that is a program of ours: one JSON message on each line.

The `mcp` package has a transport for this too. Ours passes on less of the environment, bounds the length of a
line, keeps what the server says on standard error in a file, and leaves no process behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from coilclaw.workspace_tools.supervision import supervised_command

__all__ = ["Complaints", "program_problem", "stdio_transport"]

MOST_LINE_BYTES: Final = 8 * 1024 * 1024
_MOST_STRAY_LINES: Final = 1_000
_MOST_LOG_BYTES: Final = 256 * 1024
_LONGEST_LOG_LINE: Final = 64 * 1024
_KEPT_BYTES: Final = 600
_GRACE_SECONDS: Final = 0.5
_ENDING_SECONDS: Final = 10.0
_LAST_WORDS_SECONDS: Final = 0.2
_LONGEST_ID: Final = 200
_ID: Final = re.compile(rb'"id"\s*:\s*(\d{1,15})\b')


def program_problem(command: tuple[str, ...], environment: Mapping[str, str]) -> str | None:
    """Why a command cannot be started, as far as that can be seen without starting it."""
    program = command[0]
    if "/" in program and not Path(program).is_absolute():
        return f"{program!r} is relative, but a server is started in a folder of its own; write the whole path"
    if shutil.which(program, path=environment.get("PATH", os.defpath)) is None:
        return f"there is no program {program!r}" + ("" if "/" in program else " on PATH")
    return None


class Complaints:
    """A server's standard error: the beginning in a file, without secrets, and the end at hand for messages."""

    def __init__(self, file: Path, without_secrets: Callable[[str], str]) -> None:
        self._file = file
        self._without_secrets = without_secrets
        self._written = 0
        self._line = b""
        """The beginning of a line: half a secret could not be recognised."""
        self._tail = b""

    def begin(self) -> None:
        self._written, self._line, self._tail = 0, b"", b""
        with contextlib.suppress(OSError):
            self._file.replace(self._file.with_suffix(".log.old"))

    def add(self, data: bytes) -> None:
        self._tail = (self._tail + data)[-4 * _KEPT_BYTES :]
        lines, end, self._line = (self._line + data).rpartition(b"\n")
        self._write(lines + end)
        if len(self._line) > _LONGEST_LOG_LINE:
            self.end()

    def end(self) -> None:
        """Write what is left of a line that has no end."""
        line, self._line = self._line, b""
        self._write(line)

    def _write(self, data: bytes) -> None:
        if self._written >= _MOST_LOG_BYTES:
            return
        kept = self._without_secrets(data.decode("utf-8", "replace")).encode()[: _MOST_LOG_BYTES - self._written]
        self._written += len(kept)
        if kept:
            with contextlib.suppress(OSError):
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
                with os.fdopen(os.open(self._file, flags, 0o600), "ab") as file:
                    file.write(kept)

    @property
    def last_words(self) -> str:
        return self._tail.decode("utf-8", "replace").strip()[-_KEPT_BYTES:]


@asynccontextmanager
async def stdio_transport(
    command: tuple[str, ...],
    environment: Mapping[str, str],
    folder: Path,
    complaints: Complaints,
    ended: Callable[[str], None],
) -> AsyncIterator[Any]:
    """Start a server and give the two streams that an MCP session speaks through.

    `ended` is called with a reason when nothing more will come from it.
    """
    import anyio
    from mcp.shared.message import SessionMessage

    complaints.begin()
    program = await _started(command, environment, folder)
    process = program.process
    to_session, from_server = anyio.create_memory_object_stream[Any](0)
    to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        reason = "it ended"
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with to_session:
                try:
                    reason = await _read_messages(program, to_session.send)
                finally:
                    ended(reason)  # Before the stream closes and calls under way ask what happened.

    async def write() -> None:
        assert process.stdin is not None
        with contextlib.suppress(OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            async with from_session:
                async for message in from_session:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    process.stdin.write(text.encode() + b"\n")
                    await process.stdin.drain()

    silent = anyio.Event()

    async def listen() -> None:
        try:
            await _listen_to_complaints(process, complaints)
        finally:
            silent.set()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            tasks.start_soon(write)
            tasks.start_soon(listen)
            try:
                yield from_server, to_server
            finally:
                with anyio.CancelScope(shield=True):
                    await _stop(program)
                    with anyio.move_on_after(_LAST_WORDS_SECONDS):
                        await silent.wait()
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(program)  # Whatever interrupted the orderly way.
        for stream in (to_session, from_server, to_server, from_session):
            stream.close()
        _close_pipes(process)


class _Program:
    """A server that runs, and the means to end it with everything it started."""

    def __init__(self, process: asyncio.subprocess.Process, control: int | None) -> None:
        self.process = process
        self._control = control
        self._supervised = control is not None

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the whole group; a supervisor passes it on."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def end(self) -> None:
        """Have everything end. May be asked for more than once."""
        if self._control is not None:
            os.close(self._control)
            self._control = None
        elif not self._supervised:
            self.send(signal.SIGKILL)


async def _started(command: tuple[str, ...], environment: Mapping[str, str], folder: Path) -> _Program:
    import anyio

    given, control = os.pipe()
    told = os.open(os.devnull, os.O_WRONLY)  # Why it could not be started, it also says on standard error.
    line = supervised_command(given, told, list(command))
    is_supervised = line != list(command)
    process: asyncio.subprocess.Process | None = None
    try:
        with anyio.CancelScope(shield=True):  # Quick; and half a start would leave a process that nobody knows.
            process = await asyncio.create_subprocess_exec(
                *line,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(environment),
                cwd=folder,
                start_new_session=True,
                pass_fds=(given, told) if is_supervised else (),
                limit=MOST_LINE_BYTES,
            )
    finally:
        os.close(given)
        os.close(told)
        if process is None or not is_supervised:
            os.close(control)
    assert process is not None
    return _Program(process, control if is_supervised else None)


async def _read_messages(program: _Program, deliver: Callable[[Any], Any]) -> str:
    """Pass on every message; the reason why there are no more."""
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    reader = program.process.stdout
    assert reader is not None
    stray = 0
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            program.end()
            return f"it sent a message of more than {MOST_LINE_BYTES} bytes"
        if not line:
            return "it ended"
        try:
            message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            if (failed := _unreadable_answer(line)) is not None:
                await deliver(failed)
                continue
            # Some programs greet people on standard output before they speak the protocol.
            stray += 1
            if stray > _MOST_STRAY_LINES:
                program.end()
                return "it writes lines that are no messages"
            continue
        await deliver(message)


def _unreadable_answer(line: bytes) -> Any | None:
    """An error in place of an answer that cannot be read, so that whoever waits for it hears of it at once."""
    from mcp.shared.message import SessionMessage
    from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError

    number = _answered(line)
    if number is None:
        return None
    error = ErrorData(code=PARSE_ERROR, message="the answer cannot be read")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=number, error=error))


def _answered(line: bytes) -> int | str | None:
    """The request that a line seems to answer."""
    try:
        message = json.loads(line)
    except RecursionError:
        # Too deep to be looked into; who waits for it is written before the result or after it.
        found = _ID.search(line[:_LONGEST_ID]) or _ID.search(line[-_LONGEST_ID:])
        return int(found[1]) if found is not None and line.rstrip().endswith(b"}") else None
    except ValueError:
        return None
    if not isinstance(message, dict) or "method" in message:
        return None
    number = message.get("id")
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None


async def _listen_to_complaints(process: asyncio.subprocess.Process, complaints: Complaints) -> None:
    assert process.stderr is not None
    try:
        while data := await process.stderr.read(65536):
            complaints.add(data)
    finally:
        complaints.end()


async def _stop(program: _Program) -> None:
    """Shut the server down: close its input, send SIGTERM, then end all there is of it."""
    process = program.process
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    if not await _ended(process, _GRACE_SECONDS):
        program.send(signal.SIGTERM)
        await _ended(process, _GRACE_SECONDS)
    await _end(program)


async def _end(program: _Program) -> None:
    """End the server, or those of its children that are left, and wait until nothing is left of it."""
    program.end()
    if not await _ended(program.process, _ENDING_SECONDS):
        program.send(signal.SIGKILL)
        await _ended(program.process, _ENDING_SECONDS)


async def _ended(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Whether it ended within the time. Not `wait`: that also waits for whoever inherited the pipes."""
    ends = asyncio.get_running_loop().time() + seconds
    while process.returncode is None and asyncio.get_running_loop().time() < ends:
        await asyncio.sleep(0.005)
    return process.returncode is not None


def _close_pipes(process: asyncio.subprocess.Process) -> None:
    # A child that left the group may hold the pipes; asyncio would then keep its end open, and complain about it.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        with contextlib.suppress(OSError):
            transport.close()
