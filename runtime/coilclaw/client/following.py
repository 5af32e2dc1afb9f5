"""Following a stream of events across connections: from the last cursor, nothing lost and nothing twice."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from coilclaw.client.answers import Event
from coilclaw.client.connection import Connection
from coilclaw.client.errors import ClientError, NotUnderstood, ServerFailed, Unreachable
from coilclaw.net import ServerEvent, ServerEventReader
from coilclaw.sdk import ToolFailure

__all__ = ["follow"]

_SILENCE_SECONDS: Final = 45.0
"""A server says something every 15 seconds, if only that it is there."""
_CONNECTION_SECONDS: Final = 3600.0
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 5.0
_LIVE: Final = ("run.output", "run.displayed")


def follow(
    connection: Connection,
    path: str,
    after: str | None,
    *,
    patience: float,
    is_last: Callable[[Event], bool] = lambda event: False,
    pause: Callable[[float], Any] = time.sleep,
) -> Iterator[Event]:
    """Yield the events of a stream up to its last one; connect again however the connection ends before.

    Raises Unreachable when no event could be read for `patience` seconds after a connection was lost.
    """
    seen, wait = _Seen(after), _FIRST_PAUSE
    failed_since: float | None = None
    while True:
        try:
            for event in _connected(connection, path, seen):
                failed_since, wait = None, _FIRST_PAUSE
                yield event
                if is_last(event):
                    return
            broken: ClientError = Unreachable(f"the stream of {connection.url} ended")
        except (Unreachable, ServerFailed) as error:
            broken = error
        now = time.monotonic()
        failed_since = now if failed_since is None else failed_since
        if now - failed_since >= patience:
            raise broken from None
        pause(wait)
        wait = min(_LONGEST_PAUSE, wait * 2)


class _Seen:
    """How far a reader has come: a cursor, and what it was given live behind it.

    What a run prints has no cursor of its own. Whoever connects again gets it again, from the last cursor on.
    """

    def __init__(self, cursor: str | None) -> None:
        self.cursor = cursor
        self._live: Counter[str] = Counter()
        self._again: Counter[str] = Counter()

    def connect(self) -> None:
        self._again = self._live.copy()

    def take(self, event: ServerEvent) -> Event | None:
        """The event for the reader, without what it has had; None if nothing of it is new."""
        data = json.loads(event.data)
        if not isinstance(data, dict):
            raise ValueError("an event is an object")
        kind = event.name or "message"
        if kind in _LIVE and (event.id or None) == self.cursor:
            return self._live_event(kind, data)
        if event.id and event.id != self.cursor:
            self.cursor = event.id
            self._live.clear()
            self._again.clear()
        return Event(kind=kind, data=data, cursor=self.cursor)

    def _live_event(self, kind: str, data: dict[str, Any]) -> Event | None:
        text = data.get("text") if kind == "run.output" else None
        stream = f"{data.get('run_id')} {kind} {data.get('stream')}"
        size = len(text) if isinstance(text, str) else 1
        known = min(size, self._again[stream])
        self._again[stream] -= known
        self._live[stream] += size - known
        if known == size:
            return None
        if isinstance(text, str):
            data = {**data, "text": text[known:]}
        return Event(kind=kind, data=data, cursor=self.cursor)


def _connected(connection: Connection, path: str, seen: _Seen) -> Iterator[Event]:
    """The events of one connection. Raises Unreachable if it breaks; ends where the server ends it."""
    headers = {} if seen.cursor is None else {"last-event-id": seen.cursor}
    seen.connect()
    reader = ServerEventReader()
    with connection.stream(path, headers, seconds=_CONNECTION_SECONDS, silence=_SILENCE_SECONDS) as response:
        pieces = response.iter_raw()
        while True:
            try:
                piece = next(pieces, None)
            except ToolFailure as failure:
                raise Unreachable(f"the stream of {connection.url} broke off ({failure.code})") from None
            if piece is None:
                return
            try:
                events = [taken for event in reader.feed(piece) if (taken := seen.take(event)) is not None]
            except ValueError:
                raise NotUnderstood(f"{connection.url} sent an event that cannot be read") from None
            yield from events
