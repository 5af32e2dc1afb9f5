"""Calls that a snippet has started, and the answers that have come for them."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Final, NoReturn, Protocol

from coilclaw.sandbox.guest.run_warnings import run_warnings
from coilclaw.sandbox.guest.variables import frames_json
from coilclaw.sdk.result import Err, Ok, UnreadErr
from coilclaw.sdk.typed_values import Record, plan_reader

__all__ = ["SNIPPET_FLAG", "Completions", "Host", "PendingCall", "Waiting", "received"]

SNIPPET_FLAG: Final = "coilclaw_snippet"
WITHDRAWN: Final = "withdrawn"


class Host(Protocol):
    """The functions the host gives to the guest."""

    def call(self, tool: str, input: str, line: int) -> str: ...
    def begin(self, tool: str, input: str, line: int) -> int: ...
    def wait(self, nanoseconds: int) -> str: ...
    def withdraw(self, number: int) -> None: ...
    def linger(self, tasks: str) -> None: ...
    def sleep(self, nanoseconds: int) -> None: ...


_loads: Final = json.loads
_scan = json.JSONDecoder(object_hook=Record).scan_once  # type: ignore[attr-defined]
_SUCCESS: Final = '{"ok":true,"value":'
_TYPES: Final = ',"types":'


def received(answer: str) -> Ok[Any] | Err | None:
    """None when the run, which is only repeated, is to stop here. No answer of a tool has the field `stop`."""
    if answer.startswith(_SUCCESS):
        value, end = _scan(answer, len(_SUCCESS))  # Nearly always: the value alone, without a dict around it.
        return Ok(value if answer[end] == "}" else plan_reader(answer[end + len(_TYPES) : -1])(value))
    fields, _ = _scan(answer, 0)
    if fields["ok"]:
        return Ok(fields["value"])
    if "stop" in fields:
        return None
    kind = UnreadErr if fields["code"] != WITHDRAWN else Err
    return kind(fields["code"], fields["message"], fields.get("hint"))


def _need_room(calls: int = 40) -> None:
    """Raise RecursionError before an answer is taken from the host, and not after, when it would be lost."""
    if calls:
        _need_room(calls - 1)


class Completions:
    """The calls of one run that wait for an answer, and the failures that nobody has looked at."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.pending: dict[int, PendingCall] = {}
        self._failures: list[tuple[Err, str, int]] = []
        self._arrived: deque[tuple[int, str]] = deque()

    def begin(self, tool: str, input: str, line: int) -> PendingCall:
        _need_room()
        number = self.host.begin(tool, input, line)
        if not number:
            self.stop()
        call = PendingCall(self, tool, number, line)
        self.pending[call.number] = call
        return call

    def receive(self, seconds: float | None) -> None:
        """Wait for at least one answer, or until the time has passed."""
        _need_room()
        if not self._arrived:  # Else something failed while the last ones were handed out.
            nanoseconds = -1 if seconds is None else int(seconds * 1e9)
            self._arrived.extend(_loads(self.host.wait(nanoseconds)))
        while self._arrived:
            number, answer = self._arrived[0]
            result = received(answer)
            self._arrived.popleft()
            call = self.pending.pop(number, None)
            if call is not None and result is not None:
                if type(result) is UnreadErr and not call.given_up:
                    self.watch(result, call.tool, call.line)
                call.finish(result)

    def watch(self, failure: UnreadErr, tool: str, line: int) -> None:
        """Remember a failure, so that the end of the run can say that nobody looked at it."""
        if len(self._failures) >= 1000:
            self._failures = [each for each in self._failures if type(each[0]) is UnreadErr][:500]
        self._failures.append((failure, tool, line))

    def warn_of_unread(self) -> None:
        for failure, tool, line in self._failures:
            if type(failure) is UnreadErr:
                text = f"{tool} failed and nobody looked at its Result: {failure.error}"
                run_warnings.add("unread_err", f"{text}; use .unwrap(), or look at .ok", line or None)
        self._failures.clear()

    def stop(self) -> NoReturn:
        """Tell the host where the snippet stands; it ends the run, and does not answer."""
        self.host.call("", frames_json(sys._getframe(1), SNIPPET_FLAG), 0)
        raise SystemExit("the run was stopped")


class _Answer(asyncio.Future[Any]):
    """The future that tasks wait on for a call. Cancelling it is how `asyncio` says that a call was given up."""

    def __init__(self, call: PendingCall) -> None:
        super().__init__(loop=asyncio.get_running_loop())
        self._call = call

    def cancel(self, msg: Any | None = None) -> bool:
        cancelled = super().cancel(msg)
        if cancelled:
            self._call.cancel()
        return cancelled


class PendingCall:
    """A call under way: `.result()` waits for it, and so does `await`."""

    def __init__(self, completions: Completions, tool: str, number: int, line: int = 0) -> None:
        self.number = number
        self.tool = tool
        self.line = line
        self.given_up = False
        self._completions = completions
        self._result: Ok[Any] | Err | None = None
        self._future: _Answer | None = None
        self._told: list[Callable[[Ok[Any] | Err], object]] = []

    def tell(self, listener: Callable[[Ok[Any] | Err], object]) -> None:
        """Call a function with the result, once it is there."""
        self._told.append(listener)

    def finish(self, result: Ok[Any] | Err) -> None:
        self._result = result
        if self._future is not None and not self._future.done():
            self._future.set_result(result)
        for tell in self._told:
            tell(result)
        if self.given_up and not (type(result) is Err and result.code == WITHDRAWN):
            ended = "succeeded" if result else f"failed: {result.error}"
            told = f"{self.tool} had started when the snippet cancelled it, and {ended}"
            run_warnings.add("cancelled_late", told, self.line or None)

    @property
    def done(self) -> bool:
        return self._result is not None

    def cancel(self) -> bool:
        """Withdraw the call, unless its tool has started by then."""
        if self._result is not None or self.given_up:
            return False
        self.given_up = True
        self._completions.host.withdraw(self.number)
        return True

    def result(self) -> Ok[Any] | Err:
        while self._result is None:
            self._completions.receive(None)
        return self._result

    def future(self) -> _Answer:
        """The future that stands for the call on the loop that runs."""
        future = self._future
        if future is None or future.cancelled() or future.get_loop() is not asyncio.get_running_loop():
            future = self._future = _Answer(self)
            if self._result is not None:
                future.set_result(self._result)
        return future

    def __await__(self) -> Generator[Any, Any, Ok[Any] | Err]:
        if self._result is None:
            yield from self.future()
        return self.result()

    def __getattr__(self, name: str) -> NoReturn:
        hint = "" if name.startswith("__") else ": the call is under way; .result() or `await` gives its Result"
        raise AttributeError(f"'PendingCall' object has no attribute '{name}'{hint}")

    def __getitem__(self, key: Any) -> NoReturn:
        raise TypeError("'PendingCall' object is not subscriptable: .result() or `await` gives its Result")

    def __repr__(self) -> str:
        return f"<call {self.number} of {self.tool}: {'done' if self.done else 'pending'}>"


class Waiting(Coroutine[Any, Any, Any]):
    """Something awaitable as a task can run it. A task that is cancelled before its first step gives a call up too."""

    def __init__(self, awaited: Any) -> None:
        self._awaited = awaited
        self._steps: Generator[Any, Any, Any] | None = None

    def send(self, value: Any) -> Any:
        if self._steps is None:
            self._steps = self.__await__()
        return self._steps.send(value)

    def throw(self, *error: Any) -> Any:
        if self._steps is not None:
            return self._steps.throw(*error)
        self.close()
        raise error[0]

    def close(self) -> None:
        if self._steps is not None:
            self._steps.close()
        elif isinstance(self._awaited, PendingCall):
            self._awaited.cancel()

    def __await__(self) -> Generator[Any, Any, Any]:
        return (yield from self._awaited.__await__())
