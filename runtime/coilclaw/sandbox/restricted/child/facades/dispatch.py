"""`functools.singledispatch` without the evaluation of annotations that are text."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["Dispatch"]


class Dispatch:
    """A function that chooses its implementation by the class of its first argument."""

    def __init__(self, default: Callable[..., Any]) -> None:
        self._dispatch = functools.singledispatch(default)

    def __call__(self, first: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self._dispatch.dispatch(type(first))(first, *args, **kwargs)

    def dispatch(self, kind: type) -> Callable[..., Any]:
        return self._dispatch.dispatch(kind)

    def register(self, kind: Any, function: Callable[..., Any] | None = None) -> Any:
        """With a class, or as a decorator of a function whose first parameter is annotated with one."""
        if not isinstance(kind, type):
            function, annotations = kind, getattr(kind, "__annotations__", {})
            kind = next(iter(annotations.values()), None)
            if not isinstance(kind, type):
                raise TypeError(
                    "register() needs a class here: @f.register(int), or a parameter annotated with a class"
                )
        if function is None:
            return lambda made: self.register(kind, made)
        self._dispatch.register(kind, function)
        return function
