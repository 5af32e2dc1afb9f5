"""What a bridge call gives back: `Ok` or `Err`, as a value.

This file imports the standard library only, because it is also built into the sandbox guest:
a snippet and the host speak of the same two types.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar

__all__ = ["Err", "Ok", "Result", "ToolCallError"]

T = TypeVar("T")
D = TypeVar("D")


class ToolCallError(Exception):
    """Raised by `unwrap()` and `.value` on an `Err`; carries the same code, message and hint."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        text = f"{code}: {message}"
        super().__init__(f"{text} ({hint})" if hint else text)
        self.code = code
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Ok(Generic[T]):
    """The call succeeded; `value` is what the tool returned, as JSON data."""

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

    def __await__(self) -> Generator[Any, None, Ok[T]]:
        # A finished call may be awaited too, so `await tools.x.y()` means what it looks like.
        return self
        yield


@dataclass(frozen=True, slots=True)
class Err:
    """The call failed, was denied or was not valid; nothing was raised."""

    code: str
    message: str
    hint: str | None = None

    @property
    def ok(self) -> bool:
        return False

    @property
    def error(self) -> Err:
        return self

    @property
    def value(self) -> NoReturn:
        # Silence here would let a snippet report success with a None in its hands.
        self.unwrap()

    def unwrap(self) -> NoReturn:
        raise ToolCallError(self.code, self.message, self.hint)

    def unwrap_or(self, default: D) -> D:
        return default

    def __bool__(self) -> bool:
        return False

    def __await__(self) -> Generator[Any, None, Err]:
        return self
        yield


Result: TypeAlias = Ok[T] | Err
