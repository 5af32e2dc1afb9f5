"""Finding what a dotted path names in the arguments of a call.

A caller chooses the shape of what it sends, as far as the tool lets it: one value or a list with one value in it, a
list in a list. Lists are therefore looked through wherever they stand.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple

from pydantic import AliasChoices, BaseModel, RootModel

__all__ = ["Found", "TooMany", "found_at", "is_echo", "is_list", "is_plain_echo"]

_MOST_VALUES: Final = 10_000
_LISTS: Final = (list, tuple, set, frozenset)
_ATOMS: Final = frozenset({str, int, float, bool, type(None)})


class TooMany(Exception):
    """There are more values than anybody wants to look at; the strict answer is then the answer."""


class Found(NamedTuple):
    """A value at a path; `within` when the path names the list it stands in."""

    value: Any
    within: bool


def is_list(value: Any) -> bool:
    return isinstance(value, _LISTS)


def found_at(root: Any, parts: tuple[str, ...], *, ignore_case: bool = False) -> list[Found]:
    """Everything that a path may mean, breadth first, so that each place is visited once for each part."""
    if len(parts) == 1 and parts[0] != "*":
        return _leaves(_members(root, parts[0], ignore_case))
    places: list[list[Any]] = [[root], *([] for _ in parts)]
    for index, part in enumerate(parts):
        for node in _spread(places[index]):
            if part == "*":
                places[index + 1].append(node)
                places[index + 1] += _values(node)
                if len(places[index + 1]) > _MOST_VALUES:
                    raise TooMany
                continue
            if type(node) in _ATOMS:
                continue
            for end in range(index + 1, len(parts) + 1):
                # A name may have dots in it, such as that of a header.
                places[end] += _members(node, ".".join(parts[index:end]), ignore_case)
    return _leaves(places[-1])


def is_echo(sent: Any, meant: Any, name: str) -> bool:
    """Whether a tool took one argument exactly as it was sent, so that looking at both would find the same twice."""
    if is_plain_echo(sent, meant, name):
        return True
    kind: Any = type(meant)
    if type(sent) is not dict or name not in _plain_names(kind) or type(sent.get(name)) is not list:
        return False
    given, taken = sent[name], meant.__dict__.get(name)
    return type(taken) is list and given == taken and all(type(each) is str for each in (*given, *taken))


def is_plain_echo(sent: Any, meant: Any, name: str, *, ignore_case: bool = False) -> bool:
    """The same for one plain value: what was sent under this name is all that there is to look at."""
    kind: Any = type(meant)
    names = _plain_names(kind)
    if type(sent) is not dict or name not in names or name not in sent or (ignore_case and not sent.keys() <= names):
        return False
    given, taken = sent[name], meant.__dict__.get(name)
    return type(given) in _ATOMS and type(given) is type(taken) and bool(given == taken)


def _leaves(places: list[Any]) -> list[Found]:
    found: list[Found] = []
    for place in _distinct(places):
        value = _simple(place)
        found.append(Found(value, within=False))
        if isinstance(value, _LISTS):
            found += [Found(_simple(each), within=True) for each in _spread([value])]
    if len(found) > _MOST_VALUES:
        raise TooMany
    return found


def _distinct(nodes: list[Any]) -> Iterable[Any]:
    """A place that can be reached in several ways is looked at once; nested lists would multiply otherwise."""
    return nodes if len(nodes) < 2 else {id(node): node for node in nodes}.values()


def _spread(nodes: list[Any]) -> list[Any]:
    """What is in lists at any depth, and what is not a list."""
    found: list[Any] = []
    waiting = [*_distinct(nodes)]
    waiting.reverse()
    steps = 0
    while waiting:
        node = waiting.pop()
        if type(node) in _ATOMS or type(node) is dict:
            found.append(node)
        elif isinstance(node, _LISTS):
            if len(waiting) + len(node) > _MOST_VALUES:
                raise TooMany
            waiting.extend([*node][::-1])
        elif isinstance(node, RootModel):
            waiting.append(node.root)
        else:
            found.append(node)
        steps += 1
        if steps > _MOST_VALUES:
            raise TooMany
    return found


def _members(node: Any, key: str, ignore_case: bool) -> list[Any]:
    if type(node) is dict and not ignore_case:
        return [node[key]] if key in node else []
    names = key.casefold() if ignore_case else key
    return [value for name, value in _items(node) if (name.casefold() if ignore_case else name) == names]


def _values(node: Any) -> list[Any]:
    return [] if type(node) in _ATOMS else [value for _, value in _items(node)]


def _items(node: Any) -> Iterator[tuple[str, Any]]:
    """What a table or a model holds, by every name it has; no code of the tool's author runs."""
    if isinstance(node, Mapping):
        yield from ((str(name), value) for name, value in node.items())
    elif isinstance(node, BaseModel):
        others = _other_names(type(node))
        for name, value in node.__dict__.items():
            yield name, value
            for other in others.get(name, ()):
                yield other, value
        yield from (node.__pydantic_extra__ or {}).items()
    elif dataclasses.is_dataclass(node) and not isinstance(node, type):
        yield from ((each.name, getattr(node, each.name, None)) for each in dataclasses.fields(node))


@lru_cache(maxsize=256)
def _plain_names(kind: type) -> frozenset[str]:
    """The fields of a model each of which has one name, and one that no other has in capitals."""
    if not issubclass(kind, BaseModel) or _other_names(kind):
        return frozenset()
    names = frozenset(kind.model_fields)
    return names if len({name.casefold() for name in names}) == len(names) else frozenset()


@lru_cache(maxsize=256)
def _other_names(model: type[BaseModel]) -> dict[str, tuple[str, ...]]:
    """The names under which a caller may send a field, besides its own."""
    names = {}
    for name, info in model.model_fields.items():
        alias = info.validation_alias
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
        others = {each for each in (info.alias, *choices) if isinstance(each, str) and each != name}
        if others:
            names[name] = tuple(sorted(others))
    return names


def _simple(value: Any) -> Any:
    """A value as JSON would have it."""
    if type(value) in _ATOMS or isinstance(value, dict | list):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, RootModel):
        return value.root
    if isinstance(value, (*_LISTS, Mapping, BaseModel, str, int, float)) or dataclasses.is_dataclass(value):
        return value
    return value.isoformat() if isinstance(value, date | time) else str(value)
