"""The guards of attributes: one rule for `a.b`, `getattr(a, "b")`, `operator.attrgetter("b")` and format fields.

A plain name that is written in the source is checked when it is compiled and then costs nothing. What
comes here is every name that starts with an underscore, the few plain names that matter on some
objects, and every name that is known at run time only.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import types
import typing
from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, Final
from xml.etree.ElementTree import Element

from coilclaw.sandbox.restricted.child import special_names as names
from coilclaw.sandbox.restricted.child.facades.facade import SysFacade
from coilclaw.sandbox.restricted.child.formatting import SafeFormatter
from coilclaw.sandbox.restricted.child.instance_variables import InstanceVariables, check_attribute_name, refuse
from coilclaw.sandbox.restricted.child.ownership import Ownership, is_type
from coilclaw.sandbox.restricted.child.sealing import only_for
from coilclaw.sandbox.restricted.child.stand_ins import stand_in

__all__ = ["Attributes"]

_MISSING: Final = object()
_ABSENT: Final = object()
_REFUSED_ON_OTHERS: Final = frozenset(
    {"register", "mro", "get_loop", "get_stack", "get_coro", "print_stack", "evaluate"}
)
_NATIVE: Final = (types.BuiltinFunctionType, types.MethodDescriptorType, types.ClassMethodDescriptorType)
_OPEN_TO_ALL: Final = (decimal.Context, BaseException, Element, SysFacade)
"""Objects whose plain attributes are there to be set."""

_ALIASES: Final = (types.GenericAlias, typing._BaseGenericAlias)  # type: ignore[attr-defined]
"""Generic aliases, of the interpreter and of `typing`."""

_mro = type.__dict__["__mro__"].__get__
_namespace = type.__dict__["__dict__"].__get__
_OF_ONES_OWN: Final = frozenset(
    f"__{name}__" for name in ("subclasses annotations slots match_args abstractmethods defaults kwdefaults").split()
)
_CONSTRUCTIBLE: Final = (object, int, float, complex, str, bytes, tuple, list, dict, set, frozenset)


class Attributes:
    """Reads and writes of attributes, decided by the name and by whose the object is."""

    def __init__(self, own: Ownership, clock: Callable[[], float]) -> None:
        self.own = own
        self._clock = clock
        self._formatter = SafeFormatter(self.get)
        self._known_private: set[tuple[type, str]] = set()
        self._checked: dict[tuple[Any, Any], Callable[..., Any]] = {}

    # What the compiled snippet calls -----------------------------------------------------------------

    def get(self, value: Any, name: str) -> Any:
        """`value.name`, for a name that the compiler did not settle."""
        if type(name) is not str or not name.isascii():
            check_attribute_name(name)
        if names.is_special(name):
            return self._special(value, name)
        if name.startswith("_"):
            return getattr(self.private(value, name), name)
        if name in names.FORBIDDEN_ATTRIBUTES:
            refuse(name)
        found = getattr(value, name)
        return self._watched(value, name, found) if name in names.WATCHED else found

    def private(self, value: Any, name: str) -> Any:
        """The object itself if its `_name` may be touched: it is the snippet's, and so is whoever defines the name."""
        kind = type(value)
        if (kind, name) in self._known_private:
            return value
        if kind is super:
            return value if self._is_own_super(value) and self._is_own_name_after(value, name) else refuse(name)
        if name in names.ENUM_TABLES and is_type(value) and issubclass(kind, enum.EnumMeta):
            return types.SimpleNamespace(**{name: copy(getattr(value, name))})
        if name in names.TUPLE_ATTRIBUTES and _is_tuple(value):
            return value
        if self.own.is_instance(value) and self._is_own_name(kind, name):
            if not any(name in _namespace(base) for base in _mro(kind) if not self.own.is_class(base)):
                self._known_private.add((kind, name))  # For good: no class of the library has one of this name.
            return value
        if self.own.is_class(value) and self._is_own_name(value, name) and not _is_defined(kind, name):
            return value
        if self.own.is_function(value):
            return value
        return refuse(name)

    def _is_own_name(self, kind: type, name: str) -> bool:
        """Whether an object of this class has the name from the snippet, or not from its class at all."""
        return self._is_own_name_among(_mro(kind), name)

    def _is_own_name_after(self, value: Any, name: str) -> bool:
        """The same for what a `super()` finds: it begins after the class that it stands in."""
        line = _mro(super.__dict__["__self_class__"].__get__(value))
        before = line.index(super.__dict__["__thisclass__"].__get__(value))
        return self._is_own_name_among(line[before + 1 :], name)

    def _is_own_name_among(self, classes: Iterable[type], name: str) -> bool:
        for base in classes:
            if name in _namespace(base):
                return self.own.is_class(base) or name in names.INHERITED
        return True

    def _is_own_super(self, value: Any) -> bool:
        """Whether this is what `super()` gives in a method of the snippet."""
        return self.own.is_class(super.__dict__["__thisclass__"].__get__(value))

    def writable(self, value: Any) -> Any:
        """The object itself if a snippet may set its attributes."""
        if self.own.is_instance(value) or value in self.own or issubclass(type(value), _OPEN_TO_ALL):
            return value
        raise TypeError(f"attributes of '{type(value).__name__}' cannot be set in this sandbox")

    def titled(self, value: Any) -> Any:
        """The object itself if its `__name__` may be set: of a function. `typing` treats classes by their names."""
        if self.own.is_function(value):
            return value
        raise TypeError("the name of a class cannot be changed in this sandbox")

    # What the builtins of the same names do --------------------------------------------------------

    def getattr(self, value: Any, name: str, default: Any = _MISSING, /) -> Any:
        try:
            return self.get(value, check_attribute_name(name))
        except AttributeError:
            if default is _MISSING:
                raise
            return default

    def hasattr(self, value: Any, name: str, /) -> bool:
        return self.getattr(value, name, _ABSENT) is not _ABSENT

    def setattr(self, value: Any, name: str, new: Any, /) -> None:
        setattr(self._target(value, name), name, new)

    def delattr(self, value: Any, name: str, /) -> None:
        delattr(self._target(value, name), name)

    def variables(self, value: Any, /) -> Any:
        """`vars(value)`."""
        return self._special(value, "__dict__")

    def kind(self, value: Any) -> type:
        """`type(value)`."""
        kind = type(value)
        return self.type if issubclass(kind, type) else stand_in(kind)

    type: type = type
    """What stands for `type`; replaced when the classes of the run are set up."""

    def _target(self, value: Any, name: str) -> Any:
        if names.is_special(check_attribute_name(name)) and name not in names.WRITABLE | names.DEFINABLE:
            refuse(name)
        if name in names.RESERVED:
            refuse(name)
        return self.titled(value) if name in ("__name__", "__qualname__") else self.writable(value)

    # The rules ---------------------------------------------------------------------------------------

    def _watched(self, value: Any, name: str, found: Any) -> Any:
        value = _behind(value)
        match name:
            case "format" | "format_map":
                return self._formatting(name, found) if type(found) in _NATIVE else found
            case "now" | "utcnow" | "today":
                return self._present(name, found) if type(found) in _NATIVE else found
            case "obj" if isinstance(value, BaseException):
                refuse(name)  # The object an attribute was missing on, which may be anyone's.
            case "parser" if type(found) is types.ModuleType:
                refuse(name)
            case "mro" if self.own.is_class(value):
                return lambda: list(self._bases(value, "__mro__"))
            case "register" if not is_type(value):
                return found  # Of a dispatching function. On a class it would make strangers pass for instances.
            case _ if name in _REFUSED_ON_OTHERS and not self._defined_by_snippet(value, name):
                refuse(name)
        return found

    def _defined_by_snippet(self, value: Any, name: str) -> bool:
        if self.own.is_instance(value) and name in getattr(value, "__dict__", ()):
            return True
        classes = _mro(value if is_type(value) else type(value))
        return any(name in _namespace(kind) for kind in classes if self.own.is_class(kind))

    def _special(self, value: Any, name: str) -> Any:
        if name not in names.READABLE:
            refuse(name)
        match name:
            case "__class__":
                # Of strangers it is refused although `type(x)` tells the same: no walk begins here.
                return self.kind(value) if value in self.own or isinstance(value, BaseException) else refuse(name)
            case "__name__" | "__qualname__" | "__doc__" | "__module__":
                text = getattr(value, name)
                return text if type(text) is str or text is None else refuse(name)
            case "__dict__":
                return self._instance_variables(value)
            case "__mro__" | "__bases__":
                return self._bases(value, name)
            case "__traceback__":
                return _Place.of(value) if isinstance(value, BaseException) else refuse(name)
            case _ if name in _OF_ONES_OWN:
                found = getattr(value, name) if value in self.own else refuse(name)
                return dict(found) if isinstance(found, dict) else found
            case "__wrapped__":
                found = getattr(value, name)
                return found if found in self.own else refuse(name)
            case "__setattr__" | "__delattr__" | "__getattribute__":
                return self._past_overrides(value, name)
            case "__members__":
                return types.MappingProxyType(dict(getattr(value, name)))
            case "__new__" if not self._may_construct(value):
                refuse(name)
            case "__init__" | "__post_init__" | "__init_subclass__" if not (is_type(value) or value in self.own):
                if type(value) is not super:
                    refuse(name)  # An object of the library is not made anew.
        if type(value) is super and not self._is_own_super(value):
            refuse(name)
        found = getattr(value, name)
        if name == "__init__" and is_type(_behind(value)) and not self.own.is_class(_behind(value)):
            return self._initialiser(found)
        return self._for_its_class(value, name, found) if type(found) is types.FunctionType else found

    def _initialiser(self, found: Callable[..., Any]) -> Callable[..., Any]:
        """`Base.__init__(self)` of a library class, for the snippet's own objects: others are not made anew."""

        def initialise(self_: Any, /, *args: Any, **kwargs: Any) -> Any:
            if not self.own.is_instance(self_):
                raise TypeError(f"a '{type(self_).__name__}' object cannot be made anew in this sandbox")
            return found(self_, *args, **kwargs)

        return initialise

    def _for_its_class(self, value: Any, name: str, found: Any) -> Any:
        """A function that is not bound to an object is taken from a class, and is for objects of that class."""
        owner = _behind(value)
        if is_type(owner):
            key: tuple[Any, Any] = (owner, found)
            if key not in self._checked:
                self._checked[key] = only_for(owner, found)
            return self._checked[key]
        return found if self.own.is_instance(value) else refuse(name)

    def _may_construct(self, value: Any) -> bool:
        if type(value) is super:
            return self._is_own_super(value)
        return is_type(value) and (value in _CONSTRUCTIBLE or self.own.is_class(value) or _is_exception(value))

    def _instance_variables(self, value: Any) -> Any:
        if not self.own.is_instance(value):
            if self.own.is_class(value):
                return {key: item for key, item in value.__dict__.items() if not names.is_special(key)}
            raise AttributeError(f"'{type(value).__name__}' object has no attribute '__dict__' in this sandbox")
        return InstanceVariables(value.__dict__)

    def _bases(self, value: Any, name: str) -> Any:
        if not self.own.is_class(value):
            refuse(name)
        return tuple(base for base in getattr(value, name) if self.own.is_class(base) or base in _CONSTRUCTIBLE)

    def _past_overrides(self, value: Any, name: str) -> Callable[..., Any]:
        """`object.__setattr__` and `super().__setattr__`, which a class calls to get past its own."""
        found = getattr(value, name)
        bound = type(value) is super or not is_type(value)

        def access(*args: Any) -> Any:
            target, rest = (_bound(value) if type(value) is super else value, args) if bound else (args[0], args[1:])
            attribute = check_attribute_name(rest[0])
            if name == "__getattribute__":
                found(*args)  # Raises if it is missing: the class's own `__getattr__` is not asked.
                return self.get(target, attribute)
            self._target(target, attribute)
            return found(*args)

        return access

    def _formatting(self, name: str, found: Any) -> Any:
        owner = getattr(found, "__self__", None)
        if not (isinstance(owner, str) or getattr(found, "__objclass__", None) is str):
            return found
        formatter = self._formatter

        def format(*args: Any, **kwargs: Any) -> str:
            text, given = (owner, args) if isinstance(owner, str) else (args[0], args[1:])
            if not isinstance(text, str):
                raise TypeError(f"descriptor 'format' requires a 'str' object, not '{type(text).__name__}'")
            if name == "format_map":
                return formatter.vformat(str.__str__(text), (), given[0])
            return formatter.vformat(str.__str__(text), given, kwargs)

        return format

    def _present(self, name: str, found: Any) -> Any:
        """`datetime.now` and its like, on the clock of the run."""
        kind: Any = getattr(found, "__self__", None)
        if not (is_type(kind) and issubclass(kind, datetime.date)):
            return found
        at: Callable[..., Any] = kind.fromtimestamp
        if name == "now":
            return lambda tz=None: at(self._clock(), tz)
        if name == "utcnow":
            return lambda: at(self._clock(), datetime.UTC).replace(tzinfo=None)
        return lambda: at(self._clock())


def _behind(value: Any) -> Any:
    """The object whose attributes this one passes on: an alias has those of its origin, `super()` of its object."""
    while True:
        if type(value) is super:
            value = _bound(value)
        elif isinstance(value, _ALIASES):
            value = value.__origin__
        else:
            return value


class _Place:
    """What a snippet gets for a traceback: the line, and no way to a frame."""

    def __init__(self, line: int) -> None:
        self.tb_lineno = line

    @classmethod
    def of(cls, error: BaseException) -> _Place | None:
        traceback = error.__traceback__
        return None if traceback is None else cls(traceback.tb_lineno)


def _bound(value: Any) -> Any:
    """The object a `super()` is bound to."""
    return super.__dict__["__self__"].__get__(value)


def _is_defined(kind: type, name: str) -> bool:
    return any(name in _namespace(base) for base in _mro(kind))


def _is_tuple(value: Any) -> bool:
    return issubclass(value if is_type(value) else type(value), tuple)


def _is_exception(value: Any) -> bool:
    return is_type(value) and issubclass(value, BaseException)
