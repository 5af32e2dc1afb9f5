"""What belongs to the snippet: the classes and functions that its own source defines, and their instances."""

from __future__ import annotations

from types import FunctionType
from typing import Any, Final

__all__ = ["OWN_CLASS", "Ownership", "is_type"]

OWN_CLASS: Final = "__own class__"
"""Bound in the body of every class statement of a snippet. No source can spell it, because of the space."""

_class_namespace = type.__dict__["__dict__"].__get__  # Past any `__getattribute__` a metaclass may have.


def is_type(value: Any) -> bool:
    """Whether this is a class. `isinstance` would believe an object that lies about its `__class__`."""
    return issubclass(type(value), type)


class Ownership:
    """Tells the snippet's own objects from all others, by facts that a snippet cannot change."""

    def __init__(self, variables: dict[str, Any]) -> None:
        self._variables = variables
        self._types: set[type] = set()

    def is_class(self, value: Any) -> bool:
        """One of the snippet's classes. Each is marked in its own body, so a base's mark does not count."""
        return is_type(value) and OWN_CLASS in _class_namespace(value)

    def is_instance(self, value: Any) -> bool:
        kind = type(value)
        if kind in self._types:
            return True
        if OWN_CLASS in _class_namespace(kind):
            self._types.add(kind)
            return True
        return False

    def is_function(self, value: Any) -> bool:
        return type(value) is FunctionType and value.__globals__ is self._variables

    def __contains__(self, value: Any) -> bool:
        return self.is_instance(value) or self.is_class(value) or self.is_function(value)
