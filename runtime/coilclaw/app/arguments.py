"""The arguments of the app's methods: what each of them takes, by its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coilclaw.app.errors import BadArgument
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.bridge import Caller
    from coilclaw.config import Config
    from coilclaw.sandbox import Limits, Snippet
    from coilclaw.sdk import Tool

__all__ = [
    "RESERVED_NAMES",
    "Request",
    "check",
    "existing_folder",
    "given_arguments",
    "given_json",
    "given_limits",
    "given_request",
    "given_tools",
]

RESERVED_NAMES: Final = frozenset({"tools", "Ok", "Err", "Result", "ToolCallError", "ToolError", "display"})
"""Names that every snippet has from the sandbox."""


class _Rule(NamedTuple):
    kind: Any
    """What `isinstance` takes, or the name of a type of `coilclaw.app`, imported when there is something to check."""
    said: str
    bounds: tuple[float, float] | None = None
    optional: bool = False


def _text(said: str = "text", *, optional: bool = False) -> _Rule:
    return _Rule(str, said, optional=optional)


def _count(least: int, most: int, *, optional: bool = True) -> _Rule:
    return _Rule(int, f"a whole number from {least} to {most}", (least, most), optional)


def _instance(kind: str) -> _Rule:
    return _Rule(kind, f"an instance of {kind}", optional=True)


def _function(said: str) -> _Rule:
    return _Rule(Callable, f"a function {said}")


_PATH: Final = _Rule((str, os.PathLike), "a path", optional=True)
_VALUES: Final = _Rule(Mapping, "a mapping of names to values", optional=True)
_MANY: Final = 1_000_000
_DAY: Final = 24 * 3600
_RULES: Final = {
    "source": _text("Python source as text"),
    "name": _text(),
    "query": _text(),
    "channel": _text(),
    "tool": _text("the id of a tool"),
    "run_id": _text("the id of a run"),
    "conversation": _text("the id of a conversation"),
    "retry_of": _text("the id of a run", optional=True),
    "approval_id": _text("the id of an approval"),
    "approved": _Rule(bool, "True or False"),
    "window_id": _text("the id of a window"),
    "reference": _text("the id of a receipt, or its number as text"),
    "by": _text("the name of who decides"),
    "reason": _text(optional=True),
    "cursor": _text("the cursor of a page", optional=True),
    "after": _text("the cursor of an event", optional=True),
    "limit": _count(1, _MANY, optional=False),
    "until": _count(1, _MANY),
    "pool": _count(0, _MANY),
    "workers": _count(1, _MANY),
    "budget_tokens": _count(0, _MANY),
    "uses": _count(1, 10_000, optional=False),
    "seconds": _count(1, 15 * 60, optional=False),
    "timeout": _Rule((int, float), f"a number of seconds, more than 0 and at most {_DAY}", (1e-9, _DAY), optional=True),
    "caller": _instance("Caller"),
    "deadline": _instance("Deadline"),
    "limits": _instance("Limits"),
    "notices": _instance("Notices"),
    "plan": _instance("ApprovedPlan"),
    "arguments": _VALUES,
    "config": _VALUES,
    "environment": _VALUES,
    "inputs": _VALUES,
    "where": _VALUES,
    "home": _PATH._replace(optional=False),
    "workspace": _PATH,
    "cache": _PATH,
}
_OF_CALLER: Final = {
    "channel": _text(),
    "conversation": _text(optional=True),
    "agent": _text(optional=True),
    "project": _text(optional=True),
    "view": _text(optional=True),
    "request": _text(optional=True),
    "ask": _function("of a question that returns the person's answer, or None"),
    "waits": _function("that says whether to wait here, such as `lambda: True`"),
    "show": _function("of a stream's number and text"),
    "display": _function("of an output"),
    "progress": _function("of a tool's id and a message"),
}


def check(**arguments: Any) -> None:
    """Raise BadArgument if one of these is not what an argument of its name must be."""
    for name, value in arguments.items():
        if value is not None or not _RULES[name].optional:
            _check(name, value, _RULES[name])
            if name == "caller":
                _check_caller(value)


def _check_caller(caller: Any) -> None:
    """Raise BadArgument for a field that would fail, or decide nothing, only in the middle of a run."""
    for name, rule in _OF_CALLER.items():
        value = getattr(caller, name)
        if value is not None or not rule.optional:
            _check(f"Caller.{name}", value, rule)
            _check_plain(f"Caller.{name}", value)
    allowed = caller.tools_allow
    if allowed is not None and not (isinstance(allowed, tuple) and all(isinstance(each, str) for each in allowed)):
        raise BadArgument("`Caller.tools_allow` is a tuple of names and patterns of tools, or None")
    if not isinstance(caller.suspends, bool):
        raise BadArgument("`Caller.suspends` is True or False")
    decide = getattr(caller.approver, "decide", None)
    if isinstance(caller.approver, type) or not callable(decide):
        raise BadArgument("`Caller.approver` is an object whose method `decide(question)` returns an Answer")
    _check_plain("Caller.approver.decide", decide)


def _check_plain(name: str, value: Any) -> None:
    if iscoroutinefunction(value):  # What it returns would count as a yes, or be dropped.
        raise BadArgument(f"`{name}` is a plain function, not an async one")


def _check(name: str, value: Any, rule: _Rule) -> None:
    kind: Any = getattr(import_module("coilclaw.app"), rule.kind) if isinstance(rule.kind, str) else rule.kind
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise BadArgument(f"`{name}` is {rule.said}, not a value of type {type(value).__name__}")
    if rule.bounds and not rule.bounds[0] <= value <= rule.bounds[1]:
        raise BadArgument(f"`{name}` is {rule.said}")
    if isinstance(value, str) and kind is str:
        try:
            value.encode()
        except UnicodeEncodeError:  # It could be neither stored nor shown.
            raise BadArgument(f"`{name}` is text that UTF-8 can express, without halves of characters") from None


class Request(Frozen):
    """A snippet to run: where, within which limits, and for whom."""

    snippet: Snippet
    engine: str | None
    limits: Limits
    caller: Caller
    retry_of: str | None = None


def given_request(
    config: Config,
    source: str,
    name: str,
    inputs: Mapping[str, Any] | None,
    engine: str | None,
    timeout: float | None,
    limits: Limits | None,
    caller: Caller | None,
    retry_of: str | None = None,
) -> Request:
    """What `run`, `start` and `rehearse` were asked for."""
    from coilclaw.bridge import Caller
    from coilclaw.sandbox import Snippet

    check(source=source, name=name, inputs=inputs, caller=caller, retry_of=retry_of)
    for each in inputs or ():
        if not isinstance(each, str) or not each.isidentifier() or each.startswith("__"):
            raise BadArgument(f"{each!r} is not a name that an input can have")
        if each in RESERVED_NAMES:
            raise BadArgument(f"{each!r} is a name of the sandbox itself", hint="give the input another name")
    snippet = Snippet(source=source, name=name, inputs=_given_inputs(inputs))
    given = given_limits(config, limits, timeout)
    return Request(snippet=snippet, engine=engine, limits=given, caller=caller or Caller(), retry_of=retry_of)


def _given_inputs(inputs: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if not inputs:
        return {}
    from coilclaw.app.given_values import input_values

    return input_values(inputs)


def given_limits(config: Config, limits: Limits | None, timeout: float | None) -> Limits:
    """The limits of a run: those given, or the configured ones, with another time limit if one is given."""
    from coilclaw.app.services import run_limits

    check(limits=limits, timeout=timeout)
    limits = limits or run_limits(config)
    return limits if timeout is None else replace(limits, seconds=timeout)


def given_json(name: str, values: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Values by name, as JSON data: dates, models and much else become that."""
    check(**{name: values})
    if not values:
        return {}
    from coilclaw.app.given_values import json_values

    return json_values(name, values)


def given_arguments(values: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Arguments of a call by name, as a tool gets them."""
    check(arguments=values)
    if not values:
        return {}
    from coilclaw.app.given_values import argument_values

    return argument_values(values)


def given_tools(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """The tools of the host's own code."""
    if not tools:
        return ()
    from coilclaw.sdk import Tool

    if isinstance(tools, Tool | str) or not isinstance(tools, Iterable):
        raise BadArgument("`tools` is a list of tools, such as `tools=[lookup]`")
    found = tuple(tools)
    if any(not isinstance(each, Tool) for each in found):
        raise BadArgument("each of `tools` is a function with @define_tool")
    return found


def existing_folder(workspace: str | os.PathLike[str]) -> Path:
    """Return a workspace that is given by its path. Raises BadArgument if it is not a folder."""
    try:
        place = Path(workspace).expanduser()
        if not place.is_dir():
            raise BadArgument(f"the workspace {place} {'is not a folder' if place.exists() else 'does not exist'}")
        return place.resolve()
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        raise BadArgument(f"`workspace` is a path, and this is none: {error}") from None
