"""The arguments of the app's methods, checked and with their defaults."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from coilclaw.app.errors import BadArgument
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.bridge import Caller
    from coilclaw.config import Config
    from coilclaw.runs import ApprovedPlan
    from coilclaw.sandbox import Deadline, Limits, Snippet
    from coilclaw.sdk import Tool

__all__ = [
    "RESERVED_NAMES",
    "Request",
    "given_caller",
    "given_count",
    "given_deadline",
    "given_instance",
    "given_json",
    "given_limits",
    "given_mapping",
    "given_number",
    "given_optional_text",
    "given_path",
    "given_person",
    "given_plan",
    "given_request",
    "given_run",
    "given_seconds",
    "given_text",
    "given_tools",
    "given_workspace",
]

T = TypeVar("T")

_LONGEST_SECONDS: Final = 24 * 3600
_LARGEST_COUNT: Final = 1_000_000
RESERVED_NAMES: Final = frozenset({"tools", "Ok", "Err", "Result", "ToolCallError"})
"""Names that every snippet has from the sandbox."""


class Request(Frozen):
    """A snippet to run: where, within which limits, and for whom."""

    snippet: Snippet
    engine: str | None
    limits: Limits
    caller: Caller


def given_request(
    config: Config,
    source: str,
    name: str,
    inputs: Mapping[str, Any] | None,
    engine: str | None,
    timeout: float | None,
    limits: Limits | None,
    caller: Caller | None,
) -> Request:
    """What `run`, `start` and `rehearse` were asked for."""
    from coilclaw.sandbox import Snippet

    snippet = Snippet(
        source=given_text("a snippet", source, "Python source as text"),
        name=given_text("`name`", name, "text"),
        inputs=_given_inputs(inputs),
    )
    return Request(
        snippet=snippet,
        engine=engine,
        limits=given_limits(config, limits, timeout),
        caller=given_caller(caller),
    )


def given_limits(config: Config, limits: Limits | None, timeout: float | None) -> Limits:
    """The limits of a run: those given, or the configured ones, with another time limit if one is given."""
    from coilclaw.app.services import run_limits
    from coilclaw.sandbox import Limits

    given = given_instance("`limits`", limits, Limits) or run_limits(config)
    seconds = given_seconds(timeout)
    return given if seconds is None else replace(given, seconds=seconds)


def given_seconds(timeout: float | None) -> float | None:
    """A time limit that a run can have, or None."""
    expected = f"a number of seconds, more than 0 and at most {_LONGEST_SECONDS}"
    if timeout is not None and not 0 < given_number("`timeout`", timeout, expected) <= _LONGEST_SECONDS:
        raise BadArgument(f"`timeout` is {expected}")
    return timeout


def given_number(name: str, value: Any, expected: str) -> float:
    number: float = _given(name, value, (int, float), expected)
    return number


def given_instance(name: str, value: Any, kind: type[T]) -> T | None:
    """An instance of this type, or None."""
    found: T | None = None if value is None else _given(name, value, kind, f"an instance of {kind.__name__}")
    return found


def given_caller(caller: Caller | None) -> Caller:
    from coilclaw.bridge import Caller

    return given_instance("`caller`", caller, Caller) or Caller()


def given_deadline(deadline: Deadline | None) -> Deadline | None:
    from coilclaw.sandbox import Deadline

    return given_instance("`deadline`", deadline, Deadline)


def given_plan(plan: ApprovedPlan | None) -> ApprovedPlan | None:
    if plan is None:
        return None
    from coilclaw.runs import ApprovedPlan

    return given_instance("`plan`", plan, ApprovedPlan)


def _given_inputs(inputs: Mapping[str, Any] | None) -> Mapping[str, Any]:
    for each in given_mapping("`inputs`", inputs):
        if not isinstance(each, str) or not each.isidentifier() or each.startswith("__"):
            raise BadArgument(f"{each!r} is not a name that an input can have")
        if each in RESERVED_NAMES:
            raise BadArgument(f"{each!r} is a name of the sandbox itself", hint="give the input another name")
    return given_json("`inputs`", inputs)


def given_json(name: str, values: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Values by name, as the JSON data that a sandbox or a tool gets: dates, models and much else become that."""
    if not given_mapping(name, values):
        return {}
    from pydantic_core import from_json, to_json

    try:
        data: Mapping[str, Any] = from_json(to_json(values))
    except (ValueError, TypeError, RecursionError) as error:
        raise BadArgument(f"{name} cannot be written as JSON: {error}") from None
    return data


def given_mapping(name: str, values: Mapping[str, Any] | None) -> Mapping[str, Any]:
    return {} if values is None else _given(name, values, Mapping, "a mapping of names to values")


def given_text(name: str, value: Any, expected: str) -> str:
    text: str = _given(name, value, str, expected)
    return text


def given_optional_text(name: str, value: Any) -> str | None:
    return None if value is None else given_text(name, value, "text or None")


def given_run(run_id: Any) -> str:
    return given_text("a run", run_id, "named by its id")


def given_person(by: Any) -> str:
    return given_text("`by`", by, "the name of who decides")


def given_count(name: str, value: Any, *, least: int = 1, most: int = _LARGEST_COUNT) -> int:
    """A whole number that can count something."""
    expected = f"a whole number from {least} to {most}"
    if not least <= _given(name, value, int, expected) <= most:
        raise BadArgument(f"{name} is {expected}")
    return int(value)


def given_tools(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """The tools of the host's own code."""
    if not tools:
        return ()
    from coilclaw.sdk import Tool

    if isinstance(tools, Tool | str) or not isinstance(tools, Iterable):
        raise BadArgument("`tools` is a list of tools, such as `tools=[lookup]`")
    return tuple(_given("each of `tools`", each, Tool, "a function with @define_tool") for each in tools)


def given_path(name: str, path: Any) -> Path:
    return Path(_given(name, path, (str, os.PathLike), "a path")).expanduser()


def given_workspace(workspace: str | os.PathLike[str]) -> Path:
    """The folder that is meant."""
    place = given_path("`workspace`", workspace)
    if not place.is_dir():
        raise BadArgument(f"the workspace {place} {'is not a folder' if place.exists() else 'does not exist'}")
    return place.resolve()


def _given(name: str, value: Any, kind: type | tuple[type, ...], expected: str) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadArgument(f"{name} is {expected}, not a value of type {type(value).__name__}")
    return value
