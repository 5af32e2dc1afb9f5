"""pydantic-monty: an interpreter of its own in a pool of worker processes; a session is checked out of a warm pool."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from pydantic_monty import Monty  # type: ignore[import-not-found]
from suite.stopwatch import seconds_of

from peers.answering import answer_requests


def _add(a: int, b: int) -> int:
    return a + b


class MontySandbox:
    """One session for each run, on a worker that is already there."""

    version = version("pydantic-monty")
    prelude = ""
    call = "add(i, 1)"

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    def run(self, source: str) -> float:
        return seconds_of(lambda: self._run(source))

    def _run(self, source: str) -> None:
        with self._pool.checkout() as session:
            session.feed_run(source, external_lookup={"add": _add})


if __name__ == "__main__":
    with Monty() as pool:
        answer_requests(MontySandbox(pool))
