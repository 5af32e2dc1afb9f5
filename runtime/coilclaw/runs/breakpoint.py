"""Where a repeated run was stopped: the call, the line, and the variables of the snippet."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from coilclaw.sdk.frozen import Frozen

__all__ = ["STOP", "Breakpoint", "Frame", "Variable", "frames_of"]

STOP: Final = b'{"ok":false,"stop":true}'
"""The answer at which the guest shows its variables. The bridge's own answers never have this field."""

_MOST_BYTES: Final = 1024 * 1024
_MOST_FRAMES: Final = 10
_MOST_VARIABLES: Final = 100
_LONGEST: Final = 200


class Variable(Frozen):
    """A name in the snippet, the class of its value, and the value in a few words."""

    name: str
    type: str
    value: str


class Frame(Frozen):
    """One function of the snippet that was under way, or `<module>`."""

    function: str
    line: int
    variables: tuple[Variable, ...]


class Breakpoint(Frozen):
    """A call that got no answer. `frames` begins with the innermost; None if the guest did not come to show them."""

    call: int
    tool: str
    arguments: str
    line: int
    frames: tuple[Frame, ...] | None = None


def frames_of(report: bytes) -> tuple[Frame, ...]:
    """What the guest says of its variables. It may say anything: whatever is not of this form is left out."""
    from pydantic_core import from_json

    try:
        given = from_json(report) if len(report) <= _MOST_BYTES else None
    except ValueError:
        given = None
    frames = []
    for each in islice(given if isinstance(given, list) else (), _MOST_FRAMES):
        match each:
            case {"function": str(function), "line": int(line), "variables": list(variables)}:
                shown = tuple(_variable(item) for item in variables[:_MOST_VARIABLES] if _is_variable(item))
                frames.append(Frame(function=function[:_LONGEST], line=line, variables=shown))
    return tuple(frames)


def _is_variable(item: Any) -> bool:
    return isinstance(item, list) and len(item) == 3 and all(isinstance(part, str) for part in item)


def _variable(item: list[str]) -> Variable:
    name, kind, value = (part[:_LONGEST] for part in item)
    return Variable(name=name, type=kind, value=value)
