"""Server-sent events, however they are cut."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coilclaw.net import ServerEventReader

STREAM = (
    "\ufeff: a comment\r\nevent: greeting\r\ndata: Gr\u00fc\u00dfe \U0001f600\r\ndata:two lines\r\nid: 7\r\nretry: 5\r\n\r\n"
    'data: {"a": 1}\n\n'
    "event: without data\n\n"
    ":\n"
    "data\rdata:  kept blank\r\r"
    "data: [DONE]\n\n"
    "data: never finished"
).encode()
EXPECTED = [
    ("greeting", "Gr\u00fc\u00dfe \U0001f600\ntwo lines"),
    ("", '{"a": 1}'),
    ("", "\n kept blank"),
    ("", "[DONE]"),
]


def read(*pieces: bytes) -> list[tuple[str, str]]:
    reader = ServerEventReader()
    return [(event.name, event.data) for piece in pieces for event in reader.feed(piece)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_events_are_the_same_in_pieces_of_any_size(size: int) -> None:
    assert read(*(STREAM[at : at + size] for at in range(0, len(STREAM), size))) == EXPECTED


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_are_the_same_wherever_they_are_cut(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    assert read(*(STREAM[a:b] for a, b in zip(places, places[1:], strict=False))) == EXPECTED


@given(st.lists(st.binary(max_size=30)))
def test_bytes_of_any_kind_are_read_or_refused(pieces: list[bytes]) -> None:
    with suppress(UnicodeDecodeError):
        read(*pieces)


def test_an_event_carries_the_last_id_the_stream_gave() -> None:
    reader = ServerEventReader()
    events = reader.feed(b"data: a\n\nid: 7\ndata: b\n\ndata: c\n\nid: 8\0\ndata: d\n\nid\ndata: e\n\n")
    assert [(event.data, event.id) for event in events] == [("a", None), ("b", "7"), ("c", "7"), ("d", "7"), ("e", "")]
