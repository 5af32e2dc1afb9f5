"""The restricted engine: native Python under a language policy, in a confined process of its own for each run."""

from __future__ import annotations

import json
import logging
import math
import platform
import signal
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, Final

from coilclaw.sandbox.deadline import POLL_SECONDS, Deadline
from coilclaw.sandbox.engine import Host, Pins, Snippet, run_request
from coilclaw.sandbox.errors import EngineUnavailable
from coilclaw.sandbox.limits import Limits
from coilclaw.sandbox.outcomes import Crashed, Outcome, OutOfMemory, Rejected, TimedOut
from coilclaw.sandbox.report import concluded, reported_outcome, unusable
from coilclaw.sandbox.restricted.child.requests import OUT_OF_MEMORY_EXIT
from coilclaw.sandbox.restricted.warm_parent import Allowance, Child, ChildEnded, WarmParent
from coilclaw.sandbox.threads import ExpendableThreads

__all__ = ["Conversation", "RestrictedEngine"]

_logger = logging.getLogger(__name__)
_LONGEST: Final = 2**63
_SPARE_CPU_SECONDS: Final = 5
"""The deadline ends a run; the child's own limit only stands behind it, should the host hang."""


class RestrictedEngine:
    """Runs snippets in confined children of a warm parent. Thread-safe: runs on different threads run in parallel."""

    name = "restricted"

    def __init__(self, *, require: Collection[str] = (), off: Collection[str] = (), spares: int = 0) -> None:
        self._require = frozenset(require)
        self._threads = ExpendableThreads()
        self.parent = WarmParent(off, spares=spares)
        self.parent.start()  # It gets warm while the host does other things.
        release = version("RestrictedPython")
        self.build = f"restricted by RestrictedPython {release} on Python {platform.python_version()}"

    def execute(self, snippet: Snippet, limits: Limits, host: Host, deadline: Deadline, pins: Pins) -> Outcome:
        """Run one snippet in a child of its own and say how it ended."""
        if problem := unusable(snippet, limits):
            return Rejected(error=problem)
        job = partial(self._run, run_request(snippet, pins).encode(), limits, host, deadline, pins)
        return concluded(lambda: self._threads.run_deep(job, deadline))

    def _run(self, request: bytes, limits: Limits, host: Host, deadline: Deadline, pins: Pins) -> Outcome:
        cpu_seconds = math.ceil(limits.seconds) + _SPARE_CPU_SECONDS
        allowance = Allowance(memory_bytes=limits.memory_bytes, cpu_seconds=cpu_seconds)
        if self.parent.warm_up():
            deadline.restart()  # Starting the parent is not the run's time.
        try:
            with self.parent.take(allowance) as child:
                conversation = Conversation(child, host, deadline, pins)
                self._check_layers(conversation.layers())
                child.send(request, deadline)
                return reported_outcome(conversation.until_the_end(), limits)
        except ChildEnded as ended:
            return _ended(ended.how, limits)
        finally:
            self.parent.prepare(allowance)

    def _check_layers(self, layers: frozenset[str]) -> None:
        """Before the snippet is handed over: the child says which layers hold it, and no hostile line has run in it."""
        if missing := sorted(self._require - layers):
            raise EngineUnavailable(
                f"the restricted engine must have {', '.join(missing)}, which this machine cannot give",
                hint="`coilclaw doctor` says why; change [sandbox.restricted] require, or use the wasm engine",
            )

    def close(self) -> None:
        self.parent.close()
        self._threads.close()


@dataclass(frozen=True)
class Conversation:
    """Answers what a child asks. Every frame is checked as if an attacker had written it."""

    child: Child
    host: Host
    deadline: Deadline
    pins: Pins

    def layers(self) -> frozenset[str]:
        header, content = self.child.receive(self.deadline)
        if header[:1] != ["ready"]:
            raise _broken(content)
        return frozenset(str(name) for name in header[1:])

    def until_the_end(self) -> str:
        """Serve the child until it reports its outcome."""
        child, deadline = self.child, self.deadline
        while True:
            header, content = child.receive(deadline)
            deadline.end_if_over()
            try:
                match header:
                    case ["call", str(tool), int(line)]:
                        answer = self.host.call(tool, content, _line(line))
                    case ["write", int(stream)]:
                        self.host.write(stream, _text(content))
                        continue
                    case ["end"]:
                        return content.decode()
                    case _:
                        answer = self._seldom(header, content)
            except UnicodeDecodeError:
                raise ChildEnded({"protocol": "text that is not UTF-8"}) from None
            child.send(answer, deadline)

    def _seldom(self, header: list[Any], content: bytes) -> bytes:
        match header:
            case ["begin", str(tool), int(line)]:
                return b"%d" % self.host.begin(tool, content, _line(line))
            case ["wait" | "sleep", int(nanoseconds)] if not -1 <= nanoseconds < _LONGEST:
                raise ChildEnded({"protocol": "a time that is no time"})
            case ["wait", int(nanoseconds)]:
                return self.host.wait(None if nanoseconds < 0 else nanoseconds / 1e9)
            case ["preflight"]:
                return self.host.preflight(content)
            case ["wall"]:
                return b"%d" % self.pins.wall_clock()
            case ["monotonic"]:
                return b"%d" % self.pins.monotonic_clock()
            case ["broken"]:
                raise _broken(content)
            case ["sleep", int(nanoseconds)]:
                self._sleep(self.pins.asleep(nanoseconds) / 1e9)
                return b"null"
        raise ChildEnded({"protocol": "a request that does not exist"})

    def _sleep(self, left: float) -> None:
        pause = threading.Event()
        while left > 0:
            self.deadline.end_if_over()
            step = min(left, POLL_SECONDS, self.deadline.remaining)
            pause.wait(step)
            left -= step


def _broken(account: bytes) -> ChildEnded:
    """The sandbox's own code failed, or a snippet says so: what it says goes to the log, as text."""
    _logger.error("a child of the restricted engine failed: %r", account[:4000].decode(errors="replace"))
    return ChildEnded({"broken": True})


def _line(number: int) -> int:
    return number if 0 <= number < 2**31 else 0


def _text(content: bytes) -> str:
    try:
        # Nothing but a string is parsed: other JSON takes many times its size.
        text = json.loads(content) if content.startswith(b'"') else None
    except (ValueError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise ChildEnded({"protocol": "output that is not text"})
    # Lone surrogates are valid JSON, and nothing a terminal or a file could take.
    return text.encode("utf-8", "backslashreplace").decode()


_SIGNALS: Final[dict[int, Callable[[Limits], Outcome]]] = {
    signal.SIGXCPU: lambda limits: TimedOut(seconds=limits.seconds),
    signal.SIGSYS: lambda limits: Crashed(
        reason="the snippet used a part of the operating system that the sandbox does not have",
        hint="files, network and processes are reached through `tools` only",
    ),
    signal.SIGSEGV: lambda limits: Crashed(reason="the stack of the sandbox was exhausted", hint="recurse less deeply"),
    signal.SIGKILL: lambda limits: Crashed(reason="the sandbox's process was killed from outside"),
}


def _ended(how: dict[str, Any], limits: Limits) -> Outcome:
    if "protocol" in how:
        return Crashed(reason=f"the sandbox broke its protocol: {how['protocol']}")
    if "broken" in how:
        return Crashed(reason="the interpreter of the sandbox failed", hint="this is a bug in CoilClaw; see the log")
    if how.get("code") == OUT_OF_MEMORY_EXIT:
        return OutOfMemory(memory_bytes=limits.memory_bytes)
    number = how.get("signal")
    if number in _SIGNALS:
        return _SIGNALS[number](limits)
    if number is not None:
        return Crashed(reason=f"the sandbox's process ended by signal {number}")
    if "silent" in how:
        return Crashed(reason="the sandbox closed the conversation")
    if how:
        return Crashed(reason="the snippet ended the interpreter", hint="return from the snippet instead")
    return Crashed(reason="the parent process of the sandbox ended")
