"""Which names that start with an underscore a snippet may use, and for what.

Everything is refused that is not listed. A name is listed when reading it yields nothing but what the
snippet could have computed without it, or when a guard in `attributes` decides by the object.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from RestrictedPython.transformer import INSPECT_ATTRIBUTES

__all__ = [
    "ASSIGNABLE_IN_CLASSES",
    "DEFINABLE",
    "ENUM_TABLES",
    "FORBIDDEN_ATTRIBUTES",
    "GUARD_NAMES",
    "INHERITED",
    "LITERAL_IN_CLASSES",
    "METADATA",
    "READABLE",
    "READABLE_VARIABLES",
    "RESERVED",
    "TUPLE_ATTRIBUTES",
    "WATCHED",
    "WRITABLE",
    "is_member",
    "is_normal",
    "is_special",
]

_OPERATORS: Final = (
    "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift "
    "radd rsub rmul rtruediv rfloordiv rmod rpow rmatmul rand ror rxor rlshift rrshift "
    "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift "
    "neg pos abs invert divmod rdivmod lt le eq ne gt ge"
)
_PROTOCOLS: Final = (
    "init repr str bytes hash bool int float complex index round trunc floor ceil format len length_hint "
    "contains iter next reversed getitem setitem delitem missing call enter exit aenter aexit await aiter anext "
    "init_subclass post_init sizeof"
)


def _special(names: str) -> frozenset[str]:
    return frozenset(f"__{name}__" for name in names.split())


_METHODS: Final = _special(f"{_OPERATORS} {_PROTOCOLS}")

DEFINABLE: Final = _METHODS | _special(
    "new del getattr setattr delattr get set delete set_name class_getitem copy deepcopy dir"
)
"""Methods a class may define. Not those by which C code is told how to rebuild, copy or inspect objects."""

ASSIGNABLE_IN_CLASSES: Final = DEFINABLE | {"__hash__", "__doc__"}
LITERAL_IN_CLASSES: Final = frozenset({"__slots__", "__match_args__"})
"""Assigned in a class body as literal strings only: C code reads attributes by these names, unguarded."""

READABLE: Final = (
    _METHODS
    | _special("class name qualname doc module dict mro bases new setattr delattr getattribute annotations")
    | _special(
        "members cause context suppress_context notes wrapped subclasses slots match_args abstractmethods "
        "defaults kwdefaults traceback"
    )
)
"""Special attributes that may be read, each through a guard."""

METADATA: Final = _special("all author version license email date copyright credits")
"""Names by which a program describes itself. They are variables like any other."""

READABLE_VARIABLES: Final = METADATA | _special("name doc debug")
WRITABLE: Final = _special("name doc qualname cause context")
"""Special attributes that may be set: by decorators, and on exceptions."""

FORBIDDEN_ATTRIBUTES: Final = INSPECT_ATTRIBUTES
"""Ways from generators, coroutines and tracebacks into frames: no object's attribute of this name is reached."""

WATCHED: Final = frozenset(
    "format format_map obj register mro get_loop get_stack get_coro print_stack evaluate parser "
    "now utcnow today".split()
)
"""Plain names that are harmless on the snippet's own objects, and replaced or refused on others."""

GUARD_NAMES: Final = frozenset(
    "_getattr_ _getitem_ _getiter_ _write_ _inplacevar_ _apply_ _print_ _print _unpack_sequence_ "
    "_iter_unpack_sequence_ __metaclass__".split()
)
"""RestrictedPython's own guards. None of them is used, and no snippet has a good reason to bind one."""

ENUM_TABLES: Final = frozenset({"_member_map_", "_value2member_map_", "_member_names_", "_unhashable_values_"})
"""What an enumeration finds its members in. A snippet gets copies: an entry would be an attribute of its class."""

RESERVED: Final = ENUM_TABLES | {"_is_protocol", "_is_runtime_protocol", "_asyncio_future_blocking", "_abc_impl"}
"""Names by which the library recognises objects of its own, or keeps what it knows of a class."""

TUPLE_ATTRIBUTES: Final = frozenset({"_asdict", "_replace", "_fields", "_make", "_field_defaults"})
INHERITED: Final = TUPLE_ATTRIBUTES | {"_value_", "_name_", "_missing_", "_generate_next_value_", "_sort_order_"}
"""Names with one underscore that library classes hand down on purpose."""


def is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def is_normal(name: str) -> bool:
    """Whether the name stays what it is when it becomes part of a program.

    The compiler puts identifiers into normal form, so that `format` in full-width letters is `format`. Whatever
    makes code of a name that came as text would get past every check of that text.
    """
    return name.isascii() or unicodedata.is_normalized("NFKC", name)


def is_member(name: str) -> bool:
    """Whether a snippet may give this name to a member of an object or a class, other than in its source."""
    return not is_special(name) and name not in RESERVED and is_normal(name)
