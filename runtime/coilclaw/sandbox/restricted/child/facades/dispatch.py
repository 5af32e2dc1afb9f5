"""`functools.singledispatch` without the evaluation of annotations that are text."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from coilclaw.sandbox.restricted.child.ownership import is_type

__all__ = ["Dispatch"]


class Dispatch:
    """A function that chooses its implementation by the class of its first argument."""

    def __init__(self, default: Callable[..., Any]) -> None:
        # With a function of ours in its place: the real one takes over a function's own attributes.
        self._dispatch = functools.singledispatch(lambda *args: None)
        self._placeholder = self._dispatch.dispatch(object)
        self._default = default

    def __call__(self, first: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self._found(type(first))(first, *args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def _found(self, kind: type) -> Callable[..., Any]:
        found = self._dispatch.dispatch(kind)
        return self._default if found is self._placeholder else found

    def dispatch(self, kind: Any) -> Callable[..., Any]:
        return self._found(kind if is_type(kind) else object)

    def register(self, kind: Any, function: Callable[..., Any] | None = None) -> Any:
        """With a class, or as a decorator of a function whose first parameter is annotated with one."""
        if not is_type(kind):
            function, annotations = kind, getattr(kind, "__annotations__", {})
            kind = next(iter(annotations.values()), None)
            if not is_type(kind):
                raise TypeError(
                    "register() needs a class here: @f.register(int), or a parameter annotated with a class"
                )
        if function is None:
            return lambda made: self.register(kind, made)
        self._dispatch.register(kind, function)
        return function
