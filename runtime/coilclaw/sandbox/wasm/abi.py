"""Host functions that read and write component values in place.

wasmtime's Python API converts every argument through a tree of type objects, which is most of what a
call costs. The functions here use the same C bindings directly for the few shapes the world has
(strings, integers, bytes), and pass addresses as plain numbers: a ctypes pointer for each of them would
take longer than the call. That is why the dependency on wasmtime is bounded by its major version.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from ctypes import c_char_p, c_int64, c_size_t, c_ssize_t, c_uint8, c_uint32, c_uint64, c_void_p, cast, py_object
from typing import Any, Final

import wasmtime
from wasmtime import _bindings, _ffi, component

__all__ = [
    "VALUE_SIZE",
    "add_function",
    "call_function",
    "epoch_callback",
    "give_bytes",
    "give_moment",
    "give_string",
    "give_u32",
    "give_u64",
    "take_call",
    "take_s64",
    "take_string",
    "take_u32",
    "take_u64",
    "trap",
]

RawFunction = Callable[[Any, Any, Any, int, int, int, int], int]
"""What C calls: the fourth argument is the address of the arguments, the sixth of the places for results.

It must not raise, and returns 0 or what `trap` returns. Arguments stay wasmtime's, which frees them when it has
returned: while a call lasts, what it sent is in memory twice.
"""

_STRING: Final = _ffi.WASMTIME_COMPONENT_STRING.value
_U32: Final = _ffi.WASMTIME_COMPONENT_U32.value
_U64: Final = _ffi.WASMTIME_COMPONENT_U64.value
_U8: Final = _ffi.WASMTIME_COMPONENT_U8.value
_LIST: Final = _ffi.WASMTIME_COMPONENT_LIST.value
_RECORD: Final = _ffi.WASMTIME_COMPONENT_RECORD.value
_FIELD: Final = _bindings.wasmtime_component_valrecord_entry
_VALUE: Final = _bindings.wasmtime_component_val_t
VALUE_SIZE: Final = ctypes.sizeof(_VALUE)
"""From one argument to the next."""
_KIND: Final = _VALUE.kind.offset
_BODY: Final = _VALUE.of.offset
_NO_FINALIZER: Final = ctypes.CFUNCTYPE(None, c_void_p)(0)
_TEXT: Final = struct.Struct("@NP")
_CALL: Final = struct.Struct(f"@{_BODY}xNP{VALUE_SIZE - _TEXT.size}xNP{VALUE_SIZE - _TEXT.size}xI")
_CALLBACK: Final = ctypes.CFUNCTYPE(c_size_t, c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t)


def _quick(function: Any, result: Any, *arguments: Any) -> Any:
    """A C function that takes numbers for pointers and keeps the interpreter's lock: it only moves a few bytes."""
    address = cast(function, c_void_p).value
    assert address is not None
    return ctypes.PYFUNCTYPE(result, *arguments)(address)


_bytes_at: Final = _quick(ctypes.pythonapi.PyBytes_FromStringAndSize, py_object, c_void_p, c_ssize_t)
_new_bytes: Final = _quick(_bindings._wasm_byte_vec_new, None, c_void_p, c_size_t, c_char_p)
_delete_value: Final = _quick(_bindings._wasmtime_component_val_delete, None, c_void_p)
_new_record: Final = _quick(_bindings._wasmtime_component_valrecord_new, None, c_void_p, c_size_t, c_void_p)
_new_list: Final = _quick(_bindings._wasmtime_component_vallist_new, None, c_void_p, c_size_t, c_void_p)

_alive: list[Any] = []
"""C keeps bare pointers to callbacks; they live as long as the process."""


def add_function(instance: component.LinkerInstance, name: str, function: RawFunction) -> None:
    """Define one import."""
    pointer = _CALLBACK(function)
    _alive.append(pointer)
    encoded = name.encode()
    error = _ffi.wasmtime_component_linker_instance_add_func(
        instance.ptr(),
        ctypes.create_string_buffer(encoded),
        len(encoded),
        cast(pointer, _bindings.wasmtime_component_func_callback_t),
        None,
        _NO_FINALIZER,
    )
    if error:
        raise wasmtime.WasmtimeError._from_ptr(error)


def call_function(store: wasmtime.Store, function: component.Func, argument: bytes) -> bytes:
    """Call a function of the guest that takes a string and returns one."""
    given, returned = _VALUE(), _VALUE()
    give_string(ctypes.addressof(given), argument)
    try:
        error = _bindings.wasmtime_component_func_call(
            ctypes.byref(function._func), store._context(), ctypes.byref(given), 1, ctypes.byref(returned), 1
        )
        if error:
            raise wasmtime.WasmtimeError._from_ptr(error)
        return take_string(ctypes.addressof(returned))
    finally:
        _delete_value(ctypes.addressof(given))
        _delete_value(ctypes.addressof(returned))


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


def take_call(place: int) -> tuple[str, bytes, int]:
    """Two strings and a number, read at once: it is what every bridge call begins with."""
    tool_size, tool, input_size, input, line = _CALL.unpack(_bytes_at(place, _CALL.size))
    return _bytes_at(tool, tool_size).decode(), _bytes_at(input, input_size), line


def take_string(place: int) -> bytes:
    size, data = _TEXT.unpack(_bytes_at(place + _BODY, _TEXT.size))
    text: bytes = _bytes_at(data, size)
    return text


def take_u32(place: int) -> int:
    return c_uint32.from_address(place + _BODY).value


def take_u64(place: int) -> int:
    return c_uint64.from_address(place + _BODY).value


def take_s64(place: int) -> int:
    return c_int64.from_address(place + _BODY).value


def give_string(place: int, data: bytes) -> None:
    _new_bytes(place + _BODY, len(data), data)
    c_uint8.from_address(place + _KIND).value = _STRING


def give_u32(place: int, number: int) -> None:
    c_uint8.from_address(place + _KIND).value = _U32
    c_uint32.from_address(place + _BODY).value = number


def give_u64(place: int, number: int) -> None:
    c_uint8.from_address(place + _KIND).value = _U64
    c_uint64.from_address(place + _BODY).value = number


def give_moment(place: int, nanoseconds: int) -> None:
    """A record of the seconds and the nanoseconds of a time."""
    fields = (_FIELD * 2)()
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    for index, (name, give, number) in enumerate(((b"seconds", give_u64, seconds), (b"nanoseconds", give_u32, rest))):
        field = ctypes.addressof(fields) + index * ctypes.sizeof(_FIELD)
        _new_bytes(field + _FIELD.name.offset, len(name), name)
        give(field + _FIELD.val.offset, number)
    _new_record(place + _BODY, len(fields), ctypes.addressof(fields))
    c_uint8.from_address(place + _KIND).value = _RECORD


def give_bytes(place: int, data: bytes) -> None:
    size = len(data)
    # A list<u8> is an array of tagged values: write all tags, then all bytes, with one strided copy each.
    buffer = bytearray(VALUE_SIZE * size)
    buffer[_KIND::VALUE_SIZE] = bytes([_U8]) * size
    buffer[_BODY::VALUE_SIZE] = data
    _new_list(place + _BODY, size, ctypes.addressof((_VALUE * size).from_buffer(buffer)))
    c_uint8.from_address(place + _KIND).value = _LIST
