"""A program for the tests of the facades: finds everything that takes the name of an attribute as text.

Run as a file in a process of its own, like `crawl.py`. It calls every function, class and method that a
snippet can reach with a name in every position, alone and inside the containers in which names come, and
looks whether an attribute of that name was read, was written, or appeared. It prints who took it, as JSON.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import sys
import traceback
import types
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import crawl  # type: ignore[import-not-found]

NAME: str = crawl.SETTINGS["name"]
WANTED = frozenset({NAME, unicodedata.normalize("NFKC", NAME)})
SECONDS_FOR_ONE = 0.5
"""For all calls of one function. Some wait for something that never comes."""
NOT_CALLED = frozenset({"sys.setrecursionlimit", "sys.set_int_max_str_digits", "decimal.setcontext", "builtins.print"})
"""They would change the conditions for all that come after them."""
PLAIN = (str, bytes, int, float, bool, complex, list, tuple, dict, set, frozenset, type(None), type(NotImplemented))
INSTANCES: tuple[tuple[Any, ...], ...] = ((), (NAME,), (1,), ([],), ({},), (2000, 1, 1), (b"",), (len,))


class TookTooLong(BaseException):
    pass


# Holes to plant: the crawl must find each -------------------------------------------------------------------


def functions_that_take_names(world: Any) -> None:
    def property_of(name: str) -> Any:
        return eval(f"lambda value: value.{name}")

    def assign(value: Any, pairs: Any) -> None:
        for name, new in pairs:
            setattr(value, name, new)

    world.facades["json"].__dict__["property_of"] = property_of
    world.facades["json"].__dict__["pick"] = lambda name, value: getattr(value, name)
    world.facades["types"].__dict__["Bunch"] = types.SimpleNamespace
    world.facades["operator"].__dict__["assign"] = assign


# The crawl ---------------------------------------------------------------------------------------------------


def _positions(is_function: bool) -> Iterator[tuple[int, ...]]:
    """Which values stand in which places: of three places, only the simplest values."""
    yield ()
    yield from itertools.product(range(10), repeat=1)
    yield from itertools.product(range(10), repeat=2)
    if is_function:
        yield from itertools.product(range(4), repeat=3)
    else:
        yield (8, 9, 5)  # `get_field` of a formatter.


class Crawl:
    """Who took the name, and how."""

    def __init__(self, world: Any) -> None:
        self.took: dict[str, str] = {}
        self.called = 0
        self._world = world
        self._own: Any = None
        self._asked: set[str] = set()

    def go(self) -> None:
        for title, value in self._reachable():
            signal.setitimer(signal.ITIMER_REAL, SECONDS_FOR_ONE)
            with contextlib.suppress(TookTooLong):
                try:
                    self._try(title, value)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)

    def _reachable(self) -> Iterator[tuple[str, Any]]:
        """Functions and classes by their dotted names, and the methods of the classes' objects."""
        spaces = {name: facade.__dict__ for name, facade in self._world.facades.items()}
        spaces |= {"builtins": self._world.builtins, "names": self._world.names}
        seen: set[int] = set()
        for space, members in sorted(spaces.items()):
            for name, value in sorted(members.items()):
                if not name.isidentifier() or f"{space}.{name}" in NOT_CALLED or id(value) in seen:
                    continue
                seen.add(id(value))
                if callable(value):
                    yield f"{space}.{name}", value
                if isinstance(value, type) and not issubclass(value, BaseException):
                    yield from self._methods(f"{space}.{name}", value)

    def _methods(self, title: str, kind: Any) -> Iterator[tuple[str, Any]]:
        for arguments in INSTANCES:
            with contextlib.suppress(Exception):
                value = kind(*arguments)
                break
        else:
            return
        for name in dir(value):
            if not name.startswith("_"):
                with contextlib.suppress(Exception):
                    found = self._world.attributes.get(value, name)
                    if callable(found) and not isinstance(found, type):
                        yield f"{title}().{name}", found

    def _try(self, title: str, value: Any) -> None:
        for numbers in _positions("()" not in title):
            self._call(title, value, numbers, {})
            if len(numbers) < 2:
                self._call(title, value, numbers, {NAME: 1})
            if title in self.took:
                return

    def _values(self) -> tuple[Any, ...]:
        own = self._fresh_class()
        mine = own()
        return mine, own, NAME, [NAME], [(NAME, int)], {NAME: 1}, 1, f"{{0.{NAME}}}", f"0.{NAME}", (mine,)

    def _call(self, title: str, function: Callable[..., Any], numbers: tuple[int, ...], named: dict[str, Any]) -> None:
        values = self._values()
        mine, own, *_ = values
        self._asked.clear()
        self.called += 1
        try:
            result = function(*[values[number] for number in numbers], **named)
            if type(result) not in PLAIN:
                if self._shows(result):
                    self.took[title] = "made something that has it"
                elif callable(result) and not isinstance(result, type):
                    result(mine)
        except TookTooLong:
            raise
        except BaseException:
            pass
        if not WANTED.isdisjoint(self._asked):
            self.took[title] = "read or wrote it"
        elif not (WANTED.isdisjoint(vars(own)) and WANTED.isdisjoint(vars(mine))):
            self.took[title] = "set it"

    def _fresh_class(self) -> Any:
        """A class of the snippet whose objects tell which names they are asked for."""
        if self._own is None or not WANTED.isdisjoint(vars(self._own)):
            asked = self._asked

            def note(self: Any, name: str, *value: Any) -> Any:
                asked.add(name)
                if value:
                    return None
                raise AttributeError(name)

            from coilclaw.sandbox.restricted.child.ownership import OWN_CLASS

            namespace = {"__getattr__": note, "__setattr__": note, "__delattr__": note, OWN_CLASS: True}
            self._own = type("Own", (), namespace)
        return self._own

    def _shows(self, value: Any) -> bool:
        names: set[str] = set()
        for each in (value, type(value)):
            with contextlib.suppress(Exception):
                names.update(object.__getattribute__(each, "__dict__"))
            with contextlib.suppress(Exception):
                names.update(type.__dict__["__dict__"].__get__(each))
            with contextlib.suppress(Exception):
                names.update(each._member_map_)
        for function in (value, *(vars(value).values() if isinstance(value, type) else ())):
            if type(function) is types.FunctionType and function.__globals__ is not globals():
                names.update(crawl._names_used(function.__code__), function.__code__.co_varnames)
        return not WANTED.isdisjoint(names)


def go() -> dict[str, Any]:
    world = crawl.build_world()
    world.begin("snippet.py", {}, 1)
    if crawl.SETTINGS["hole"]:
        globals()[crawl.SETTINGS["hole"]](world)

    def stop(*_: Any) -> None:
        raise TookTooLong

    signal.signal(signal.SIGALRM, stop)
    walk = Crawl(world)
    walk.go()
    return {"called": walk.called, "took": walk.took}


def main() -> None:
    report = os.fdopen(os.dup(1), "w")  # The world takes standard output, and standard error, for the snippet.
    try:
        report.write(json.dumps(go()))
    except BaseException:
        report.write(json.dumps({"broken": traceback.format_exc()}))
    report.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
