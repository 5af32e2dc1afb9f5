"""`copy.copy` and `copy.deepcopy` for a snippet's objects.

The real ones ask an object how to rebuild it and set attributes by the names it answers with, which
would be a way around every guard. These know the types they copy and ask nobody else.
"""

from __future__ import annotations

import abc
import array
import collections
import datetime
import decimal
import enum
import fractions
import functools
import ipaddress
import pathlib
import re
import types
import typing
import uuid
import zoneinfo
from collections.abc import Callable
from typing import Any, Final
from xml.etree.ElementTree import Element

from coilclaw.sandbox.restricted.child.ownership import Ownership
from coilclaw.sdk.result import Err, Ok, UnreadErr
from coilclaw.sdk.typed_values import Record

__all__ = ["Copying"]

_IMMUTABLE: Final = (
    type(None), bool, int, float, complex, str, bytes, range, slice, type(Ellipsis), type(NotImplemented), type,
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, property, re.Pattern, re.Match,
    datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone,
    decimal.Decimal, fractions.Fraction, uuid.UUID, Err, UnreadErr, zoneinfo.ZoneInfo, functools.partial,
    ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network,
)  # fmt: skip
_CONTAINERS: Final = (
    list, dict, set, frozenset, tuple, bytearray, collections.deque, collections.OrderedDict, collections.Counter,
    collections.defaultdict, Record,
)  # fmt: skip
_COPY_THEMSELVES: Final = (array.array, Element)
"""Types of C with methods of their own for it."""

_WITHOUT_STATE: Final = (abc.ABC, typing.Generic, typing.Protocol)
"""Bases that add nothing to an object."""


class Copying:
    """Copies what belongs to the snippet and what is known to be harmless; refuses the rest."""

    def __init__(self, own: Ownership) -> None:
        self._own = own

    def copy(self, value: Any) -> Any:
        kind = type(value)
        if self._is_immutable(value):
            return value
        if kind is Ok:
            return value
        if kind in _CONTAINERS or kind in _COPY_THEMSELVES:
            return _copy_of_container(value)
        if _is_named_tuple(kind):
            return value
        if not self._own.is_instance(value):
            raise TypeError(f"a {kind.__name__} cannot be copied in this sandbox")
        if (method := self._method(kind, "__copy__")) is not None:
            return method(value)
        return self._rebuilt(value, lambda item: item)

    def deepcopy(self, value: Any, memo: dict[int, Any] | None = None) -> Any:
        memo = {} if memo is None else memo
        known = memo.get(id(value), memo)
        if known is not memo:
            return known
        if self._is_immutable(value):
            return value
        kind = type(value)
        if kind in _CONTAINERS:
            made = self._container(value, memo)
        elif kind is Element:
            made = self._element(value, memo)
        elif kind in _COPY_THEMSELVES:
            made = value.__deepcopy__(memo)
        elif kind is Ok:
            made = Ok(self.deepcopy(value.value, memo))
        elif _is_named_tuple(kind):
            made = tuple.__new__(kind, [self.deepcopy(item, memo) for item in value])
        elif not self._own.is_instance(value):
            raise TypeError(f"a {kind.__name__} cannot be copied in this sandbox")
        elif (method := self._method(kind, "__deepcopy__")) is not None:
            made = method(value, memo)
        else:
            made = self._rebuilt(value, lambda item: self.deepcopy(item, memo), memo)
        memo[id(value)] = made
        memo.setdefault(id(memo), []).append(value)  # Kept alive, so that no other object gets its identity.
        return made

    def _element(self, value: Element, memo: dict[int, Any]) -> Element:
        """Part by part: the type's own way goes through the real `deepcopy`."""
        made = Element(self.deepcopy(value.tag, memo), self.deepcopy(dict(value.attrib), memo))
        made.text, made.tail = self.deepcopy(value.text, memo), self.deepcopy(value.tail, memo)
        made.extend([self.deepcopy(child, memo) for child in value])
        return made

    def _is_immutable(self, value: Any) -> bool:
        kind = type(value)
        # A library's exception is not taken apart: it is copied as itself.
        values = (type, enum.Enum, pathlib.PurePath, BaseException)
        return kind in _IMMUTABLE or (issubclass(kind, values) and not self._own.is_instance(value))

    def _method(self, kind: type, name: str) -> Callable[..., Any] | None:
        """A method that one of the snippet's own classes defines. Instances are not asked."""
        for base in kind.__mro__:
            if self._own.is_class(base) and name in vars(base):
                found: Callable[..., Any] = vars(base)[name]
                return found
        return None

    def _rebuilt(self, value: Any, each: Callable[[Any], Any], memo: dict[int, Any] | None = None) -> Any:
        kind = type(value)
        native = next(base for base in kind.__mro__ if not self._own.is_class(base) and base not in _WITHOUT_STATE)
        made = _bare(kind, native, value, each)
        if memo is not None:
            memo[id(value)] = made  # Before it is filled: it may contain itself.
        _fill(made, native, value, each)
        if hasattr(value, "__dict__"):
            made.__dict__.update({name: each(item) for name, item in value.__dict__.items()})
        for base in kind.__mro__:
            for slot in vars(base).values() if self._own.is_class(base) else ():
                if isinstance(slot, types.MemberDescriptorType):
                    try:
                        item = slot.__get__(value)
                    except AttributeError:
                        continue
                    slot.__set__(made, each(item))
        return made

    def _container(self, value: Any, memo: dict[int, Any]) -> Any:
        match value:
            case list():
                made: Any = []
                memo[id(value)] = made
                made.extend(self.deepcopy(item, memo) for item in value)
            case collections.defaultdict():
                made = collections.defaultdict(value.default_factory)
                memo[id(value)] = made
                made.update((self.deepcopy(key, memo), self.deepcopy(item, memo)) for key, item in value.items())
            case dict():
                made = type(value)()
                memo[id(value)] = made
                for key, item in value.items():
                    made[self.deepcopy(key, memo)] = self.deepcopy(item, memo)
            case collections.deque():
                made = collections.deque((self.deepcopy(item, memo) for item in value), value.maxlen)
            case bytearray():
                made = bytearray(value)
            case _:
                made = type(value)(self.deepcopy(item, memo) for item in value)
        return made


def _copy_of_container(value: Any) -> Any:
    if type(value) in _COPY_THEMSELVES:
        return value.__copy__()
    if type(value) is Record:
        return Record(value)
    return value if type(value) is tuple or type(value) is frozenset else value.copy()


def _bare(kind: type, native: Any, value: Any, each: Callable[[Any], Any]) -> Any:
    """A new object of the class. What cannot change later, its builtin base holds from the beginning."""
    if issubclass(native, collections.deque):
        made = native.__new__(kind)
        native.__init__(made, (), value.maxlen)
        return made
    if issubclass(native, dict | list | set):
        return native.__new__(kind)
    if issubclass(native, tuple | frozenset):
        return native.__new__(kind, [each(item) for item in native.__iter__(value)])
    if issubclass(native, str | bytes | int | float | complex):
        return native.__new__(kind, value)
    if issubclass(native, BaseException):
        made = native.__new__(kind, *value.args)
        made.args = tuple(each(item) for item in value.args)
        return made
    return object.__new__(kind)


def _fill(made: Any, native: Any, value: Any, each: Callable[[Any], Any]) -> None:
    """What its builtin base holds, by that base's own methods."""
    if issubclass(native, dict):
        for key, item in native.items(value):
            native.__setitem__(made, each(key), each(item))
        if issubclass(native, collections.defaultdict):
            made.default_factory = value.default_factory
    elif issubclass(native, list | collections.deque):
        native.extend(made, [each(item) for item in native.__iter__(value)])
    elif issubclass(native, set):
        native.update(made, [each(item) for item in native.__iter__(value)])


def _is_named_tuple(kind: type) -> bool:
    return kind.__bases__ == (tuple,) and "_fields" in vars(kind)
