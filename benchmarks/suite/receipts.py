"""What evidence costs: durable appends, many callers at once, and the replay of a chain."""

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from coilclaw.receipts import Draft, ReceiptLog, now
from coilclaw.runs import MIGRATIONS
from coilclaw.store import Database
from suite.runtime import KEY
from suite.stopwatch import seconds_of

__all__ = ["ReceiptProbe"]

_CALLERS: Final = 16
_APPENDS_OF_EACH: Final = 20
_BATCHES: Final = 8
_BATCH: Final = 10


def _drafts() -> tuple[Draft, Draft]:
    """The two receipts that are on disk before a tool that writes may run."""
    requested = Draft(
        type="tool.call.requested",
        status="pending",
        timestamp=now(),
        run_id="run-1a1e2561488",
        tool_call_id="call-1a1e2561488-1",
        tool="files.write",
        tool_version="sha256:" + "a" * 32,
        risk="write",
        args_hash="a" * 64,
        payload={"line": 3, "number": 1},
    )
    return requested, requested._replace(type="tool.call.started", status="allowed", payload={})


class ReceiptProbe:
    """Two logs on disk: one that is appended to, one with a chain that is long enough to replay."""

    def __init__(self, folder: Path, chain_length: int) -> None:
        self._stack = ExitStack()
        self._log = self._open(folder / "appends.db")
        self._chain = self._open(folder / "chain.db")
        for _ in range(chain_length // 2):
            self._chain.append_relaxed(*_drafts())
        self._chain.flush()
        self._log.append(*_drafts())
        self._bytes = b"".join(self._log.export())
        self._raw = os.open(folder / "raw.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        self._stack.callback(os.close, self._raw)

    def _open(self, path: Path) -> ReceiptLog:
        return self._stack.enter_context(ReceiptLog(self._stack.enter_context(Database(path, MIGRATIONS)), KEY))

    def durable_append(self) -> dict[str, float]:
        """Seconds for two receipts on disk, and for a bare write and sync of their bytes, in turns."""
        ours = raw = 0.0
        for _ in range(_BATCHES):
            raw += seconds_of(lambda: self._write_raw(_BATCH))
            ours += seconds_of(lambda: self._append(_BATCH))
        return {"coilclaw": ours / _BATCHES / _BATCH, "write + fsync": raw / _BATCHES / _BATCH}

    def _write_raw(self, times: int) -> None:
        for _ in range(times):
            os.write(self._raw, self._bytes)
            os.fsync(self._raw)

    def concurrent_append(self) -> dict[str, float]:
        """Seconds for one durable append when one thread appends, and when many do."""
        total = _CALLERS * _APPENDS_OF_EACH
        half = total // 4
        before = seconds_of(lambda: self._append(half))
        together = self._together()
        after = seconds_of(lambda: self._append(half))
        return {"1 caller": (before + after) / (2 * half), f"{_CALLERS} callers": together / total}

    def _append(self, times: int) -> None:
        for _ in range(times):
            self._log.append(*_drafts())

    def _together(self) -> float:
        gate = threading.Barrier(_CALLERS + 1)

        def caller() -> None:
            gate.wait()
            self._append(_APPENDS_OF_EACH)

        threads = [threading.Thread(target=caller) for _ in range(_CALLERS)]
        for thread in threads:
            thread.start()
        gate.wait()
        began = time.perf_counter()
        for thread in threads:
            thread.join()
        return time.perf_counter() - began

    def verification(self) -> dict[str, float]:
        """Seconds for each receipt of a chain that is replayed from the database."""
        began = time.perf_counter()
        found = self._chain.verify()
        seconds = time.perf_counter() - began
        if not found.ok:
            raise RuntimeError(f"the chain does not hold: {found.problem}")
        return {"coilclaw": seconds / found.count}

    def close(self) -> None:
        self._stack.close()
