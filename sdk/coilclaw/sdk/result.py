"""What a bridge call gives back: `Ok` or `Err`, as a value.

This file imports the standard library only, because it is also built into the sandbox guest:
a snippet and the host speak of the same two types.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final, Generic, NoReturn, TypeAlias, TypeVar

__all__ = ["NOT_ITS_VALUE", "Err", "Ok", "Result", "ToolCallError", "UnreadErr"]

T = TypeVar("T")
D = TypeVar("D")

NOT_ITS_VALUE: Final = "a call returns a Result: write .unwrap() or .value to get what the tool returned"


class ToolCallError(Exception):
    """Raised by `unwrap()` and `.value` on an `Err`; carries the same code, message and hint."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        text = f"{code}: {message}"
        super().__init__(f"{text} ({hint})" if hint else text)
        self.code = code
        self.message = message
        self.hint = hint


class _Kind(type):
    """The type of `Ok` and `Err`: to ask which of them a result is, is to read it."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if type(instance) is UnreadErr:
            _read(instance)
        return type.__instancecheck__(cls, instance)


class _Result(metaclass=_Kind):
    """Says what to write when a result is used as if it were its value."""

    __slots__ = ()

    def __getattr__(self, name: str) -> NoReturn:
        kind = type(self).__name__
        explained = "" if name.startswith("__") else f": {NOT_ITS_VALUE}; .ok says whether the call succeeded"
        raise AttributeError(f"'{kind}' object has no attribute '{name}'{explained}", name=name, obj=None)

    def __getitem__(self, key: Any) -> NoReturn:
        raise TypeError(f"'{type(self).__name__}' object is not subscriptable: {NOT_ITS_VALUE}")

    def __iter__(self) -> NoReturn:
        raise TypeError(f"'{type(self).__name__}' object is not iterable: {NOT_ITS_VALUE}")

    def __len__(self) -> NoReturn:
        raise TypeError(f"object of type '{type(self).__name__}' has no len(): {NOT_ITS_VALUE}")

    def __contains__(self, item: Any) -> NoReturn:
        raise TypeError(f"argument of type '{type(self).__name__}' is not a container: {NOT_ITS_VALUE}")


@dataclass(frozen=True, slots=True)
class Ok(_Result, Generic[T]):
    """The call succeeded; `value` is what the tool returned."""

    value: T

    @property
    def ok(self) -> bool:
        return True

    @property
    def error(self) -> None:
        return None

    def unwrap(self) -> T:
        return self.value

    def unwrap_or(self, default: object) -> T:
        return self.value

    def __bool__(self) -> bool:
        return True

    def __hash__(self) -> int:
        return _hash(self.value)  # `asyncio.gather` keeps what it waits for in a dict.

    def __await__(self) -> Generator[Any, None, Ok[T]]:
        # A finished call may be awaited too, so `await tools.x.y()` means what it looks like.
        return self
        yield


@dataclass(frozen=True, slots=True, eq=False)
class Err(_Result):
    """The call failed, was denied or was not valid; nothing was raised."""

    __match_args__ = ("error",)

    code: str
    message: str
    hint: str | None = None

    @property
    def ok(self) -> bool:
        return False

    @property
    def error(self) -> ToolCallError:
        """What went wrong, with `code`, `message` and `hint`; it may be raised."""
        return ToolCallError(self.code, self.message, self.hint)

    @property
    def value(self) -> NoReturn:
        # Silence here would let a snippet report success with a None in its hands.
        self.unwrap()

    def unwrap(self) -> NoReturn:
        raise self.error

    def unwrap_or(self, default: D) -> D:
        return default

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        if type(other) is not Err and type(other) is not UnreadErr:
            return NotImplemented
        same = _fields(self) == _fields(other)
        _read(other)
        if not same:  # Of two that are equal, `asyncio.gather` gives back the first for both: it is still unread.
            _read(self)
        return same

    def __hash__(self) -> int:
        return hash(_fields(self))

    def __await__(self) -> Generator[Any, None, Err]:
        return self
        yield


class UnreadErr(Err):
    """An `Err` that nobody has looked at. The first look makes it an `Err` like any other."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("__"):
            _read(self)
        return object.__getattribute__(self, name)

    def __bool__(self) -> bool:
        _read(self)
        return False


UnreadErr.__name__ = UnreadErr.__qualname__ = "Err"
Result: TypeAlias = Ok[T] | Err

_get_code, _get_message, _get_hint = (Err.__dict__[name].__get__ for name in ("code", "message", "hint"))


def _fields(error: Any) -> tuple[Any, ...]:
    """What an `Err` holds, without reading it."""
    return _get_code(error), _get_message(error), _get_hint(error)


def _read(error: Any) -> None:
    object.__setattr__(error, "__class__", Err)


def _hash(value: Any) -> int:
    """A hash for any JSON data; what is equal has the same."""
    try:
        return hash(value)
    except TypeError:
        if isinstance(value, dict):
            return hash(frozenset((key, _hash(each)) for key, each in value.items()))
        if isinstance(value, list | tuple):
            return hash(tuple(_hash(each) for each in value))
        return hash(type(value).__name__)
