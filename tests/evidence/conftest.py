"""A feed, receipts to read in it, and what was read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coilclaw.evidence import (
    CallProgress,
    Event,
    EventFeed,
    EventReader,
)
from coilclaw.receipts import Draft, ReceiptLog, now
from coilclaw.sdk import ToolContext, define_tool


@define_tool(id="shelf.look", risk="read")
def look(ctx: ToolContext, number: int) -> int:
    """An answer."""
    return number


@define_tool(id="shelf.send", risk="write")
def send(ctx: ToolContext, number: int) -> int:
    """A change."""
    return number


@pytest.fixture
def feed(log: ReceiptLog) -> Iterator[EventFeed]:
    with EventFeed(log) as made:
        yield made


def progress(number: int, run_id: str = "run-1") -> Draft:
    facts = {"message": str(number)}
    return Draft("tool.call.progress", "allowed", now(), run_id, None, f"{run_id}-1", "a.b", payload=facts)


def of_run(kind: str, run_id: str = "run-1", status: str = "running") -> Draft:
    return Draft(f"run.{kind}", status, now(), run_id, payload={"name": "x", "engine": "wasm"})


def numbers(events: Iterator[Event] | list[Event]) -> list[int]:
    return [int(event.message) for event in events if isinstance(event, CallProgress)]


def first(reader: EventReader, count: int) -> list[Event]:
    return [next(reader) for _ in range(count)]


def kinds(events: list[Event]) -> list[str]:
    return [event.kind for event in events]
