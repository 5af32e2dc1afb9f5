"""What a run prints, kept for readers that come late."""

from __future__ import annotations

import threading
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from coilclaw.evidence.live import OutputBuffer
from coilclaw.receipts import Place

writes = st.lists(st.tuples(st.sampled_from([1, 2]), st.text(min_size=1, max_size=3)), max_size=40)


def buffer() -> OutputBuffer:
    place = Place(0)
    return OutputBuffer("run-1", lambda: place, lambda run_id: None)


@given(writes, st.data())
def test_a_reader_gets_the_rest_from_wherever_it_stands(written: list[tuple[int, str]], data: st.DataObject) -> None:
    output = buffer()
    for stream, text in written:
        output(stream, text)
    whole = "".join(text for _, text in written)
    at = data.draw(st.integers(0, len(whole)))
    assert "".join(each.text for each in output.since(at)) == whole[at:]
    streams = "".join(str(stream) * len(text) for stream, text in written)
    assert "".join(str(each.stream) * len(each.text) for each in output.since(at)) == streams[at:]


@given(writes)
def test_a_reader_that_reads_while_it_is_written_gets_everything_once(written: list[tuple[int, str]]) -> None:
    output, heard = buffer(), ""
    for stream, text in written:
        output(stream, text)
        heard += "".join(each.text for each in output.since(len(heard)))
    assert heard == "".join(text for _, text in written)


def test_a_megabyte_of_single_letters_takes_little_more_than_a_megabyte() -> None:
    output = buffer()
    tracemalloc.start()
    try:
        for _ in range(200_000):
            output(1, "x")
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 5 * 200_000


def test_writers_on_several_threads_lose_nothing() -> None:
    output = buffer()

    def write() -> None:
        for _ in range(1000):
            output(1, "x")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(len(each.text) for each in output.since(0)) == 4000
