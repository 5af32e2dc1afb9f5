"""Types that a contract can use without asking pydantic whether they are possible.

Importing pydantic takes several times as long as starting Python. The models of a tool whose signature has plain types
only are certain to be possible, so they are made when a call first needs them and not when the file is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin

__all__ = ["Fields", "fits", "is_plain", "is_plain_field"]

Fields: TypeAlias = Mapping[str, tuple[Any, Any]]
"""The type and the default of each parameter; `...` stands for no default."""

_SCALARS: Final = (str, int, float, bool, NoneType)
_TAKEN: Final = frozenset(
    (
        "construct", "copy", "dict", "from_orm", "json", "parse_file", "parse_obj", "parse_raw", "schema",
        "schema_json", "update_forward_refs", "validate",
    )
)  # fmt: skip
"""Names that a model of pydantic has already, besides those that begin with `model_` or an underscore."""


def is_plain(kind: Any) -> bool:
    """Whether a type is certain to have a model."""
    if kind is None or kind is Any or kind in (*_SCALARS, list, dict):
        return True
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return all(type(each) in (str, int, bool, NoneType) for each in arguments)
    if origin is dict:
        return arguments[0] is str and is_plain(arguments[1])
    return origin in (list, Union, UnionType) and all(map(is_plain, arguments))


def is_plain_field(name: str, kind: Any, default: Any) -> bool:
    """Whether a parameter is certain to be possible as a field of a model."""
    if name.startswith(("_", "model_")) or name in _TAKEN:
        return False
    return is_plain(kind) and (default is ... or type(default) in _SCALARS or default in ([], {}))


def fits(example: object, fields: Fields) -> bool:
    """Whether these are certain to be arguments for plain fields: each of exactly the type it should have."""
    if not isinstance(example, dict) or not example.keys() <= fields.keys():
        return False
    return all(
        _is_of(example[name], kind) if name in example else default is not ...
        for name, (kind, default) in fields.items()
    )


def _is_of(value: object, kind: Any) -> bool:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(_is_of(value, each) for each in arguments)
    if origin is Literal:
        return any(type(value) is type(each) and value == each for each in arguments)
    if origin is list:
        return isinstance(value, list) and all(_is_of(each, arguments[0]) for each in value)
    if origin is dict:
        return isinstance(value, dict) and all(type(key) is str and _is_of(value[key], arguments[1]) for key in value)
    return kind is Any or type(value) is (NoneType if kind is None else kind)
