"""Methods of the library's classes, for objects of those classes only.

A method written in Python trusts its `self`. Taken from its class and called with another object it reads
and writes that object past every guard, and `self.__class__(...)` of a class is its metaclass. So each
function in the classes that a snippet can name is replaced by one that looks first.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any, Final

from coilclaw.sandbox.restricted.child.ownership import is_type

__all__ = ["classes_of", "only_for", "seal"]

_mro = type.__dict__["__mro__"].__get__
_namespace = type.__dict__["__dict__"].__get__
_NOT_METHODS: Final = frozenset({"__new__", "__init_subclass__", "__class_getitem__", "__prepare__"})
_UNTOUCHED: Final = frozenset({"typing", "abc", "builtins", "enum", "collections.abc", "numbers"})
"""Modules whose classes lend their functions to others, and whose objects hold nothing of interest."""


def only_for(kind: type, method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, for objects of the class. Asked of the real type: `isinstance` can be lied to."""
    first = kind if method.__name__ != "__new__" else None

    @functools.wraps(method)
    def checked(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if kind not in _mro(type(self) if first is not None else self):
            raise TypeError(f"a method of '{kind.__name__}' objects doesn't apply to a '{type(self).__name__}' object")
        return method(self, *args, **kwargs)

    del checked.__wrapped__
    return checked


def classes_of(objects: Iterable[Any]) -> set[type]:
    """The classes among these objects, and those they inherit from."""
    found = {kind for value in objects for kind in _mro(value if is_type(value) else type(value))}
    return {kind for kind in found if _UNTOUCHED.isdisjoint((kind.__module__, kind.__module__.partition(".")[0]))}


def _sealed(kind: type, part: Any) -> Any:
    return only_for(kind, part) if type(part) is types.FunctionType else part


def seal(kinds: Iterable[type]) -> None:
    """Replace the functions of these classes. Classes made in C check by themselves, and cannot be changed."""
    for kind in kinds:
        for name, found in list(_namespace(kind).items()):
            sealed: Any = None
            if type(found) is types.FunctionType and name not in _NOT_METHODS:
                sealed = only_for(kind, found)
            elif type(found) is property:
                get, put, delete = (_sealed(kind, part) for part in (found.fget, found.fset, found.fdel))
                sealed = property(get, put, delete, found.__doc__)
            if sealed is not None:
                try:
                    setattr(kind, name, sealed)
                except (TypeError, AttributeError):
                    break
