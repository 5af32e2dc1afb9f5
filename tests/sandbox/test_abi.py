"""Values that cross the border of the wasm guest by their addresses."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest
from wasmtime import _bindings

from coilclaw.sandbox.wasm import abi

VALUE = _bindings.wasmtime_component_val_t


@pytest.fixture
def place() -> Iterator[int]:
    value = VALUE()
    yield ctypes.addressof(value)
    del value  # It lives until here.


def test_what_is_written_down_by_hand_is_the_librarys() -> None:
    theirs: Any = _bindings.wasm_byte_vec_t
    assert ctypes.sizeof(abi._Text) == ctypes.sizeof(theirs)
    assert (abi._Text.size.offset, abi._Text.data.offset) == (theirs.size.offset, theirs.data.offset)
    ours = [ctypes.sizeof(kind) for kind in abi._CALLBACK._argtypes_]
    assert ours == [ctypes.sizeof(kind) for kind in _bindings.wasmtime_component_func_callback_t._argtypes_]


@pytest.mark.parametrize(
    "text", [b"", b"x", b"a\0b", b"\0", "ü€😀".encode(), b"x" * 5_000_000], ids=lambda text: text[:8]
)
def test_a_string_is_taken_as_it_was_given(place: int, text: bytes) -> None:
    abi.give_string(place, text)
    assert abi.take_string(place) == text
    assert abi.take_string(place) == b"", "what was taken is gone, and taking it again harms nothing"


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
