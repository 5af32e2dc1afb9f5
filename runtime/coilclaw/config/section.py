"""Tables of the configuration: typed, frozen, and read with all their problems at once.

Every command reads the configuration, and importing pydantic would take longer than most commands do. So a table is
read here, strictly: a number is no text, and a key that nobody knows is a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    Union,
    get_args,
    get_origin,
)

from coilclaw.sdk.frozen import Frozen

__all__ = ["Check", "Place", "Problem", "Section", "plain", "read_section"]

Place: TypeAlias = tuple[str | int, ...]
Check: TypeAlias = Callable[[Any], str | None]
"""Says what a value must be, or None if it is that. Stands in an annotation: `Annotated[int, at_least(1)]`."""

_WRONG: Final = object()
_KINDS: Final = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a table",
}
_EXPECTED: Final = {bool: "a valid boolean", int: "a valid integer", float: "a valid number", str: "a valid string"}


class Problem(NamedTuple):
    """What is wrong in one place. A value is never repeated: it may be a secret."""

    place: Place
    message: str
    of_section: bool = False
    """Whether each key is right by itself, and the problem is what they say together."""


class Section(Frozen):
    """One table. A subclass annotates its keys and gives their defaults."""

    is_open: ClassVar[bool] = False
    others: ClassVar[Mapping[str, Any]] = {}
    """In an open section, what stands under keys that are not annotated."""

    @classmethod
    def problems(cls, values: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
        """Yield what is wrong with values that are each right by themselves. Those that are wrong are missing."""
        yield from ()


def read_section(kind: type[Section], table: Mapping[str, Any], problems: list[Problem]) -> Any:
    """Return the section, or add what is wrong to the problems."""
    found = _Reading(problems).value(kind, table, ())
    return None if found is _WRONG else found


def plain(value: Any) -> Any:
    """Return a section, or a value in one, as JSON data."""
    if isinstance(value, Section):
        return plain({**{each.name: getattr(value, each.name) for each in fields(value)}, **value.others})
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value


class _Reading:
    """One pass over a tree. Everything that is wrong is noted, and reading goes on."""

    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems

    def _wrong(self, place: Place, message: str) -> Any:
        self._problems.append(Problem(place, message))
        return _WRONG

    def _must_be(self, place: Place, expected: str, value: Any) -> Any:
        return self._wrong(place, f"must be {expected}, not {_KINDS.get(type(value), 'what it is')}")

    def value(self, kind: Any, value: Any, place: Place) -> Any:
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._checked(arguments[0], arguments[1:], value, place)
        if origin is Literal:
            return self._choice(arguments, value, place)
        if origin in (Union, UnionType):
            return self._either(arguments, value, place)
        if origin is tuple:
            return self._list(arguments[0], value, place)
        if origin is not None:  # A mapping.
            return self._table(arguments[1], value, place)
        if isinstance(kind, type) and issubclass(kind, Section):
            return self._section(kind, value, place)
        return self._scalar(kind, value, place)

    def _scalar(self, kind: Any, value: Any, place: Place) -> Any:
        if kind is Any:
            return value
        if kind is Path:
            return Path(value) if type(value) is str else self._must_be(place, "a path", value)
        if type(value) is kind:
            return value
        return float(value) if kind is float and type(value) is int else self._must_be(place, _EXPECTED[kind], value)

    def _checked(self, kind: Any, checks: tuple[Check, ...], value: Any, place: Place) -> Any:
        found = self.value(kind, value, place)
        if found is _WRONG or found is None:
            return found
        expected = next((told for told in (check(found) for check in checks) if told), None)
        return found if expected is None else self._wrong(place, f"must be {expected}")

    def _choice(self, choices: tuple[Any, ...], value: Any, place: Place) -> Any:
        if any(type(value) is type(choice) and value == choice for choice in choices):
            return value
        if choices == (True,):
            return self._wrong(place, "CoilClaw does not work without this; leave the key out, or write true")
        *first, last = map(repr, choices)
        return self._wrong(place, f"this value is not allowed; use {', '.join(first)} or {last}")

    def _either(self, kinds: tuple[Any, ...], value: Any, place: Place) -> Any:
        """A union has one kind for lists at most; TOML has no None."""
        lists = [kind for kind in kinds if get_origin(kind) is tuple]
        return self.value(lists[0] if lists and isinstance(value, list) else kinds[0], value, place)

    def _list(self, kind: Any, value: Any, place: Place) -> Any:
        if not isinstance(value, list):
            return self._must_be(place, "a valid array", value)
        found = [self.value(kind, each, (*place, number)) for number, each in enumerate(value)]
        return _WRONG if _WRONG in found else tuple(found)

    def _table(self, kind: Any, value: Any, place: Place) -> Any:
        if not isinstance(value, dict):
            return self._must_be(place, "a table", value)
        found = {key: self.value(kind, each, (*place, key)) for key, each in value.items()}
        return _WRONG if _WRONG in found.values() else found

    def _section(self, kind: type[Section], value: Any, place: Place) -> Any:
        if not isinstance(value, dict):
            return self._must_be(place, "a table", value)
        before = len(self._problems)
        known = {each.name: each for each in fields(kind)}
        values: dict[str, Any] = {}
        for name, key in known.items():
            if name in value:
                values[name] = self.value(key.type, value[name], (*place, name))
            elif key.default_factory is not MISSING:
                values[name] = key.default_factory()
            elif key.default is not MISSING:
                values[name] = key.default
            else:
                values[name] = self._wrong((*place, name), "this key is required")
        others = {key: each for key, each in value.items() if key not in known}
        for key in () if kind.is_open else others:
            self._wrong((*place, key), _unknown(key, known))
        values = {name: each for name, each in values.items() if each is not _WRONG}
        for inner, message in kind.problems({**others, **values}):
            self._problems.append(Problem((*place, *inner), message, of_section=True))
        if len(self._problems) > before:
            return _WRONG
        section = kind(**values)
        if others:
            object.__setattr__(section, "others", others)
        return section


def _unknown(key: str, known: Mapping[str, Any]) -> str:
    import difflib

    near = difflib.get_close_matches(key, known, n=1)
    return "unknown key" + (f"; did you mean {near[0]!r}?" if near else "")
