"""Output in the event feed: among the events of its run, where it was printed."""

from __future__ import annotations

import gc

import pytest
from tests.conftest import World
from tests.evidence.conftest import first, kinds, look, numbers, of_run, progress

from coilclaw.evidence import (
    CallProgress,
    EventFeed,
    OutputBuffer,
    RunFinished,
    RunOutput,
    RunResumed,
    RunStarted,
)
from coilclaw.evidence import (
    feed as feed_module,
)
from coilclaw.receipts import ReceiptLog


def test_output_comes_between_the_start_of_a_run_and_its_end(log: ReceiptLog, feed: EventFeed) -> None:
    start = feed.end()
    output = feed.output("run-1")
    log.append(of_run("started"))
    output(1, "one\n")
    log.append(progress(1))
    output(1, "two\n")
    output(2, "trouble\n")
    log.append(of_run("finished", status="completed"))
    for after in (start, None):
        events = list(feed.of_run("run-1", after))
        assert kinds(events)[0] == "run.started"
        assert kinds(events)[-1] == "run.finished"
        printed = [event for event in events if isinstance(event, RunOutput)]
        assert "".join(event.text for event in printed if event.stream == 1) == "one\ntwo\n"
        assert "".join(event.text for event in printed if event.stream == 2) == "trouble\n"


def test_output_follows_what_was_on_disk_when_it_was_printed_and_has_its_cursor(
    log: ReceiptLog, feed: EventFeed
) -> None:
    output, reader = feed.output("run-1"), feed.of_run("run-1")
    log.append(of_run("started"))
    for number in range(20):
        log.append(progress(number))
        output(1, f"{number}\n")
        if number == 0:
            started, *_ = first(reader, 1)
            assert isinstance(started, RunStarted)
        reported, printed = first(reader, 2)
        assert numbers([reported]) == [number]
        assert isinstance(printed, RunOutput)
        assert (printed.text, printed.cursor) == (f"{number}\n", reported.cursor)


def printed_between_calls(log: ReceiptLog, feed: EventFeed) -> tuple[OutputBuffer, list[str]]:
    """A run that prints a line behind each of its calls, which are not on disk by then; and what comes in which order."""
    output = feed.output("run-1")
    log.append(of_run("started"))
    for number in range(10):
        log.append_relaxed(progress(number))
        output(1, f"{number}\n")
        if number % 3 == 0:
            log.append_relaxed(progress(99, "run-2"))
    log.append_relaxed(of_run("finished", status="completed"))
    return output, ["run.started", *["call.progress", "run.output"] * 10, "run.finished"]


@pytest.mark.parametrize("late", [False, True])
def test_output_stands_where_it_was_printed_among_the_calls(log: ReceiptLog, feed: EventFeed, late: bool) -> None:
    reader = feed.of_run("run-1", feed.end())
    output, expected = printed_between_calls(log, feed)
    if late:
        log.flush()
        reader = feed.of_run("run-1")
    events = list(reader)
    assert kinds(events) == expected
    for call, printed in zip(events[1:-1:2], events[2:-1:2], strict=True):
        assert isinstance(call, CallProgress)
        assert isinstance(printed, RunOutput)
        assert (printed.text, printed.cursor) == (f"{call.message}\n", call.cursor)
    assert output.since(0)


def test_a_reader_that_continues_gets_the_output_behind_its_cursor(log: ReceiptLog, feed: EventFeed) -> None:
    output, expected = printed_between_calls(log, feed)
    log.flush()
    events = list(feed.of_run("run-1"))
    for number, event in enumerate(events[:-1]):
        if not isinstance(event, RunOutput):
            assert kinds(list(feed.of_run("run-1", event.cursor))) == expected[number + 1 :]
    assert output.since(0)


def test_output_behind_an_append_of_another_run_comes_when_that_is_on_disk(
    log: ReceiptLog, feed: EventFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "_POLL_SECONDS", 3600)
    output = feed.output("run-1")
    log.append(of_run("started"))
    reader = feed.of_run("run-1")
    first(reader, 1)
    for number in range(5):
        log.append_relaxed(progress(number, "run-2"))
        output(1, f"{number}")
        (printed,) = first(reader, 1)
        assert isinstance(printed, RunOutput)
        assert printed.text == f"{number}"


def test_a_reader_that_comes_late_still_gets_all_output(log: ReceiptLog, feed: EventFeed) -> None:
    output = feed.output("run-1")
    log.append(of_run("started"))
    for number in range(1000):
        output(1, f"{number}\n")
    early = feed.of_run("run-1")
    log.append(of_run("finished", status="completed"))
    for reader in (early, feed.of_run("run-1")):
        printed = [event.text for event in reader if isinstance(event, RunOutput)]
        assert "".join(printed) == "".join(f"{number}\n" for number in range(1000))


def test_a_snippet_is_heard_while_it_runs(world: World, feed: EventFeed) -> None:
    output = feed.output("run-test")
    world.of_caller["show"] = output
    world.log.append(of_run("started", "run-test"))
    reader = feed.of_run("run-test")
    bridge = world.bridge(look)
    heard: list[str] = []
    for text in ("one", "two", "three"):
        bridge.write(1, text)
        while "".join(heard) != text:
            event = next(reader)
            heard += [event.text] if isinstance(event, RunOutput) else []
        heard.clear()
    bridge.close()


def test_output_of_a_resumed_run_is_not_given_twice_to_one_reader(log: ReceiptLog, feed: EventFeed) -> None:
    """It prints everything again, into a buffer of its own."""
    before = feed.output("run-1")
    log.append(of_run("started"))
    before(1, "one\n")
    log.append(of_run("suspended", status="suspended"))
    assert [event.text for event in feed.of_run("run-1") if isinstance(event, RunOutput)] == ["one\n"]
    behind = feed.end()
    again = feed.output("run-1")
    log.append(of_run("resumed"))
    again(1, "one\n")
    again(1, "two\n")
    log.append(of_run("finished", status="completed"))
    events = list(feed.of_run("run-1", behind))
    assert "".join(event.text for event in events if isinstance(event, RunOutput)) == "one\ntwo\n"
    assert isinstance(events[0], RunResumed)
    assert isinstance(events[-1], RunFinished)


def test_a_run_whose_end_could_not_be_written_still_ends_its_events(log: ReceiptLog, feed: EventFeed) -> None:
    output = feed.output("run-1")
    reader = feed.of_run("run-1")
    log.append(of_run("started"), progress(1))
    output(1, "last words")
    output.close()
    assert kinds(list(reader)) == ["run.started", "call.progress", "run.output"]


def test_the_output_of_a_run_is_forgotten_with_its_last_holder(feed: EventFeed) -> None:
    output = feed.output("run-1")
    output(1, "text")
    assert feed.output_of("run-1") is output
    del output
    gc.collect()
    assert feed.output_of("run-1") is None
