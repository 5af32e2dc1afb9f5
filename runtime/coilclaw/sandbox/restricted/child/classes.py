"""Making classes: what a `class` statement and `type(name, bases, namespace)` do in a snippet."""

from __future__ import annotations

import abc
import builtins
import enum
import types
import typing
from collections.abc import Iterable
from typing import Any, Final

from coilclaw.sandbox.restricted.child import special_names as names
from coilclaw.sandbox.restricted.child.attributes import Attributes
from coilclaw.sandbox.restricted.child.instance_variables import check_attribute_name
from coilclaw.sandbox.restricted.child.ownership import OWN_CLASS, is_type
from coilclaw.sandbox.restricted.child.stand_ins import stands_for

__all__ = ["Classes"]

_build_class: Final = builtins.__build_class__
_METACLASSES: Final = (abc.ABCMeta, enum.EnumMeta)
_generic: Any = typing.Generic
_TRUSTED_KINDS: Final = frozenset({types.GenericAlias, type(typing.Callable), type(_generic[typing.TypeVar("T")])})
"""Kinds of objects, besides classes, that stand in a list of bases. A snippet's own could answer in two ways."""
_BUILTIN_BASES: Final = frozenset(
    {object, int, float, complex, str, bytes, list, dict, set, frozenset, tuple, typing.Generic, typing.Protocol}
    # What `class X(NamedTuple)` and `class X(TypedDict)` really inherit from.
    | {*types.resolve_bases((typing.NamedTuple,)), *types.resolve_bases((typing.TypedDict,))}
)


class Classes:
    """Admits classes whose bases are harmless to inherit from."""

    def __init__(self, attributes: Attributes) -> None:
        self._own = attributes.own
        self._bases = _BUILTIN_BASES
        self.type = self._type_stand_in(attributes)
        attributes.type = self.type

    def admit(self, bases: Iterable[type]) -> None:
        """Let these be inherited from, too."""
        self._bases |= frozenset(bases)

    def build(self, body: Any, name: str, /, *bases: Any, metaclass: Any = None, **options: Any) -> Any:
        """`__build_class__`."""
        self._check_bases(bases)
        if metaclass is None or metaclass is self.type:
            return _build_class(body, name, *bases, **options)
        real = stands_for(metaclass)
        # By identity: a snippet's object may be equal to anything.
        if not any(real is known for known in _METACLASSES):
            raise TypeError("a metaclass cannot be chosen in this sandbox; only ABCMeta and EnumMeta are allowed")
        return _build_class(body, name, *bases, metaclass=real, **options)

    def _check_bases(self, bases: tuple[Any, ...]) -> None:
        for base in bases:
            special = base is typing.NamedTuple or base is typing.TypedDict
            if not (is_type(base) or type(base) in _TRUSTED_KINDS or special):
                raise TypeError(f"a {type(base).__name__} cannot be a base class in this sandbox")
        resolved = types.resolve_bases(bases)
        for base in resolved:
            self._check_base(base)
        if any(not self._own.is_class(base) and base not in _BUILTIN_BASES for base in resolved) or any(
            issubclass(base, str | BaseException) for base in resolved
        ):
            self._check_inherited_fields(resolved)

    def _check_inherited_fields(self, bases: tuple[type, ...]) -> None:
        """A dataclass's generated methods read its fields themselves: of a library class that may be more than data."""
        for base in bases:
            for name in getattr(base, "__dataclass_fields__", ()):
                if name in names.WATCHED or name.startswith("_"):
                    raise TypeError(f"a dataclass with a field {name!r} cannot be mixed with this base in this sandbox")

    def _check_base(self, base: Any) -> None:
        if not is_type(base):  # Before anything is compared: an object may be equal to what it likes.
            raise TypeError(f"a {type(base).__name__} cannot be a base class in this sandbox")
        if base in self._bases or self._own.is_class(base) or _is_named_tuple(base):
            return
        if is_type(base) and issubclass(base, BaseException) and not issubclass(base, BaseExceptionGroup):
            return
        raise TypeError(f"{getattr(base, '__name__', base)!s:.80} cannot be a base class in this sandbox")

    def _type_stand_in(self, attributes: Attributes) -> type:
        classes = self

        class Kinds(type):
            def __instancecheck__(cls, instance: Any) -> bool:
                return isinstance(instance, type)

            def __subclasscheck__(cls, subclass: type) -> bool:
                return subclass is cls or issubclass(subclass, type)

            def __repr__(cls) -> str:
                return "<class 'type'>"

            def __or__(cls, other: Any) -> Any:
                return typing.Union[cls, other]  # noqa: UP007

        class Type(metaclass=Kinds):
            def __new__(cls, *args: Any, **options: Any) -> Any:
                if len(args) == 1 and not options:
                    return attributes.kind(args[0])
                if len(args) != 3:
                    raise TypeError("type() takes 1 or 3 arguments")
                return classes.make(*args, **options)

            def __class_getitem__(cls, item: Any) -> types.GenericAlias:
                return types.GenericAlias(cls, item)  # Not of the real type: an alias can be called.

        Type.__name__ = Type.__qualname__ = "type"
        Type.__module__ = "builtins"
        return Type

    def make(self, name: str, bases: tuple[Any, ...], namespace: dict[str, Any], /, **options: Any) -> type:
        """`type(name, bases, namespace)`, with the checks that the compiler makes for a class statement."""
        members: dict[str, Any] = {}
        for key, value in dict(namespace).items():
            if not names.is_member(check_attribute_name(key)) and key not in names.ASSIGNABLE_IN_CLASSES:
                raise TypeError(f"{key!r} cannot be defined in this sandbox")
            members[key] = value
        exact = tuple(bases)  # Once: a tuple of the snippet's own kind may be another one when it is asked again.
        self._check_bases(exact)
        if options.pop("metaclass", None) is not None:
            raise TypeError("a metaclass cannot be chosen in this sandbox")
        members[OWN_CLASS] = True
        members["__module__"] = "__main__"
        return types.new_class(check_attribute_name(name), exact, options, lambda made: made.update(members))


def _is_named_tuple(base: Any) -> bool:
    return is_type(base) and base.__bases__ == (tuple,) and hasattr(base, "_fields")
