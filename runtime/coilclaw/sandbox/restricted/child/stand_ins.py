"""Stand-ins for types whose real objects would let a snippet build what it may not define.

The real `type` makes classes past every check, and the real function type makes functions from code
objects. A snippet gets these instead: they answer `isinstance` and `type(x) is …` as one expects.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Final

__all__ = ["STAND_INS", "make_stand_in", "register_stand_in", "stand_in", "stands_for"]


class _StandsIn(type):
    """The metaclass of stand-ins: an instance check asks for the real type."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _REAL[cls])

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, _REAL[cls])

    def __repr__(cls) -> str:
        return f"<class '{cls.__name__}'>"


_REAL: Final[dict[type, type]] = {}
"""What each stands for. Kept here, where no attribute leads."""


def make_stand_in(name: str, real: type, create: Callable[..., Any] | None = None) -> type:
    """A class that passes for the real one; `create` is what calling it does, if that is allowed."""

    def new(cls: type, *args: Any, **kwargs: Any) -> Any:
        if create is None:
            raise TypeError(f"cannot create '{name}' instances in this sandbox")
        return create(*args, **kwargs)

    made = _StandsIn(name, (), {"__new__": new, "__module__": "builtins"})
    _REAL[made] = real
    return made


def stands_for(stand_in: Any) -> type | None:
    """The real type behind one of these."""
    return _REAL.get(stand_in) if type(stand_in) is _StandsIn else None


_REFUSED: Final[tuple[type, ...]] = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.CodeType,
    types.FrameType,
    types.TracebackType,
    types.ModuleType,
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.CellType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
STAND_INS: Final[dict[type, type]] = {real: make_stand_in(str(real.__name__), real) for real in _REFUSED}


def stand_in(kind: type) -> type:
    """What a snippet gets for this type."""
    return STAND_INS.get(kind, kind)


def register_stand_in(made: type, *kinds: type) -> None:
    """Let a snippet get this for these types, too."""
    for kind in kinds:
        STAND_INS[kind] = made
