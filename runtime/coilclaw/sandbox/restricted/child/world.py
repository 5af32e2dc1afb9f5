"""The surroundings of a snippet, built once in the warm parent."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import dataclasses
import hashlib
import io
import sys
import threading
import types
from typing import Any

from coilclaw.sandbox.guest.display import make_display
from coilclaw.sandbox.guest.executor import CallFuture
from coilclaw.sandbox.guest.guide import make_help, plain_help
from coilclaw.sandbox.guest.inputs import typed_inputs
from coilclaw.sandbox.guest.output import Output
from coilclaw.sandbox.guest.pending_calls import Completions, PendingCall, Waiting
from coilclaw.sandbox.guest.tools import Tools
from coilclaw.sandbox.restricted.child.attributes import Attributes
from coilclaw.sandbox.restricted.child.builtin_names import builtin_names
from coilclaw.sandbox.restricted.child.classes import Classes
from coilclaw.sandbox.restricted.child.facades.catalogue import begin_run, build_facades, subclassable
from coilclaw.sandbox.restricted.child.facades.facade import Facade, SysFacade
from coilclaw.sandbox.restricted.child.link import HostLink
from coilclaw.sandbox.restricted.child.ownership import Ownership
from coilclaw.sandbox.restricted.child.policy import check_program
from coilclaw.sandbox.restricted.child.sealing import classes_of, seal
from coilclaw.sandbox.restricted.child.services import Services
from coilclaw.sandbox.restricted.child.stand_ins import STAND_INS, register_stand_in
from coilclaw.sdk.result import Err, Ok, Result, ToolCallError, UnreadErr
from coilclaw.sdk.typed_values import Record

__all__ = ["World"]

_TOUCH = """
import json
class Touch:
    def __init__(self, name): self._name = name
    def shown(self):
        try:
            return f"{self._name}: {json.dumps({'a': [1, 2.5, None]})}"
        except ValueError as error:
            raise KeyError from error
[Touch(str(number)).shown() for number in range(2)]
"""


class World:
    """Everything a snippet can reach, and the link to the host. A fork of it belongs to one run."""

    def __init__(self) -> None:
        self.link = HostLink()
        self.module = types.ModuleType("__main__")
        self.completions = Completions(self.link)
        self._seed = b""
        self._drawn = 0
        stdout = Output(1, self.link.write, self.link.waiting)
        stderr = Output(2, self.link.write, self.link.waiting)
        ToolCallError.__module__ = "__main__"  # A snippet knows it by its plain name, and so do tracebacks.
        own = Ownership(self.module.__dict__)
        self.attributes = Attributes(own, lambda: self.link.wall() / 1e9)
        services = Services(
            attributes=self.attributes,
            clock=self.link,
            entropy=self.entropy,
            completions=self.completions,
        )
        classes = Classes(self.attributes)  # Before the facades, which show its `type`.
        self.facades = build_facades(services)
        classes.admit(subclassable(self.facades))
        self.builtins = builtin_names(self.attributes, classes, self.facades, self.module.__dict__)
        self.names = {"tools": Tools(self.completions), "Ok": Ok, "Err": Err, "Result": Result}
        self.names |= dict.fromkeys(("ToolCallError", "ToolError"), ToolCallError)
        self.names["display"] = make_display(self.link.write, self.link.flush)
        self.names["help"] = make_help(plain_help)
        register_stand_in(STAND_INS[types.ModuleType], Facade, SysFacade)
        seal(classes_of(self._reachable()))
        # Last, so that what goes wrong before is still heard.
        sys.stdout = sys.__stdout__ = stdout  # type: ignore[assignment,misc]
        sys.stderr = sys.__stderr__ = stderr  # type: ignore[assignment,misc]
        sys.stdin = sys.__stdin__ = io.StringIO("")  # type: ignore[assignment,misc]

    def _reachable(self) -> list[Any]:
        """What the facades show, and the kinds of objects that they hand out."""
        shown = [value for facade in self.facades.values() for value in facade.__dict__.values()]
        managers = (contextlib.contextmanager(iter)(()), contextlib.nullcontext(), contextlib.AsyncExitStack())
        calls = (Tools(self.completions), PendingCall(self.completions, "", 0), Waiting, CallFuture)
        results = (Ok(1), Err, UnreadErr, ToolCallError, Record)
        others = (Output, HostLink, Completions, asyncio.Timeout, dataclasses.Field, threading.Condition)
        return [*shown, *managers, *calls, *results, *others]

    def touch(self) -> None:
        """Compile a small program of every kind, so that a child that waits has its own copy of what it will need."""
        tree = ast.parse(_TOUCH)
        check_program(tree)
        compile(tree, "touch", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)

    def begin(self, name: str, inputs: dict[str, Any], seed: int) -> dict[str, Any]:
        """Start a run: its random numbers, and the variables its snippet finds."""
        self._seed = seed.to_bytes(32, "big")
        begin_run(seed)
        sys.argv[:] = [name]  # In place: the facade of `sys` shows this list.
        return {**typed_inputs(inputs), **self.names, "__builtins__": self.builtins, "__name__": "__main__"}

    def entropy(self, size: int) -> bytes:
        """The run's random bytes, which depend on its seed alone."""
        self._drawn += 1
        return hashlib.shake_256(self._seed + self._drawn.to_bytes(8, "big")).digest(size)

    @staticmethod
    def check(tree: ast.Module) -> list[dict[str, Any]]:
        """What of the source may not run here."""
        return [
            {"type": "NotAllowed", "message": problem.message, "line": problem.line, "hint": problem.hint}
            for problem in check_program(tree)
        ]
