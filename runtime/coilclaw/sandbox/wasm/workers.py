"""Worker processes, from the host's side: guests of several runs at once, without one memory map for all of them.

Making and closing a guest changes the memory map of its process, which its threads do one after the other, on every
processor. Guests in processes of their own do not wait for each other.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final

from coilclaw.sandbox.channel import Channel, ChildEnded
from coilclaw.sandbox.child_process import start_child_process
from coilclaw.sandbox.conversation import Conversation, broken
from coilclaw.sandbox.deadline import Deadline
from coilclaw.sandbox.engine import Host, Pins
from coilclaw.sandbox.outcomes import RunEnded
from coilclaw.sandbox.wasm.guest import GuestTrap
from coilclaw.sandbox.wasm.worker import LARGEST_FRAME, REQUEST

__all__ = ["Worker", "Workers"]

_logger = logging.getLogger(__name__)
_STOP_SECONDS: Final = 0.25
_PATIENCE_SECONDS: Final = 0.25
"""How long a run waits for a worker that computes. Longer is no gain: it could run here meanwhile."""
_CALLING_SECONDS: Final = 0.01
"""A worker whose guest has waited this long for a tool is not about to be free."""
_LOST_SECONDS: Final = 1.0
_RETRY_SECONDS: Final = 10.0
"""How long no other worker is started after one could not be. Runs take place in this process meanwhile."""
_BOOT: Final = "import json, sys; settings = json.loads(sys.argv[1]); sys.path[:] = settings['path']; "
_MAIN: Final = "from coilclaw.sandbox.wasm.worker import main; main(settings['channel'], settings['cache'])"


class Worker(Channel):
    """One process that runs one guest at a time."""

    frame_limit = header_limit = LARGEST_FRAME

    def __init__(self, cache: Path) -> None:
        path = [str(Path(entry).resolve()) for entry in sys.path]
        settings = {"cache": str(cache.resolve()), "path": path}
        self._process, channel = start_child_process("-c", _BOOT + _MAIN, settings=settings, environment={})
        super().__init__(channel)
        self.pid = self._process.pid
        self._deadline = Deadline(0)
        self._calling_since: float | None = None
        """When the host began to answer the guest; None while the guest computes."""
        self._rests = True

    def run(self, request: str, memory_bytes: int, host: Host, deadline: Deadline, pins: Pins) -> str:
        """Run a request to its end, as `Guest.run` does. Raises ChildEnded if the process does not survive it."""
        head = REQUEST.pack(memory_bytes, len(pins.seed)) + pins.seed
        self._deadline, self._rests = deadline, False
        self.send(head + request.encode(), deadline)
        try:
            return Conversation(self, host, deadline, pins).until_the_end()
        except ChildEnded:
            self._rests = False  # Whatever it said: it is not given another run.
            raise
        except BaseException:
            self._stop()
            raise

    def receive(self, deadline: Deadline) -> tuple[list[Any], bytes]:
        self._calling_since = None
        header, content = super().receive(deadline)
        self._rests = header[:1] in (["end"], ["trap"], ["stopped"])
        self._calling_since = None if self._rests else time.monotonic()
        if header == ["trap"]:
            raise GuestTrap(content.decode(errors="replace"))
        return header, content

    def _stop(self) -> None:
        """End the guest if it still runs. A process that does not obey in time is not usable any more."""
        grace = Deadline(_STOP_SECONDS)
        with suppress(ChildEnded, GuestTrap, RunEnded):
            if not self._rests:
                self.send(b"", grace)
            while not self._rests:
                grace.end_if_over()
                self.receive(grace)

    def is_ready(self, build: str) -> bool:
        """Whether the process has loaded this build of the guest. Raises ChildEnded if it did not come that far."""
        if not self.has_spoken(0):
            return False
        header, content = self.receive(Deadline(1.0))
        self._rests = True
        if header != ["ready", build]:
            raise broken(content)
        return True

    @property
    def is_usable(self) -> bool:
        """Whether it can be given another run."""
        # One that speaks unasked is no longer what was started; the end of one that died can be read, too.
        return self._rests and not self.has_spoken(0)

    @property
    def is_free_soon(self) -> bool:
        """Whether its run makes progress, rather than wait for a tool."""
        since = self._calling_since
        return since is None or time.monotonic() - since < _CALLING_SECONDS

    @property
    def is_lost(self) -> bool:
        """Whether its run is over but the host's thread still hangs in a tool."""
        since = self._calling_since
        return self._deadline.over and since is not None and time.monotonic() - since > _LOST_SECONDS

    def end(self) -> dict[str, Any]:
        with suppress(subprocess.TimeoutExpired):
            return {"code": self._process.wait(timeout=1)}
        return {}

    def close(self) -> None:
        super().close()
        self.kill()

    def kill(self) -> None:
        """End the process, but not the conversation: somebody else may be waiting in it."""
        self._process.kill()
        self._process.wait()


class Workers:
    """The worker processes of one engine. They are started when they are first needed, and kept. Thread-safe."""

    def __init__(self, cache: Path, most: int, build: str) -> None:
        self._cache = cache
        self._most = most
        self._build = build
        self._lock = threading.Lock()
        self._starting: list[Worker] = []
        self._idle: deque[Worker] = deque()
        self._busy: set[Worker] = set()
        self._waiting: deque[SimpleQueue[Worker]] = deque()
        """The places of runs that wait for a worker, each given one at most."""
        self._failed = float("-inf")
        """When a worker could not be started."""
        self._closed = False

    @property
    def pids(self) -> set[int]:
        """The processes, while there are some."""
        with self._lock:
            return {worker.pid for worker in (*self._starting, *self._idle, *self._busy)}

    def take(self) -> Worker | None:
        """A worker for one run; None if there is none soon. In the order in which runs come."""
        if not self._most:
            return None
        with self._lock:
            for worker in [each for each in self._busy if each.is_lost]:
                self._busy.remove(worker)
                worker.kill()
            self._look_at_starting()
            self._start_one()
            while self._idle:
                worker = self._idle.popleft()  # It has had the most time to make its next guest.
                if worker.is_usable:
                    self._busy.add(worker)
                    return worker
                worker.close()
            place: SimpleQueue[Worker] = SimpleQueue()
            self._waiting.append(place)
        ends = time.monotonic() + _PATIENCE_SECONDS
        while True:
            with suppress(Empty):
                return place.get(timeout=_CALLING_SECONDS)
            with self._lock:
                patient = time.monotonic() < ends and any(worker.is_free_soon for worker in self._busy)
                if not patient and place in self._waiting:
                    self._waiting.remove(place)
                    return None

    def give_back(self, worker: Worker) -> None:
        """The run is over. A worker that did not survive it is replaced when the next one is needed."""
        with self._lock:
            keep = worker.is_usable and not self._closed
            if keep and self._waiting:
                self._waiting.popleft().put(worker)
                return
            self._busy.discard(worker)
            if keep:
                self._idle.append(worker)
        if not keep:
            worker.close()

    def wait_until_ready(self, seconds: float = 30.0) -> bool:
        """Start all workers and wait for them; False if that did not succeed."""
        with self._lock:
            while self._start_one():
                pass
            starting = list(self._starting)
        ready = all(worker.has_spoken(seconds) for worker in starting)
        with self._lock:
            self._look_at_starting()
            return ready and len(self._idle) + len(self._busy) == self._most > 0

    def _start_one(self) -> bool:
        count = len(self._starting) + len(self._idle) + len(self._busy)
        if self._closed or count >= self._most or time.monotonic() - self._failed < _RETRY_SECONDS:
            return False
        try:
            self._starting.append(Worker(self._cache))
            return True
        except OSError as error:
            _logger.warning("a worker of the wasm engine cannot be started: %s", error)
            self._failed = time.monotonic()
            return False

    def _look_at_starting(self) -> None:
        for worker in list(self._starting):
            try:
                if not worker.is_ready(self._build):
                    continue
                self._idle.append(worker)
            except (ChildEnded, RunEnded):
                worker.close()
                self._failed = time.monotonic()
            self._starting.remove(worker)

    def close(self) -> None:
        """End all processes, and with them the runs that are still under way there."""
        with self._lock:
            self._closed = True
            unused, busy = [*self._idle, *self._starting], list(self._busy)
            self._idle.clear()
            self._starting.clear()
        for worker in unused:
            worker.close()
        for worker in busy:
            worker.kill()
