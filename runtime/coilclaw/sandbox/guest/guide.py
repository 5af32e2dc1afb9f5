"""What a snippet learns by asking Python: `dir(tools.crm)` and `help(tools.crm.find)`."""

from __future__ import annotations

import sys
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

    _say(pydoc.render_doc(thing, renderer=pydoc.plaintext))


def plain_help(thing: Any) -> None:
    """Help without the library's own, which needs files."""
    kind = thing if isinstance(thing, type) else type(thing)
    name = getattr(thing, "__name__", None)
    text = getattr(thing, "__doc__", None)
    _say(f"{name if type(name) is str else kind.__name__}\n{text if type(text) is str else ''}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
