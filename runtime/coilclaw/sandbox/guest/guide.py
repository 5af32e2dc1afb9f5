"""What a snippet learns by asking Python: `dir(tools.crm)` and `help(tools.crm.find)`."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from coilclaw.sandbox.guest.tools import Tools

__all__ = ["library_help", "make_help", "plain_help"]


def make_help(of_others: Callable[[Any], None]) -> Callable[..., None]:
    """The function `help` of a snippet; `of_others` helps with everything that is no tool."""

    def help(thing: Any = None) -> None:
        """Print the signature and the description of a tool, or what Python knows of anything else."""
        if isinstance(thing, Tools):
            _say(_described(thing))
        elif thing is None:
            _say("dir(tools) lists the tools; help(tools.x.y) describes one.")
        else:
            of_others(thing)

    return help


def _described(tools: Tools) -> str:
    path = repr(tools)[1:-1]
    told = tools.__description__()
    if not told:
        return f"{path}: no tool of this name can be described"
    text: str = told["stub"]
    return f"{path}\n{text}"


def library_help(thing: Any) -> None:
    """Help as the library gives it."""
    import pydoc

    _say(pydoc.plain(pydoc.render_doc(thing, "Help on %s:")))


def plain_help(thing: Any) -> None:
    """The same of a function, and the name and docstring of anything else; the library's own reads its sources."""
    if type(thing) is types.FunctionType:
        name = f"{thing.__name__}{inspect.signature(thing)}"
        lines = "".join(f"\n    {line}".rstrip() for line in (inspect.getdoc(thing) or "").splitlines())
        _say(f"Help on function {thing.__name__} in module {thing.__module__}:\n\n{name}{lines}\n")
        return
    known, text = (getattr(thing, each, None) for each in ("__name__", "__doc__"))
    _say(f"{known if type(known) is str else type(thing).__name__}\n{text if type(text) is str else ''}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
