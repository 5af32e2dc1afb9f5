"""That a server could not be used, remembered between processes, so that each command does not wait for it again."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from coilclaw.workspace_tools.mcp_servers.listing import write_whole

__all__ = ["Failure", "forget_failure", "read_failure", "write_failure"]

_FIRST_PAUSE_SECONDS: Final = 60.0
_LONGEST_PAUSE_SECONDS: Final = 600.0
_MOST_BYTES: Final = 16 * 1024
_MOST_COUNT: Final = 100


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a server could not be used, when, and how often in a row."""

    problem: str
    at: float
    count: int = 1

    @property
    def seconds_left(self) -> float:
        """How long the server is left alone from now on; longer after each failure."""
        pause = min(_FIRST_PAUSE_SECONDS * 2 ** (self.count - 1), _LONGEST_PAUSE_SECONDS)
        now = time.time()
        # A clock that was set back must not make the pause longer.
        return self.at + pause - now if self.at <= now else 0.0

    @classmethod
    def now(cls, problem: str) -> Failure:
        return cls(problem=problem, at=time.time())

    def again(self, problem: str) -> Failure:
        return Failure(problem=problem, at=time.time(), count=min(self.count + 1, _MOST_COUNT))


def read_failure(file: Path) -> Failure | None:
    """The failure kept in a file; None if there is none, or it is not what we write."""
    try:
        if file.stat().st_size > _MOST_BYTES:
            return None
        data = json.loads(file.read_bytes())
        failure = Failure(problem=data["problem"], at=float(data["at"]), count=data["count"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None
    is_ours = type(failure.problem) is str and type(failure.count) is int and 0 < failure.count <= _MOST_COUNT
    return failure if is_ours else None


def write_failure(file: Path, failure: Failure) -> None:
    """Keep a failure, whole or not at all."""
    facts = {"problem": failure.problem[:4_000], "at": failure.at, "count": failure.count}
    write_whole(file, json.dumps(facts))


def forget_failure(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink()
