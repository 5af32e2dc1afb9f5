"""Names of attributes that are known at run time only, and an object's `__dict__` as a snippet sees it."""

from __future__ import annotations

from typing import Any, NoReturn

from coilclaw.sandbox.restricted.child import special_names as names

__all__ = ["InstanceVariables", "check_attribute_name", "refuse"]


def check_attribute_name(name: Any) -> str:
    """A name that is only known now. A subclass of `str` could answer every question with a lie."""
    if type(name) is not str:
        raise TypeError(f"attribute name must be string, not '{type(name).__name__}'")
    if not names.is_normal(name):
        raise AttributeError(f"the name {name!r} is another one in normal form, and cannot be used in this sandbox")
    return name


def refuse(name: str) -> NoReturn:
    """Raise the error of an attribute that is out of reach."""
    raise AttributeError(f"attribute {name!r} cannot be reached in this sandbox")


class InstanceVariables(dict[str, Any]):
    """An object's `__dict__`: reads are a copy, writes go through, special names are refused.

    C code looks up `__reduce_ex__` and its like on instances; an entry of that name would make copying
    an object a way to set any attribute of any other.
    """

    def __init__(self, real: dict[str, Any]) -> None:
        super().__init__(real)
        self._real = real

    def __setitem__(self, key: str, value: Any) -> None:
        if not names.is_member(check_attribute_name(key)):
            refuse(key)
        self._real[key] = value
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        del self._real[key]
        super().__delitem__(key)

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other: Any) -> InstanceVariables:  # type: ignore[override,misc]
        self.update(other)
        return self

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str, *default: Any) -> Any:
        self._real.pop(key, *default)
        return super().pop(key, *default)

    def popitem(self) -> tuple[str, Any]:
        key = next(reversed(self))
        return key, self.pop(key)

    def clear(self) -> None:
        self._real.clear()
        super().clear()
