"""Host functions that read and write component values in place.

wasmtime's Python API converts every argument through a tree of type objects, which is most of what a
call costs. The functions here use the same C bindings directly for the few shapes the world has
(strings, integers, bytes). That is why the dependency on wasmtime is bounded by its major version.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, byref, c_void_p, cast, string_at
from typing import Any, Final

import wasmtime
from wasmtime import _bindings, _ffi
from wasmtime.component import LinkerInstance

__all__ = ["add_function", "epoch_callback", "give_bytes", "give_string", "give_u32", "give_u64", "take_string", "trap"]

RawFunction = Callable[[Any, Any], int]
"""Gets the arguments and the places for results; returns 0, or what `trap` returns."""

_STRING: Final = _ffi.WASMTIME_COMPONENT_STRING.value
_U32: Final = _ffi.WASMTIME_COMPONENT_U32.value
_U64: Final = _ffi.WASMTIME_COMPONENT_U64.value
_U8: Final = _ffi.WASMTIME_COMPONENT_U8.value
_LIST: Final = _ffi.WASMTIME_COMPONENT_LIST.value
_VALUE: Final = _bindings.wasmtime_component_val_t
_STRIDE: Final = ctypes.sizeof(_VALUE)
_KIND_OFFSET: Final = _VALUE.kind.offset
_BODY_OFFSET: Final = _VALUE.of.offset
_BYTES_POINTER: Final = POINTER(_bindings.wasm_byte_t)
_NO_FINALIZER: Final = ctypes.CFUNCTYPE(None, c_void_p)(0)

_new_bytes = _bindings._wasm_byte_vec_new
_delete_bytes = _bindings._wasm_byte_vec_delete
_new_list = _bindings._wasmtime_component_vallist_new

_alive: list[Any] = []
"""C keeps bare pointers to callbacks; they live as long as the process."""


def add_function(instance: LinkerInstance, name: str, function: RawFunction) -> None:
    """Define one import. The function must not raise."""

    def callback(data: Any, context: Any, kind: Any, args: Any, nargs: int, results: Any, nresults: int) -> int:
        return function(args, results)

    pointer = _bindings.wasmtime_component_func_callback_t(callback)
    _alive.append(pointer)
    encoded = name.encode()
    error = _ffi.wasmtime_component_linker_instance_add_func(
        instance.ptr(), ctypes.create_string_buffer(encoded), len(encoded), pointer, None, _NO_FINALIZER
    )
    if error:
        raise wasmtime.WasmtimeError._from_ptr(error)


def epoch_callback(store: wasmtime.Store, function: Callable[[], int]) -> None:
    """Call the function at every tick while the guest of this store runs; it may `trap`."""
    signature = _bindings._wasmtime_store_epoch_deadline_callback.argtypes[1]

    def callback(context: Any, data: Any, delta: Any, kind: Any) -> int:
        delta[0] = 1
        return function()

    pointer = signature(callback)
    store._coilclaw_epoch_callback = pointer  # type: ignore[attr-defined]
    _bindings.wasmtime_store_epoch_deadline_callback(store.ptr(), pointer, None, _NO_FINALIZER)


def trap(message: str) -> int:
    """End the guest."""
    return cast(wasmtime.WasmtimeError(message)._consume(), c_void_p).value or 0


def take_string(value: Any) -> bytes:
    text = value.of.string
    data = string_at(text.data, text.size) if text.size else b""
    _delete_bytes(byref(text))
    return data


def give_string(place: Any, data: bytes) -> None:
    place.kind = _STRING
    _new_bytes(byref(place.of.string), len(data), cast(data, _BYTES_POINTER))  # type: ignore[arg-type]


def give_u32(place: Any, number: int) -> None:
    place.kind = _U32
    place.of.u32 = number


def give_u64(place: Any, number: int) -> None:
    place.kind = _U64
    place.of.u64 = number


def give_bytes(place: Any, data: bytes) -> None:
    size = len(data)
    # A list<u8> is an array of tagged values: write all tags, then all bytes, with one strided copy each.
    buffer = bytearray(_STRIDE * size)
    buffer[_KIND_OFFSET::_STRIDE] = bytes([_U8]) * size
    buffer[_BODY_OFFSET::_STRIDE] = data
    place.kind = _LIST
    _new_list(byref(place.of.list), size, (_VALUE * size).from_buffer(buffer))
