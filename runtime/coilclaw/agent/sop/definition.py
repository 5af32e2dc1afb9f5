"""A SOP: a name, a description and steps, read from TOML with all its problems at once.

    name = "daily-check"
    description = "Summarise the workspace, and keep the summary once a person agrees."

    [[steps]]
    id = "list"
    kind = "tool"
    tool = "file_list"
    args = { path = "." }

`<arg>_from = "<step id>"` fills the argument `<arg>` with the output of an earlier step.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from coilclaw.agent.sop.errors import InvalidSop
from coilclaw.agent.sop.folder import sop_path
from coilclaw.agent.sop.tool_arguments import argument_problems
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.bridge import Registry
    from coilclaw.sdk import Tool

__all__ = ["AgentStep", "ApprovalStep", "OnFailure", "Sop", "Step", "ToolStep", "read_sop"]

OnFailure: TypeAlias = Literal["abort", "continue"]

_MOST_STEPS: Final = 100
_LONGEST_TEXT: Final = 10_000
_DEEPEST: Final = 20
_ID: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_OF_SOP: Final = ("name", "description", "on_failure", "steps")
_OF_STEP: Final = {
    "tool": ("id", "kind", "tool", "args", "on_failure"),
    "agent": ("id", "kind", "prompt", "on_failure"),
    "approval": ("id", "kind", "prompt"),
}
_FROM: Final = "_from"


class ToolStep(Frozen):
    """Calls one tool."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    references: Mapping[str, str]
    """Arguments that are filled from earlier steps: the argument's name → the step's id."""
    on_failure: OnFailure
    kind: str = "tool"


class AgentStep(Frozen):
    """Asks the agent; its answer is the output."""

    id: str
    prompt: str
    on_failure: OnFailure
    kind: str = "agent"


class ApprovalStep(Frozen):
    """Waits until a person approves. A denial ends the run."""

    id: str
    prompt: str
    kind: str = "approval"


Step: TypeAlias = ToolStep | AgentStep | ApprovalStep


class Sop(Frozen):
    """A SOP: steps that are carried out in order."""

    name: str
    description: str
    steps: tuple[Step, ...]
    text: str
    """The TOML it was read from."""


def read_sop(name: str, data: bytes, registry: Registry | None) -> Sop:
    """Read the SOP called `name`. Raises InvalidSop with everything that is wrong.

    Without a registry, tools and their arguments are not looked at.
    """
    try:
        text = data.decode()
        table = tomllib.loads(text)
    except UnicodeDecodeError:
        raise InvalidSop(sop_path(name), ["it is not UTF-8 text"]) from None
    except RecursionError:
        raise InvalidSop(sop_path(name), ["it is nested too deeply"]) from None
    except ValueError as error:
        raise InvalidSop(sop_path(name), [f"it is not TOML: {error}"]) from None
    reading = _Reading(name, registry)
    found = reading.sop(table, text)
    if reading.problems:
        raise InvalidSop(sop_path(name), reading.problems)
    return found


class _Reading:
    """One pass over a SOP. Whatever is wrong is noted, and reading goes on."""

    def __init__(self, name: str, registry: Registry | None) -> None:
        self._name = name
        self._registry = registry
        self._kinds: dict[str, str] = {}
        """The kinds of the steps so far, by id."""
        self._all: list[str] = []
        self.problems: list[str] = []

    def sop(self, table: dict[str, Any], text: str) -> Sop:
        self._refuse_unknown("", table, _OF_SOP)
        name = self._text("", table, "name")
        if name and name != self._name:
            self._wrong("", f"name is {name!r}, but its folder is called {self._name!r}")
        on_failure = self._on_failure("", table, "abort")
        description = self._text("", table, "description")
        return Sop(name=name, description=description, steps=self._steps(table, on_failure), text=text)

    def _steps(self, table: dict[str, Any], on_failure: OnFailure) -> tuple[Step, ...]:
        listed = table.get("steps")
        if not isinstance(listed, list) or not listed or not all(isinstance(each, dict) for each in listed):
            self._wrong("", "it needs at least one step: [[steps]] with id and kind")
            return ()
        if len(listed) > _MOST_STEPS:
            self._wrong("", f"it has {len(listed)} steps; at most {_MOST_STEPS} are possible")
            return ()
        self._all = [each["id"] for each in listed if isinstance(each.get("id"), str)]
        found = (self._step(number, each, on_failure) for number, each in enumerate(listed, start=1))
        return tuple(each for each in found if each is not None)

    def _step(self, number: int, table: dict[str, Any], on_failure: OnFailure) -> Step | None:
        step_id = table.get("id")
        where = f"step {number}" + (f" ({step_id})" if isinstance(step_id, str) and _ID.fullmatch(step_id) else "")
        kind = table.get("kind")
        if not isinstance(step_id, str) or not _ID.fullmatch(step_id):
            self._wrong(where, "id is a word of at most 64 letters, digits, `-` and `_` that begins with a letter")
            step_id = ""
        elif step_id in self._kinds:
            self._wrong(where, f"another step has the id {step_id!r}")
        if not isinstance(kind, str) or kind not in _OF_STEP:
            near = difflib.get_close_matches(kind[:100], _OF_STEP, n=1) if isinstance(kind, str) else []
            self._wrong(where, "kind is tool, agent or approval" + (f"; did you mean {near[0]!r}?" if near else ""))
            self._kinds.setdefault(step_id, "")
            return None
        self._refuse_unknown(where, table, _OF_STEP[kind], kind)
        made: Step
        if kind == "approval":
            made = ApprovalStep(id=step_id, prompt=self._text(where, table, "prompt"))
        elif kind == "agent":
            prompt = self._text(where, table, "prompt")
            made = AgentStep(id=step_id, prompt=prompt, on_failure=self._on_failure(where, table, on_failure))
        else:
            made = self._tool_step(where, step_id, table, self._on_failure(where, table, on_failure))
        self._kinds.setdefault(step_id, kind)
        return made

    def _tool_step(self, where: str, step_id: str, table: dict[str, Any], on_failure: OnFailure) -> ToolStep:
        name = self._text(where, table, "tool").removeprefix("tools.")
        tool = self._tool(where, name)
        given = table.get("args", {})
        if not isinstance(given, dict):
            self._wrong(where, 'args is a table, such as { path = "." }')
            given = {}
        known = frozenset(tool.parameters) if tool is not None else frozenset()
        arguments: dict[str, Any] = {}
        references: dict[str, str] = {}
        for key, value in given.items():
            # An argument that the tool has under this very name is that argument.
            if key.endswith(_FROM) and key != _FROM and key not in known:
                argument = key.removesuffix(_FROM)
                if argument in given:
                    self._wrong(where, f"args has both {argument!r} and {key!r}")
                self._check_reference(where, key, value)
                references[argument] = str(value)
            else:
                arguments[key] = value
                if problem := _not_json(value):
                    self._wrong(where, f"args.{key} {problem}")
        if tool is not None:
            for problem in argument_problems(tool, arguments, frozenset(references)):
                self._wrong(where, f"{tool.id}: {problem}")
        return ToolStep(id=step_id, tool=name, arguments=arguments, references=references, on_failure=on_failure)

    def _tool(self, where: str, name: str) -> Tool | None:
        if self._registry is None or not name:
            return None
        tool = self._registry.resolve(name)
        if tool is None:
            hint = self._registry.suggestion(name)
            self._wrong(where, f"there is no tool {name[:200]!r}" + (f"; {hint}" if hint else ""))
        return tool

    def _check_reference(self, where: str, key: str, value: Any) -> None:
        if not isinstance(value, str):
            self._wrong(where, f"args.{key} is the id of an earlier step")
        elif value in self._kinds:
            if self._kinds[value] == "approval":
                self._wrong(where, f"args.{key}: the step {value!r} is an approval, which has no output")
        elif value in self._all:
            self._wrong(where, f"args.{key}: the step {value!r} does not come earlier")
        else:
            near = difflib.get_close_matches(value[:100], self._kinds, n=1)
            said = f"; did you mean {near[0]!r}?" if near else ""
            self._wrong(where, f"args.{key}: there is no step {value[:100]!r}{said}")

    def _text(self, where: str, table: dict[str, Any], key: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value.strip():
            self._wrong(where, f"{key} is missing" if value is None else f"{key} is text, and not empty")
            return ""
        if len(value) > _LONGEST_TEXT:
            self._wrong(where, f"{key} has {len(value)} characters; at most {_LONGEST_TEXT} are possible")
        return value

    def _on_failure(self, where: str, table: dict[str, Any], default: OnFailure) -> OnFailure:
        match table.get("on_failure", default):
            case "abort":
                return "abort"
            case "continue":
                return "continue"
        self._wrong(where, 'on_failure is "abort" or "continue"')
        return default

    def _refuse_unknown(self, where: str, table: dict[str, Any], known: tuple[str, ...], kind: str = "") -> None:
        what = f"a step of kind {kind!r}" if kind else "a SOP"
        for key in table:
            if key not in known:
                near = difflib.get_close_matches(key[:100], known, n=1)
                said = f"; did you mean {near[0]!r}?" if near else f"; it has {', '.join(known)}"
                self._wrong(where, f"{what} has no key {key[:100]!r}{said}")

    def _wrong(self, where: str, message: str) -> None:
        self.problems.append(f"{where}: {message}" if where else message)


def _not_json(value: Any, depth: int = 0) -> str | None:
    """Say why a value of TOML cannot be passed to a tool, or None if it can."""
    if depth > _DEEPEST:
        return "is nested too deeply"
    if isinstance(value, float) and not math.isfinite(value):
        return "is not a finite number"
    if isinstance(value, str | bool | int | float):
        return None
    if isinstance(value, list | dict):
        inner = value.values() if isinstance(value, dict) else value
        return next(filter(None, (_not_json(each, depth + 1) for each in inner)), None)
    return f"is a {type(value).__name__}; write it as text in quotes"
