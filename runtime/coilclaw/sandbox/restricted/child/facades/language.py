"""Modules that are about Python itself: here stand the ways to read, set or evaluate things by name."""

from __future__ import annotations

import abc
import contextlib
import contextvars
import copy
import dataclasses
import enum
import functools
import inspect
import operator
import sys
import types
import typing
from collections.abc import Callable
from typing import Any, Final

from coilclaw.sandbox.restricted.child import special_names as names
from coilclaw.sandbox.restricted.child.copying import Copying
from coilclaw.sandbox.restricted.child.facades.dispatch import Dispatch
from coilclaw.sandbox.restricted.child.facades.facade import Facade, take
from coilclaw.sandbox.restricted.child.instance_variables import check_attribute_name
from coilclaw.sandbox.restricted.child.ownership import OWN_CLASS
from coilclaw.sandbox.restricted.child.services import Services
from coilclaw.sandbox.restricted.child.stand_ins import STAND_INS, make_stand_in

__all__ = ["language_facades"]

_OPERATORS: Final = (
    "abs add and_ concat contains countOf delitem eq floordiv ge getitem gt iadd iand iconcat ifloordiv "
    "ilshift imatmul "
    "imod imul index indexOf inv invert ior ipow irshift is_ is_not isub itemgetter itruediv ixor le "
    "length_hint lshift "
    "lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor is_none is_not_none"
)
_TYPING: Final = (
    "Any AnyStr Annotated Awaitable Callable ClassVar Concatenate Container Coroutine Counter DefaultDict "
    "Deque Dict Final "
    "FrozenSet Generator Generic Hashable ItemsView Iterable Iterator KeysView List Literal LiteralString "
    "Mapping MappingView Match MutableMapping MutableSequence MutableSet NamedTuple Never NewType NoReturn NotRequired "
    "Optional OrderedDict ParamSpec Pattern Protocol Required Reversible Self Sequence Set Sized SupportsAbs "
    "SupportsBytes "
    "SupportsComplex SupportsFloat SupportsIndex SupportsInt SupportsRound Text Tuple TypeAlias TypeGuard "
    "TypeIs TypeVar "
    "TypeVarTuple TypedDict Union Unpack AsyncGenerator AsyncIterable AsyncIterator Collection ChainMap AbstractSet "
    "ReadOnly TYPE_CHECKING assert_never assert_type cast final get_args get_origin is_typeddict overload "
    "override reveal_type runtime_checkable dataclass_transform"
)
_DATACLASS_OPTIONS: Final = frozenset(
    "init repr eq order unsafe_hash frozen match_args kw_only slots weakref_slot".split()
)
_PLAIN_BASES: Final = (object, abc.ABC, typing.Generic, typing.Protocol)
_COPIED: Final = ("__name__", "__qualname__", "__doc__")


def language_facades(services: Services) -> dict[str, Facade]:
    """The modules, with guarded versions of what would go around the guards."""
    copying = Copying(services.attributes.own)
    # `dataclasses` copies values by these; they must not be better than what a snippet has.
    copy.__dict__.update(copy=copying.copy, deepcopy=copying.deepcopy)
    _hide_the_mark_of_classes()
    _check_names_of_enums(services)
    members = {
        "__future__": dict.fromkeys(("annotations", "division", "print_function", "generator_stop")),
        "abc": {
            **take(abc, "ABC abstractmethod abstractproperty abstractclassmethod abstractstaticmethod"),
            "ABCMeta": make_stand_in("ABCMeta", abc.ABCMeta),
        },
        "contextlib": take(
            contextlib,
            "AbstractContextManager AbstractAsyncContextManager AsyncExitStack ContextDecorator ExitStack "
            "asynccontextmanager closing aclosing contextmanager nullcontext suppress",
        )
        | {"redirect_stdout": _RedirectStdout, "redirect_stderr": _RedirectStderr},
        "contextvars": take(contextvars, "ContextVar"),
        "copy": {"copy": copying.copy, "deepcopy": copying.deepcopy, "Error": copy.Error},
        "dataclasses": _dataclasses(services),
        "enum": take(
            enum,
            "Enum IntEnum StrEnum Flag IntFlag auto unique verify CONTINUOUS NAMED_FLAGS UNIQUE "
            "FlagBoundary STRICT CONFORM EJECT KEEP member nonmember",
        )
        | dict.fromkeys(("EnumMeta", "EnumType"), make_stand_in("EnumMeta", enum.EnumMeta)),
        "functools": _functools(services),
        "inspect": take(
            inspect,
            "isfunction isclass ismethod isbuiltin isgenerator isgeneratorfunction iscoroutine iscoroutinefunction "
            "isawaitable isasyncgen isasyncgenfunction isroutine",
        ),
        "operator": {**take(operator, _OPERATORS), **_by_name(services)},
        "types": _types(services),
        "typing": {
            **take(typing, _TYPING),
            "Type": services.attributes.type,
            "get_type_hints": lambda value, **options: _type_hints(services, value),
        },
    }
    return {name: Facade(name, found) for name, found in members.items()}


def _hide_the_mark_of_classes() -> None:
    """A protocol's members are what its body binds; the mark of a snippet's classes is not one of them."""
    excluded: Any = typing.EXCLUDED_ATTRIBUTES  # type: ignore[attr-defined]
    typing.EXCLUDED_ATTRIBUTES = type(excluded)([*excluded, OWN_CLASS])  # type: ignore[attr-defined]


def _check_names_of_enums(services: Services) -> None:
    """`Enum("Name", members)` makes a class of whatever it is given, special methods included."""
    metaclass: Any = enum.EnumMeta
    create = metaclass._create_

    def checked(cls: Any, class_name: str, names_given: Any = None, *args: Any, **options: Any) -> Any:
        given = options.pop("names", names_given)
        if isinstance(given, str):
            given = given.replace(",", " ").split()
        entries = list(given.items()) if isinstance(given, dict) else [*given]
        # Taken apart once: an object of the snippet's own may be another one when it is asked again.
        members = [entry if isinstance(entry, str) else tuple(entry)[:2] for entry in entries]
        for member in members:
            name = member if isinstance(member, str) else member[0]
            if not names.is_member(check_attribute_name(name)) or not name.isidentifier():
                raise TypeError(f"{name!r} cannot be the name of a member in this sandbox")
        mixed = options.get("type")
        known = any(mixed is kind for kind in (None, int, str, float))
        if args or not (known or services.attributes.own.is_class(mixed)):
            raise TypeError("an enumeration is mixed with int, str, float or a class of the snippet only")
        return create(cls, check_attribute_name(class_name), members, **{**options, "module": "__main__"})

    metaclass._create_ = checked


class _Redirect:
    """`contextlib.redirect_stdout` and its sibling. The real ones take the stream's name from their object."""

    def __init__(self, new_target: Any) -> None:
        self._target = new_target
        self._before: list[Any] = []


class _RedirectStdout(_Redirect):
    def __enter__(self) -> Any:
        self._before.append(sys.stdout)
        sys.stdout = self._target
        return self._target

    def __exit__(self, *error: object) -> None:
        sys.stdout = self._before.pop()


class _RedirectStderr(_Redirect):
    def __enter__(self) -> Any:
        self._before.append(sys.stderr)
        sys.stderr = self._target
        return self._target

    def __exit__(self, *error: object) -> None:
        sys.stderr = self._before.pop()


def _by_name(services: Services) -> dict[str, Any]:
    attributes = services.attributes

    def attrgetter(*paths: str) -> Callable[[Any], Any]:
        if not paths:
            raise TypeError("attrgetter expected at least 1 argument, got 0")
        steps = [check_attribute_name(path).split(".") for path in paths]

        def get(value: Any, /) -> Any:
            found = tuple(functools.reduce(attributes.get, path, value) for path in steps)
            return found[0] if len(found) == 1 else found

        return get

    def methodcaller(name: str, /, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
        check_attribute_name(name)
        return lambda value, /: attributes.get(value, name)(*args, **kwargs)

    return {"attrgetter": attrgetter, "methodcaller": methodcaller}


def _functools(services: Services) -> dict[str, Any]:
    own = services.attributes.own

    def update_wrapper(wrapper: Any, wrapped: Any) -> Any:
        """Without a choice of names: these are read from anything, and set on the snippet's own only."""
        for name in _COPIED:
            if type(text := getattr(wrapped, name, None)) is str:
                setattr(services.attributes.writable(wrapper), name, text)
        if own.is_function(wrapped):
            wrapper.__dict__.update(
                {name: item for name, item in wrapped.__dict__.items() if names.is_member(check_attribute_name(name))}
            )
            wrapper.__wrapped__ = wrapped
        return wrapper

    def wraps(wrapped: Any) -> Callable[[Any], Any]:
        return lambda wrapper: update_wrapper(wrapper, wrapped)

    def total_ordering(cls: type) -> type:
        return functools.total_ordering(_own_class(services, cls, "total_ordering"))

    return {
        **take(functools, "reduce partial partialmethod lru_cache cache cached_property cmp_to_key"),
        "update_wrapper": update_wrapper,
        "wraps": wraps,
        "total_ordering": total_ordering,
        "singledispatch": Dispatch,
    }


def _own_class(services: Services, cls: Any, used: str) -> Any:
    if not services.attributes.own.is_class(cls):
        raise TypeError(f"{used} can be used on classes of the snippet only")
    return cls


def _check_fields(services: Services, cls: Any) -> None:
    """Code is made of the fields' names, and some of them are attributes that guards watch over."""
    own = services.attributes.own
    fields = [(key, field.name) for key, field in getattr(cls, "__dataclass_fields__", {}).items()]
    taken = [*inspect.get_annotations(cls), *(name for _, name in fields)]
    if any(type(name) is not str or key != name or not name.isidentifier() for key, name in fields):
        raise TypeError("a field of this dataclass was renamed")
    foreign = any(not own.is_class(base) and base not in _PLAIN_BASES for base in cls.__mro__)
    for name in taken:
        if name in names.FORBIDDEN_ATTRIBUTES or (foreign and name in names.WATCHED):
            raise TypeError(f"{name!r} cannot be the name of a field in this sandbox")


def _matchable(cls: type) -> type:
    """A class pattern reads attributes by these names itself: only plain ones, or none at all."""
    found = cls.__dict__.get("__match_args__", ())
    if any(name.startswith("_") or name in names.WATCHED for name in found):
        del cls.__match_args__  # type: ignore[attr-defined]
    return cls


def _dataclasses(services: Services) -> dict[str, Any]:
    def dataclass(cls: Any = None, /, **options: Any) -> Any:
        def made(cls: Any) -> Any:
            _check_fields(services, _own_class(services, cls, "dataclass"))
            return _matchable(dataclasses.dataclass(**options)(cls))

        return made if cls is None else made(cls)

    def make_dataclass(cls_name: str, fields: Any, *, bases: Any = (), namespace: Any = None, **options: Any) -> Any:
        """With the checks that the compiler makes for a class statement."""
        members = dict(namespace or {})
        fields = [field if isinstance(field, str) else tuple(field) for field in fields]
        for name in (*members, *(field if isinstance(field, str) else field[0] for field in fields)):
            if not names.is_member(check_attribute_name(name)) and name not in names.DEFINABLE:
                raise TypeError(f"{name!r} cannot be defined in this sandbox")
        if unknown := options.keys() - _DATACLASS_OPTIONS:
            raise TypeError(f"make_dataclass() has no option {sorted(unknown)[0]!r} in this sandbox")
        check_attribute_name(cls_name)
        members[OWN_CLASS] = True
        bases = tuple(bases)  # Once: it may be another one when it is asked again.
        for base in bases:
            _check_fields(services, _own_class(services, base, "make_dataclass"))
        for name in fields:
            if (name if isinstance(name, str) else name[0]) in names.FORBIDDEN_ATTRIBUTES | names.WATCHED:
                raise TypeError(f"{name!r} cannot be the name of a field in this sandbox")
        return _matchable(dataclasses.make_dataclass(cls_name, fields, bases=bases, namespace=members, **options))

    return {
        "make_dataclass": make_dataclass,
        **take(dataclasses, "field fields asdict astuple replace is_dataclass Field InitVar KW_ONLY MISSING"),
        "FrozenInstanceError": dataclasses.FrozenInstanceError,
        "dataclass": dataclass,
    }


class SimpleNamespace:
    """`types.SimpleNamespace` that takes no special names: copying asks an object's own `__reduce_ex__`."""

    def __init__(self, /, **values: Any) -> None:
        for name, value in values.items():
            if not names.is_member(check_attribute_name(name)):
                raise AttributeError(f"attribute {name!r} cannot be set in this sandbox")
            self.__dict__[name] = value

    def __repr__(self) -> str:
        return f"namespace({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SimpleNamespace):
            return NotImplemented
        return self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]


# A snippet sets and deletes its attributes as it likes, and copies it, like an object of a class of its own.
setattr(SimpleNamespace, OWN_CLASS, True)


def _type_hints(services: Services, value: Any) -> dict[str, Any]:
    """`typing.get_type_hints` without its evaluation of text: a name is looked up, anything else is refused."""
    own = services.attributes.own
    owners = [kind for kind in reversed(value.__mro__) if own.is_class(kind)] if own.is_class(value) else [value]
    hints: dict[str, Any] = {}
    for owner in owners:
        hints.update(services.attributes.get(owner, "__annotations__"))
    for name, hint in hints.items():
        if hint is None:
            hints[name] = type(None)
        if isinstance(hint, str):
            raise NameError(f"the annotation {hint!r:.80} of {name!r} is text, which is not evaluated in this sandbox")
    return hints


def _types(services: Services) -> dict[str, Any]:
    stand_ins = {
        "FunctionType": types.FunctionType,
        "LambdaType": types.FunctionType,
        "BuiltinFunctionType": types.BuiltinFunctionType,
        "MethodType": types.MethodType,
        "GeneratorType": types.GeneratorType,
        "CoroutineType": types.CoroutineType,
        "AsyncGeneratorType": types.AsyncGeneratorType,
        "ModuleType": types.ModuleType,
        "TracebackType": types.TracebackType,
    }
    return {
        **{name: STAND_INS[real] for name, real in stand_ins.items()},
        **take(types, "MappingProxyType NoneType EllipsisType NotImplementedType UnionType GenericAlias"),
        "SimpleNamespace": SimpleNamespace,
    }
