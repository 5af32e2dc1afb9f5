"""A program for the tests of the facades: walks through everything a snippet can reach and names what it should not.

Run as a file in a process of its own, because building a snippet's world changes the interpreter it
is built in. It starts from every module, builtin and name of a snippet, and from what a program makes
of them, and reads on by the same rules as a compiled snippet does: plain names as they are, others
through the guard. It prints the paths that led to something forbidden, as JSON.
"""

from __future__ import annotations

import asyncio
import builtins
import codecs
import ctypes
import gc
import importlib.machinery
import importlib.util
import io
import json
import marshal
import os
import pickle
import posix
import re
import runpy
import signal
import socket
import string
import subprocess
import sys
import threading
import traceback
import types
from collections import Counter, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SETTINGS: dict[str, Any] = json.loads(sys.argv[1])
MOST_OF_A_KIND = 60
"""Objects of one class that are looked at. Some make new ones without end."""

FUNCTIONS = (
    types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType,
    types.MethodDescriptorType, types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
)  # fmt: skip
FORBIDDEN_KINDS = (
    types.ModuleType, types.FrameType, types.CodeType, types.TracebackType, types.CellType,
    asyncio.AbstractEventLoop, asyncio.Handle, importlib.machinery.ModuleSpec, importlib.machinery.SourceFileLoader,
    io.RawIOBase, io.BufferedIOBase, io.TextIOWrapper, socket.socket, threading.Thread, os._Environ, subprocess.Popen,
    ctypes.CDLL,
)  # fmt: skip
HARMLESS_KINDS = (io.StringIO, io.BytesIO)
FORBIDDEN_BUILTINS = (
    "type", "eval", "exec", "open", "compile", "getattr", "setattr", "delattr", "hasattr", "vars", "globals", "locals",
    "input", "breakpoint", "__import__", "__build_class__",
)  # fmt: skip
FORBIDDEN_MODULES = (
    os, posix, subprocess, socket, ctypes, gc, marshal, pickle, runpy, signal, importlib.util, threading,
)  # fmt: skip
ADMITTED = (os.fspath, os.path.normpath, threading.Lock, threading.RLock, threading.Condition)
HANDED_OVER_BY_THE_INTERPRETER = "made['the end of a with statement'][2]"
"""The traceback that every `__exit__` gets. Nothing stands between; but from there, nothing may be reached."""


REACHING = frozenset(
    {"getattr", "setattr", "delattr", "eval", "exec", "open", "_getframe", "modules", "get_running_loop", "_get_running_loop"}
)  # fmt: skip
"""What a method of the library uses that reaches further than its arguments.

A method is called with whatever a snippet passes for `self`, and would read what it reaches for from there.
"""
REVIEWED = frozenset(
    {
        "Repr.repr1",  # Calls a method of `self` whose name begins with `repr_`.
        "IPv6Address.__eq__",  # Reads one attribute, by a fixed name.
        "Protocol.__init_subclass__",  # Reads attributes of the new class, by fixed names.
        "Enum.__new__",  # The same.
        "_GeneratorContextManagerBase.__init__",  # Reads a docstring.
        "ParserBase._parse_doctype_subset",  # Calls a method of `self` whose name begins with `_parse_doctype_`.
        "Timeout.reschedule",  # Gives `self` a timer, which offers nothing but to cancel it.
    }
)

PROGRAM = (Path(__file__).parent / "crawl_program.txt").read_text()
"""Makes one of everything that a snippet can make."""


# Holes to plant: the walk must find each --------------------------------------------------------------------


def a_module_in_a_facade(world: Any) -> None:
    world.facades["json"].__dict__["codecs"] = codecs


def a_frame_in_a_list(world: Any) -> None:
    world.names["frames"] = [{"top": sys._getframe()}]


def the_real_type(world: Any) -> None:
    world.facades["typing"].__dict__["Kind"] = type


def an_unguarded_getattr(world: Any) -> None:
    world.builtins["read"] = getattr


def an_open_file(world: Any) -> None:
    world.facades["sys"].__dict__["log"] = open(os.devnull)  # noqa: SIM115


def a_function_of_the_system(world: Any) -> None:
    world.facades["os"].__dict__["system"] = os.system


def an_event_loop_behind_an_attribute(world: Any) -> None:
    world.names["runner"] = types.SimpleNamespace(loop=asyncio.SelectorEventLoop())


def a_private_attribute_of_a_base(world: Any) -> None:
    json.JSONEncoder._value_ = os  # type: ignore[attr-defined]  # One of the few that are handed down.


def a_metaclass(world: Any) -> None:
    world.facades["abc"].__dict__["Meta"] = type("Meta", (type,), {})


def a_method_that_trusts_its_self(world: Any) -> None:
    world.facades["string"].__dict__["Reader"] = string.Formatter


def no_guard_of_special_names(world: Any) -> None:
    world.attributes.get = getattr


# The walk ----------------------------------------------------------------------------------------------------


def build_world() -> Any:
    """A snippet's surroundings, as the warm parent builds them, with a host that always answers the same."""
    folder = Path(SETTINGS["packages"]["coilclaw.sandbox.restricted"][0])
    spec = importlib.util.spec_from_file_location("boot", folder / "child" / "boot.py")
    assert spec is not None
    assert spec.loader is not None
    boot = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(boot)
    boot.prepare()
    from coilclaw.sandbox.restricted.child.world import World

    world: Any = World()
    answer = '{"ok": true, "value": {"a": [1]}}'
    answers = {"call": answer.encode(), "wait": json.dumps([[1, answer]]).encode(), "preflight": b"[]"}
    world.link._ask = lambda header, body=b"": answers.get(header[0], b"1")
    world.link.send = lambda header, body: None
    return world


def run(world: Any) -> dict[str, Any]:
    """The variables of a program that makes one of everything."""
    from coilclaw.sandbox.guest.program import run_program
    from coilclaw.sandbox.restricted.child.facades.catalogue import subclassable

    bases = sorted(subclassable(world.facades) | {object, int, str, list, dict, tuple, Exception}, key=str)
    names = world.begin("snippet.py", {"bases": bases}, 1)
    preflight = world.link.preflight
    answer = run_program(
        PROGRAM, "snippet.py", names, world.completions, preflight, check=world.check, module=world.module
    )
    if json.loads(answer)["status"] != "completed":
        raise RuntimeError(answer)
    return {name: value for name, value in world.module.__dict__.items() if name != "bases"}


class Walk:
    """Everything that was reached, and by which path what of it is forbidden."""

    def __init__(self, world: Any) -> None:
        from coilclaw.sandbox.restricted.child import attributes, classes, link, ownership, services, special_names
        from coilclaw.sandbox.restricted.child import world as worlds

        self.found: dict[str, str] = {}
        self.reached = 0
        self._world = world
        self._names = special_names
        self._own_parts: tuple[type, ...] = (
            attributes.Attributes,
            classes.Classes,
            link.HostLink,
            ownership.Ownership,
            services.Services,
        )
        self._own_parts += (worlds.World, type(world.completions))
        self._forbidden = dict(_forbidden_objects())
        self._seen: dict[int, Any] = {}
        self._kinds: Counter[type] = Counter()
        self._waiting: deque[tuple[str, Any]] = deque()

    def add(self, path: str, value: Any) -> None:
        if id(value) in self._seen:
            return
        self._seen[id(value)] = value  # Kept, so that its identity is not given to another.
        self.reached += 1
        if path != HANDED_OVER_BY_THE_INTERPRETER and (why := self._why_forbidden(value)) is not None:
            self.found[path] = why
        elif not isinstance(value, (*FUNCTIONS, str, bytes, int, float)):
            self._kinds[type(value)] += 1
            if (
                isinstance(value, type)
                or type(value).__name__ == "Facade"
                or self._kinds[type(value)] <= MOST_OF_A_KIND
            ):
                self._waiting.append((path, value))

    def go(self) -> None:
        while self._waiting:
            path, value = self._waiting.popleft()
            for step, found in self._steps(value):
                self.add(path + step, found)

    def _steps(self, value: Any) -> Iterator[tuple[str, Any]]:
        for name in sorted(_attribute_names(value) | self._names.READABLE):
            try:
                found = self._read(value, name)
            except Exception:
                continue
            yield f".{name}", found
        if isinstance(value, list | tuple | set | frozenset | deque):
            yield from ((f"[{number}]", item) for number, item in enumerate(value))
        if isinstance(value, dict | types.MappingProxyType):
            yield from ((f"[{key!r:.40}]", item) for key, item in value.items())
            yield from ((f" key {key!r:.40}", key) for key in value)
        yield " type", self._world.attributes.kind(value)

    def _read(self, value: Any, name: str) -> Any:
        """What the compiled `value.name` does, or `getattr` where the name cannot be written."""
        plain = not name.startswith("_") and name not in self._names.WATCHED | self._names.FORBIDDEN_ATTRIBUTES
        return getattr(value, name) if plain else self._world.attributes.get(value, name)

    def _why_forbidden(self, value: Any) -> str | None:
        if isinstance(value, HARMLESS_KINDS):
            return None
        if issubclass(type(value), FORBIDDEN_KINDS) or issubclass(type(value), self._own_parts):
            return f"a {type(value).__name__}"
        if issubclass(type(value), type) and issubclass(value, type):
            return "a metaclass"
        if issubclass(type(value), type) and issubclass(value, (*FORBIDDEN_KINDS, *self._own_parts)):
            return None if issubclass(value, HARMLESS_KINDS) else f"the class {value.__name__}"
        return self._forbidden.get(id(value)) or self._reaching_method(value)

    def _reaching_method(self, value: Any) -> str | None:
        function = value
        if type(value) is types.MethodType:
            if not isinstance(value.__self__, type) and not self._world.attributes.own.is_instance(value.__self__):
                return None  # Of an object of the library, which has the `self` it expects.
            function = value.__func__
        if type(function) is not types.FunctionType or function.__globals__ is self._world.module.__dict__:
            return None
        if function.__module__.startswith("coilclaw.") or function.__qualname__ in REVIEWED:
            return None
        used = REACHING & _names_used(function.__code__) if re.fullmatch(r"\w+\.\w+", function.__qualname__) else None
        return f"{function.__qualname__}, which uses {', '.join(sorted(used))}" if used else None


def _names_used(code: types.CodeType) -> set[str]:
    inner = (_names_used(part) for part in code.co_consts if isinstance(part, types.CodeType))
    return set(code.co_names).union(*inner)


def _attribute_names(value: Any) -> set[str]:
    names = {name for name in dir(value) if isinstance(name, str)}
    return names | set(dir(type(value))) if isinstance(value, type) else names


def _forbidden_objects() -> Iterator[tuple[int, str]]:
    for kind in (
        types.FunctionType,
        types.MethodType,
        types.GeneratorType,
        types.CoroutineType,
        types.AsyncGeneratorType,
    ):
        yield id(kind), f"the real class {kind.__name__}"
    for name in FORBIDDEN_BUILTINS:
        yield id(getattr(builtins, name)), name
    for module in FORBIDDEN_MODULES:
        for name, value in vars(module).items():
            admitted = any(value is each for each in ADMITTED)
            if callable(value) and not admitted and getattr(value, "__module__", None) == module.__name__:
                yield id(value), f"{module.__name__}.{name}"
    for name in ("_getframe", "settrace", "setprofile", "_current_frames", "addaudithook", "displayhook", "excepthook"):
        yield id(getattr(sys, name)), f"sys.{name}"
    for name in ("__new__", "__getattribute__", "__setattr__", "__subclasses__", "__instancecheck__"):
        yield id(type.__dict__[name]), f"type.{name}"
        yield id(getattr(type, name)), f"type.{name}"
    for name in ("__getattribute__", "__setattr__", "__delattr__", "__reduce__", "__reduce_ex__", "__subclasshook__"):
        yield id(object.__dict__[name]), f"object.{name}"


def crawl() -> dict[str, Any]:
    """What was found, after the hole that the settings name was made."""
    world = build_world()
    if SETTINGS["hole"]:
        plant: Callable[[Any], None] = globals()[SETTINGS["hole"]]
        plant(world)
    walk = Walk(world)
    for start in (world.facades, world.builtins, world.names, run(world)):
        for name, value in start.items():
            if all(part.isidentifier() for part in name.split(".")) and not name.startswith("__"):
                walk.add(name, value)
    walk.go()
    return {"reached": walk.reached, "found": walk.found}


def main() -> None:
    report = os.fdopen(os.dup(1), "w")  # The world takes standard output, and standard error, for the snippet.
    try:
        report.write(json.dumps(crawl()))
    except BaseException:
        report.write(json.dumps({"broken": traceback.format_exc()}))
    report.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
