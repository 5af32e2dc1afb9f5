"""The arguments of the app's methods, checked and with their defaults."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from coilclaw.sdk import OperatorError

if TYPE_CHECKING:
    from coilclaw.bridge import Caller
    from coilclaw.config import Config
    from coilclaw.sandbox import Limits, Snippet

__all__ = ["RESERVED_NAMES", "check_timeout", "given_caller", "given_limits", "given_snippet", "given_workspace"]

_LONGEST_SECONDS: Final = 24 * 3600
RESERVED_NAMES: Final = frozenset({"tools", "Ok", "Err", "Result", "ToolCallError", "ToolError", "display"})
"""Names that every snippet has from the sandbox."""


def check_timeout(timeout: float | None) -> None:
    """Raise OperatorError for a timeout that no run can have."""
    if timeout is not None and not 0 < timeout <= _LONGEST_SECONDS:  # Nor anything that is not a number.
        raise OperatorError(f"a timeout is more than 0 and at most {_LONGEST_SECONDS} seconds")


def given_limits(config: Config, limits: Limits | None, timeout: float | None) -> Limits:
    """The limits of a run: those given, or the configured ones, with another time limit if one is given."""
    from coilclaw.app.services import run_limits

    check_timeout(timeout)
    limits = limits or run_limits(config)
    return limits if timeout is None else replace(limits, seconds=timeout)


def given_caller(caller: Caller | None) -> Caller:
    from coilclaw.bridge import Caller

    return caller or Caller()


def given_snippet(source: str, name: str, inputs: Mapping[str, Any] | None) -> Snippet:
    """The snippet to run. Raises OperatorError for a source that is no text and for names no variable can have."""
    from coilclaw.sandbox import Snippet

    if not isinstance(source, str):
        raise OperatorError(
            f"a snippet is Python source as text, not a {type(source).__name__}", hint="read the file first"
        )
    for each in inputs or ():
        if not isinstance(each, str) or not each.isidentifier() or each.startswith("__"):
            raise OperatorError(f"{each!r} is not a name that an input can have")
        if each in RESERVED_NAMES:
            raise OperatorError(f"{each!r} is a name of the sandbox itself", hint="give the input another name")
    return Snippet(source=source, name=name, inputs=inputs or {})


def given_workspace(workspace: str | os.PathLike[str]) -> Path:
    """The folder that is meant. Raises OperatorError if it is none."""
    place = Path(workspace).expanduser()
    if not place.is_dir():
        raise OperatorError(f"the workspace {place} {'is not a folder' if place.exists() else 'does not exist'}")
    return place.resolve()
