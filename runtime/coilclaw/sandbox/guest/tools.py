"""`tools`: the one thing a snippet can reach."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from types import FrameType
from typing import Any, NoReturn, Protocol

from coilclaw.sandbox.guest.values import arguments_json
from coilclaw.sandbox.guest.variables import frames_json
from coilclaw.sdk.result import Err, Ok
from coilclaw.sdk.typed_values import Record, plan_reader

__all__ = ["Completions", "Host", "PendingCall", "Tools"]

SNIPPET_FLAG = "coilclaw_snippet"


class Host(Protocol):
    """The functions the host gives to the guest."""

    def call(self, tool: str, input: str, line: int) -> str: ...
    def begin(self, tool: str, input: str, line: int) -> int: ...
    def wait(self, nanoseconds: int) -> str: ...
    def sleep(self, nanoseconds: int) -> None: ...


_scan = json.JSONDecoder(object_hook=Record).scan_once  # type: ignore[attr-defined]
_SUCCESS = '{"ok":true,"value":'
_TYPES = ',"types":'


def _result(answer: str) -> Ok[Any] | Err | None:
    """None when the run, which is only repeated, is to stop here. No answer of a tool has the field `stop`."""
    if answer.startswith(_SUCCESS):
        value, end = _scan(answer, len(_SUCCESS))  # Nearly always: the value alone, without a dict around it.
        return Ok(value if answer[end] == "}" else plan_reader(answer[end + len(_TYPES) : -1])(value))
    fields, _ = _scan(answer, 0)
    if fields["ok"]:
        return Ok(fields["value"])
    if "stop" in fields:
        return None
    return Err(fields["code"], fields["message"], fields.get("hint"))


class Completions:
    """Calls that were issued, and the answers that have come for them."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.pending: dict[int, PendingCall] = {}

    def begin(self, tool: str, input: str, line: int) -> PendingCall:
        number = self.host.begin(tool, input, line)
        if not number:
            self.stop()
        call = PendingCall(self, tool, number)
        self.pending[call.number] = call
        return call

    def receive(self, seconds: float | None) -> None:
        """Wait for at least one answer, or until the time has passed."""
        nanoseconds = -1 if seconds is None else int(seconds * 1e9)
        for number, answer in json.loads(self.host.wait(nanoseconds)):
            call = self.pending.pop(number, None)
            result = _result(answer)
            if call is not None and result is not None:
                call.finish(result)

    def stop(self) -> NoReturn:
        """Tell the host where the snippet stands; it ends the run, and does not answer."""
        self.host.call("", frames_json(sys._getframe(1), SNIPPET_FLAG), 0)
        raise SystemExit("the run was stopped")


class PendingCall:
    """A call under way: `.result()` waits for it, and so does `await`."""

    def __init__(self, completions: Completions, tool: str, number: int) -> None:
        self.number = number
        self.tool = tool
        self._completions = completions
        self._result: Ok[Any] | Err | None = None
        self._future: Any = None

    def finish(self, result: Ok[Any] | Err) -> None:
        self._result = result
        if self._future is not None and not self._future.done():
            self._future.set_result(result)

    @property
    def done(self) -> bool:
        return self._result is not None

    def result(self) -> Ok[Any] | Err:
        while self._result is None:
            self._completions.receive(None)
        return self._result

    def __await__(self) -> Generator[Any, Any, Ok[Any] | Err]:
        if self._result is None:
            import asyncio

            if self._future is None:
                self._future = asyncio.get_running_loop().create_future()
            yield from self._future
        return self.result()

    def __repr__(self) -> str:
        return f"<call {self.number} of {self.tool}: {'done' if self.done else 'pending'}>"


class Tools:
    """A path below `tools`. The host alone decides what a path means and whether it may be called."""

    def __init__(self, completions: Completions, path: str = "") -> None:
        self._completions = completions
        self._path = path
        # What crosses, made once for all calls. A component's string has no lone surrogates.
        sent = path if path.isascii() else path.encode("utf-8", "backslashreplace").decode()
        self._starts = sent.endswith(".start")
        self._sent = sent.removesuffix(".start")

    def __getattr__(self, name: str) -> Tools:
        if name.startswith("_"):
            raise AttributeError(name)
        child = Tools(self._completions, f"{self._path}.{name}" if self._path else name)
        self.__dict__[name] = child  # Found without this method the next time.
        return child

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        try:
            input = arguments_json([args, kwargs] if args else kwargs)
        except (TypeError, ValueError, RecursionError) as error:
            # Sent all the same, so that the attempt leaves a receipt.
            input = json.dumps({"": str(error)})
        frame = sys._getframe(1)
        line = frame.f_lineno if SNIPPET_FLAG in frame.f_globals else _snippet_line(frame.f_back)
        if self._starts:
            return self._completions.begin(self._sent, input, line or 0)
        result = _result(self._completions.host.call(self._sent, input, line or 0))
        if result is None:
            self._completions.stop()
        return result

    def __repr__(self) -> str:
        return f"<tools.{self._path}>" if self._path else "<tools>"


def _snippet_line(frame: FrameType | None) -> int | None:
    while frame is not None:
        if SNIPPET_FLAG in frame.f_globals:
            return frame.f_lineno
        frame = frame.f_back
    return None
