"""`Frozen`: a frozen value with named fields, which takes next to no time to define.

Every subclass is a dataclass: `replace`, `asdict` and `fields` work on it, and it is made by keywords. The decorator of
the standard library would write and compile six methods for each class, which for all classes that a short run
needs takes longer than the run itself. Here they share these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from typing import Any, ClassVar, dataclass_transform

__all__ = ["Frozen"]

_without_methods = dataclass(init=False, repr=False, eq=False, match_args=False)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class Frozen:
    """A frozen, keyword-only dataclass. `__post_init__` is called if there is one."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    _known: ClassVar[Mapping[str, Field[Any]]]
    _defaults: ClassVar[Mapping[str, Any]]
    _factories: ClassVar[Mapping[str, Callable[[], Any]]]

    def __init_subclass__(cls) -> None:
        _without_methods(cls)
        known = fields(cls)  # Without class variables.
        cls._known = {each.name: each for each in known}
        cls._defaults = {each.name: each.default for each in known if each.default is not MISSING}
        cls._factories = {each.name: each.default_factory for each in known if each.default_factory is not MISSING}

    def __init__(self, **given: Any) -> None:
        values = self.__dict__
        values.update(self._defaults)
        for name, make in self._factories.items():
            if name not in given:
                values[name] = make()
        values.update(given)
        if values.keys() != self._known.keys():
            raise TypeError(f"{type(self).__name__}: {_difference(values, self._known)}")
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check the values of a subclass, or change them with `object.__setattr__`."""
        return

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name, each in self._known.items() if each.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def _compared(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name, each in self._known.items() if each.compare)


def _difference(given: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    if unknown := [name for name in given if name not in known]:
        return f"there is no field {unknown[0]!r}"
    return "there is no value for " + ", ".join(repr(name) for name in known if name not in given)
