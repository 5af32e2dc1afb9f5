"""Values that cross the border of the wasm guest by their addresses."""

from __future__ import annotations

import ctypes
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.sandbox.conftest import RecordingHost
from wasmtime import _bindings

from coilclaw.sandbox import Deadline, Engine, Limits, RunClock, Snippet
from coilclaw.sandbox.wasm import abi

VALUE = _bindings.wasmtime_component_val_t


@pytest.fixture
def place() -> Iterator[int]:
    value = VALUE()
    yield ctypes.addressof(value)
    del value  # It lives until here.


def test_what_is_written_down_by_hand_is_the_librarys() -> None:
    theirs: Any = _bindings.wasm_byte_vec_t
    assert abi._TEXT.size == ctypes.sizeof(theirs)
    assert (theirs.size.offset, theirs.data.offset) == (0, ctypes.sizeof(ctypes.c_size_t))
    ours = [ctypes.sizeof(kind) for kind in abi._CALLBACK._argtypes_]
    assert ours == [ctypes.sizeof(kind) for kind in _bindings.wasmtime_component_func_callback_t._argtypes_]


@pytest.mark.parametrize(
    "text", [b"", b"x", b"a\0b", b"\0", "ü€😀".encode(), b"x" * 5_000_000], ids=lambda text: text[:8]
)
def test_a_string_is_taken_as_it_was_given(place: int, text: bytes) -> None:
    abi.give_string(place, text)
    assert abi.take_string(place) == text
    assert abi.take_string(place) == text, "it stays its owner's"


@pytest.mark.parametrize(("tool", "input"), [("a.b", b'{"x":1}'), ("", b""), ("ü.€", b"\0" * 100_000)])
def test_a_call_is_taken_in_one_piece(tool: str, input: bytes) -> None:
    values = (VALUE * 3)()
    first, second, third = (ctypes.addressof(values) + at * abi.VALUE_SIZE for at in range(3))
    abi.give_string(first, tool.encode())
    abi.give_string(second, input)
    abi.give_u32(third, 2**32 - 1)
    assert abi.take_call(first) == (tool, input, 2**32 - 1)


def test_numbers_are_taken_as_they_were_given(place: int) -> None:
    abi.give_u32(place, 2**32 - 1)
    assert abi.take_u32(place) == 2**32 - 1
    abi.give_u64(place, 2**64 - 1)
    assert abi.take_u64(place) == 2**64 - 1
    assert abi.take_s64(place) == -1


def test_what_is_no_text_leaves_the_place_as_it_was(place: int) -> None:
    abi.give_u32(place, 5)
    with pytest.raises((TypeError, ctypes.ArgumentError)):
        abi.give_string(place, 7)  # type: ignore[arg-type]
    assert VALUE.from_address(place).kind == abi._U32
    assert abi.take_u32(place) == 5


class _Forgetful(RecordingHost):
    """Keeps nothing of what it is told."""

    def call(self, tool: str, input: bytes, line: int) -> bytes:
        return b'{"ok":true,"value":%d}' % len(input)


def test_what_a_guest_sends_is_freed_behind_the_call(engine: Engine) -> None:
    source = "text = 'x' * 1_000_000\nfor _ in range(200): tools.a.b(text=text).unwrap()"
    before, deadline = _resident_bytes(), Deadline(60)
    pins, host = RunClock().pins(b"s" * 32), _Forgetful({}, deadline, 0)
    outcome = engine.execute(Snippet(source=source), Limits(seconds=60), host, deadline, pins)
    assert outcome.status == "completed"
    assert _resident_bytes() - before < 80_000_000, "200 MB were sent"


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
