"""Stand-ins for types whose real objects would let a snippet build what it may not define.

The real `type` makes classes past every check, and the real function type makes functions from code
objects. A snippet gets these instead: they answer `isinstance` and `type(x) is …` as one expects.
"""

from __future__ import annotations

import types
from typing import Any, Final, NoReturn

__all__ = ["STAND_INS", "stand_in"]


class _StandsIn(type):
    """The metaclass of stand-ins: an instance check asks for the real type."""

    real: type

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.real)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, cls.real)

    def __repr__(cls) -> str:
        return f"<class '{cls.__name__}'>"


def _made(name: str, real: type) -> type:
    def refuse(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"cannot create '{name}' instances in this sandbox")

    return _StandsIn(name, (), {"real": real, "__new__": refuse, "__module__": "builtins"})


_REAL: Final[tuple[type, ...]] = (
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
    types.MappingProxyType,
)
STAND_INS: Final[dict[type, type]] = {real: _made(real.__name__, real) for real in _REAL}


def stand_in(kind: type) -> type:
    """What a snippet gets for this type."""
    return STAND_INS.get(kind, kind)
