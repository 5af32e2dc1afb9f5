"""System calls that the standard library does not offer, made through the C library.

ctypes is imported by the first call and not before: whoever only wants the names of the layers does
not wait for it. The bare functions return -1 when the kernel says no; `prctl` and `syscall` raise.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any, Final

__all__ = [
    "EMPTY_CAPABILITIES",
    "Step",
    "bare",
    "capabilities",
    "clear_environment",
    "last_error",
    "long",
    "prctl",
    "syscall",
]

Step = tuple[Callable[..., object], tuple[object, ...]]
"""A function and its arguments, ready to be called in a child. It fails by raising OSError or by returning -1."""

_CAPABILITY_HEADER: Final = (0x20080522).to_bytes(4, "little") + bytes(4)  # Version 3, of the calling process.
_NO_CAPABILITIES: Final = bytes(24)  # Effective, permitted and inheritable, twice 32 bits each.
EMPTY_CAPABILITIES: Final = (_CAPABILITY_HEADER, _NO_CAPABILITIES)
"""The arguments with which `capset` empties all sets, and with them the ambient one."""


@cache
def _c_library() -> Any:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def bare(name: str) -> Callable[..., int]:
    """A function of the C library. It cuts Python's numbers to 32 bits; `long` keeps 64."""
    found: Callable[..., int] = getattr(_c_library(), name)
    return found


def long(number: int) -> object:
    """A number with 64 bits: an address, or a range that has no end."""
    import ctypes

    return ctypes.c_ulong(number)


def last_error() -> OSError:
    """Why a bare function returned -1."""
    import ctypes

    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))


def syscall(number: int, *arguments: int) -> int:
    # What is not given would be whatever a register holds.
    return _checked(bare("syscall")(long(number), *(long(argument) for argument in (*arguments, 0, 0, 0, 0, 0, 0)[:6])))


def prctl(option: int, *arguments: int) -> int:
    return _checked(bare("prctl")(option, *(long(argument) for argument in (*arguments, 0, 0, 0, 0)[:4])))


def _checked(result: int) -> int:
    if result == -1:
        raise last_error()
    return result


def capabilities() -> int:
    """The effective capabilities of this process, as bits."""
    import ctypes

    sets = ctypes.create_string_buffer(_NO_CAPABILITIES, len(_NO_CAPABILITIES))
    _checked(bare("capget")(_CAPABILITY_HEADER, sets))
    return int.from_bytes(sets.raw[0:4], "little") | int.from_bytes(sets.raw[12:16], "little") << 32


def clear_environment() -> None:
    """Forget the variables, and overwrite the block that the kernel put on the stack."""
    import ctypes

    variables = ctypes.POINTER(ctypes.c_void_p).in_dll(_c_library(), "environ")
    index = 0
    while variables and (address := variables[index]):
        ctypes.memset(address, 0, len(ctypes.string_at(address)))
        index += 1
    os.environ.clear()
    if hasattr(_c_library(), "clearenv"):  # Not on macOS.
        bare("clearenv")()
