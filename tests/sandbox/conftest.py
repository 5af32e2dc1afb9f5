"""What the sandbox tests share: the engines under test, a host in memory, and one way to run a snippet."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import pytest
from tests.conftest import cache_folder
from tests.sampling import EVERYTHING

from coilclaw.sandbox import (
    POLL_SECONDS,
    Cancelled,
    Completed,
    Crashed,
    Deadline,
    Engine,
    Failed,
    Limits,
    Outcome,
    OutputExceeded,
    Pins,
    Rejected,
    RunEnded,
    Snippet,
    TimedOut,
)
from coilclaw.sandbox.restricted import RestrictedEngine
from coilclaw.sandbox.wasm import WasmEngine
from coilclaw.sdk.result import ToolCallError

Tool = Callable[..., Any]

MIB = 1024 * 1024

ENGINES: dict[str, Callable[[], Engine]] = {
    "restricted": lambda: RestrictedEngine(spares=1),
    "wasm": lambda: WasmEngine(cache_folder(), pool=2),
    "workers": lambda: engine_with_a_worker(),
}
TRIED = sorted(ENGINES) if EVERYTHING else ["restricted", "wasm"]
"""A guest is the same in a worker: what it does there is tried as a whole only when everything is."""


def engine_with_a_worker() -> WasmEngine:
    """The wasm engine, with every guest in another process."""
    engine = WasmEngine(cache_folder(), workers=1)
    assert engine.workers.wait_until_ready()
    return engine


@pytest.fixture(scope="session", params=TRIED)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Every engine passes the same tests; the tests of one session share one engine, as runs of one process do."""
    made = ENGINES[request.param]()
    yield made
    made.close()


@dataclass(frozen=True)
class Call:
    """One call as it reached the host; `input` is None when it was not JSON."""

    tool: str
    input: Any
    line: int


class RecordingHost:
    """A bridge in memory: tools are Python functions, and everything that crosses is kept."""

    def __init__(self, tools: Mapping[str, Tool], deadline: Deadline, output_bytes: int) -> None:
        self.calls: list[Call] = []
        self.previewed: list[Any] = []
        self.crossed: list[str] = []
        """What was written and which tools were called, in the order in which it reached the host."""
        self.withdrawn: list[int] = []
        self.lingering: list[str] = []
        self.unread: set[int] = set()
        """Begun calls whose answers the sandbox has not taken."""
        self._tools = tools
        self._deadline = deadline
        self._output_bytes = output_bytes
        self._written: list[tuple[int, str]] = []
        self._size = 0
        self._answered = threading.Condition()
        self._answers: dict[int, bytes] = {}
        self._numbers = 0

    def preflight(self, calls: bytes) -> bytes:
        self.previewed.append(_parsed(calls))
        return b"[]"

    def call(self, tool: str, input: bytes, line: int) -> bytes:
        number = self.begin(tool, input, line)
        with self._answered:
            while number not in self._answers and not self._deadline.over:
                self._answered.wait(POLL_SECONDS)
            self._end_if_over()
            self.unread.discard(number)
            return self._answers.pop(number)

    def begin(self, tool: str, input: bytes, line: int) -> int:
        call = Call(tool, _parsed(input), line)
        self.calls.append(call)
        self.crossed.append(tool)
        self._numbers += 1
        self.unread.add(self._numbers)
        threading.Thread(target=self._perform, args=(self._numbers, call), daemon=True).start()
        return self._numbers

    def wait(self, seconds: float | None) -> bytes:
        with self._answered:
            left = seconds
            while not self._answers and not self._deadline.over and (left is None or left > 0):
                step = POLL_SECONDS if left is None else min(POLL_SECONDS, left)
                self._answered.wait(step)
                left = None if left is None else left - step
            self._end_if_over()
            answers = [[number, answer.decode()] for number, answer in sorted(self._answers.items())]
            self.unread -= self._answers.keys()
            self._answers.clear()
        return json.dumps(answers).encode()

    def withdraw(self, number: int) -> None:
        self.withdrawn.append(number)

    def linger(self, tasks: str) -> None:
        self.lingering.append(tasks)

    def write(self, stream: int, text: str) -> None:
        self._size += len(text.encode())
        if self._size > self._output_bytes:
            raise RunEnded(OutputExceeded(output_bytes=self._output_bytes))
        self._written.append((stream, text))
        self.crossed.append(text)

    @property
    def stdout(self) -> str:
        return "".join(text for stream, text in self._written if stream == 1)

    @property
    def stderr(self) -> str:
        return "".join(text for stream, text in self._written if stream == 2)

    def _perform(self, number: int, call: Call) -> None:
        answer = json.dumps(self._answer(call)).encode()
        with self._answered:
            self._answers[number] = answer
            self._answered.notify_all()

    def _answer(self, call: Call) -> dict[str, Any]:
        tool = self._tools.get(call.tool)
        if tool is None:
            return {"ok": False, "code": "unknown_tool", "message": f"there is no tool {call.tool[:40]}", "hint": None}
        try:
            positional, named = call.input if isinstance(call.input, list) else ((), call.input)
            return {"ok": True, "value": tool(*positional, **named)}
        except ToolCallError as error:
            return {"ok": False, "code": error.code, "message": error.message, "hint": error.hint}
        except (TypeError, ValueError) as error:
            return {"ok": False, "code": "invalid_input", "message": str(error), "hint": None}

    def _end_if_over(self) -> None:
        if self._deadline.cancelled:
            raise RunEnded(Cancelled())
        if self._deadline.expired:
            raise RunEnded(TimedOut(seconds=self._deadline.seconds))


def _parsed(text: bytes) -> Any:
    """What a guest sent. It may have sent anything."""
    try:
        return json.loads(text)
    except ValueError:
        return None


@dataclass(frozen=True)
class Ran:
    """How a run ended and what the host saw of it."""

    outcome: Outcome
    host: RecordingHost

    @property
    def value(self) -> Any:
        assert isinstance(self.outcome, Completed), self.outcome
        return self.outcome.value

    @property
    def stdout(self) -> str:
        return self.host.stdout

    @property
    def stderr(self) -> str:
        return self.host.stderr

    @property
    def calls(self) -> list[Call]:
        return self.host.calls


ENDED = (Completed, Failed, Crashed, Rejected)
"""The ends of a run that neither its limits nor a person brought about."""


def everything(ran: Ran) -> str:
    """All that a run brought out of the sandbox."""
    return f"{ran.outcome!r}{ran.stdout}{ran.stderr}{[call.input for call in ran.calls]!r}"


class Execute(Protocol):
    """Run one snippet on the engine under test; see `Execution` for what may be said about it."""

    def __call__(self, source: str, **options: Any) -> Ran: ...


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The options of one run. Generous where a test does not care, so that a slow machine changes nothing."""

    seconds: float = 20.0
    memory_bytes: int = 256 * MIB
    output_bytes: int = MIB
    source_bytes: int = MIB
    name: str = "snippet.py"
    inputs: Mapping[str, Any] = field(default_factory=dict)
    tools: Mapping[str, Tool] = field(default_factory=dict)
    pins: Pins = field(default_factory=Pins)
    deadline: Deadline | None = None

    def of(self, source: str, engine: Engine) -> Ran:
        deadline = self.deadline or Deadline(self.seconds)
        host = RecordingHost(self.tools, deadline, self.output_bytes)
        limits = Limits(
            seconds=deadline.seconds,
            memory_bytes=self.memory_bytes,
            output_bytes=self.output_bytes,
            source_bytes=self.source_bytes,
        )
        snippet = Snippet(source=source, name=self.name, inputs=self.inputs)
        return Ran(engine.execute(snippet, limits, host, deadline, self.pins), host)


@pytest.fixture
def execute(engine: Engine) -> Execute:
    def run(source: str, **options: Any) -> Ran:
        return Execution(**options).of(source, engine)

    return run


def assert_healthy(execute: Execute) -> None:
    """The engine goes on as if nothing had been."""
    ran = execute("import json\ntools.twice(n=20).value + json.loads('2')", tools={"twice": lambda n: n * 2})
    assert ran.outcome == Completed(value=42)


def ends_with(execute: Execute, kind: type[Any] | tuple[type[Any], ...], source: str, **options: Any) -> Ran:
    ran = execute(source, **options)
    assert isinstance(ran.outcome, kind), ran.outcome
    assert_healthy(execute)
    return ran
