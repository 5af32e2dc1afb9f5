"""A run that was started and may not have ended yet."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from coilclaw.app.errors import BadArgument

if TYPE_CHECKING:
    from coilclaw.app.composition import Composition
    from coilclaw.app.report import Report
    from coilclaw.evidence import EventReader, OutputBuffer
    from coilclaw.sandbox import Deadline

__all__ = ["RunHandle"]


class RunHandle:
    """One started run: await it, or ask for its `result()`; follow its `events()`; `cancel()` it."""

    def __init__(
        self,
        run_id: str,
        future: Future[Report],
        deadline: Deadline,
        parts: Composition,
        begins: str,
        output: OutputBuffer,
    ) -> None:
        self.run_id = run_id
        self._future = future
        self._deadline = deadline
        self._parts = parts
        self._begins = begins
        self._output = output  # Held for readers who come late.

    def result(self, timeout: float | None = None) -> Report:
        """Wait for the run and return its report. Raises TimeoutError when that takes longer than `timeout` seconds;
        the run continues then."""
        self._parts.refuse_to_block("result")
        if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float)):
            raise BadArgument("`timeout` is a number of seconds")
        return self._future.result(timeout)

    def __await__(self) -> Generator[Any, None, Report]:
        import asyncio

        # Shielded: a task that stops waiting for a run does not end the run.
        return asyncio.shield(asyncio.wrap_future(self._future)).__await__()

    def events(self) -> EventReader:
        """What happens in the run, from its beginning: for `async for` or `for`. Ends when the run ends or suspends."""
        return self._parts.feed.of_run(self.run_id, self._begins)

    def cancel(self) -> None:
        """End the run as soon as it can be ended. Its report says `cancelled`, unless it was over before."""
        self._deadline.cancel()

    def when_done(self, told: Callable[[RunHandle], None]) -> None:
        """Call a function when the run has ended or was suspended here, on the thread that ended it."""
        self._future.add_done_callback(lambda future: told(self))

    @property
    def done(self) -> bool:
        return self._future.done()
