"""The restricted engine: native Python under a language policy, in a confined process of its own for each run."""

from __future__ import annotations

import math
import platform
import signal
from collections.abc import Callable, Collection
from functools import partial
from importlib.metadata import version
from typing import Any, Final

from coilclaw.sandbox.channel import ChildEnded
from coilclaw.sandbox.conversation import Conversation
from coilclaw.sandbox.deadline import Deadline
from coilclaw.sandbox.engine import Host, Pins, Snippet, run_request
from coilclaw.sandbox.errors import EngineUnavailable
from coilclaw.sandbox.limits import Limits
from coilclaw.sandbox.outcomes import Crashed, Outcome, OutOfMemory, Rejected, TimedOut
from coilclaw.sandbox.report import concluded, reported_outcome, unusable
from coilclaw.sandbox.restricted.child.requests import OUT_OF_MEMORY_EXIT
from coilclaw.sandbox.restricted.warm_parent import Allowance, WarmParent
from coilclaw.sandbox.threads import ExpendableThreads

__all__ = ["RestrictedEngine"]

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
