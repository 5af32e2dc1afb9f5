"""Snippets that send one tool, again and again, what could keep a parser or a classifier busy."""

from __future__ import annotations

import json
from typing import Any, Final

from coilclaw.sdk import Tool

__all__ = ["MANY", "UNITS", "hostile_snippet"]

UNITS: Final = (
    "a", "a|", "$[", "$((", "{a,b}", "(", "[", "[[", "\\", "\"", "'", "`", "../", "/", "./a/", "%2e", "*", "**/", "*a",
    "[!a]*", "?", "-", "--x ", "=", ";", "&& ", "a=$a$a;", "\n", " ", "\t", "\0", "http://a@", "http://", "a.", ".",
    ":", "::", "1", "1e9", "-1:", "T00:", "2026-01-01T", "P1D", "FREQ=DAILY;", "BEGIN:VEVENT\n", "~^@{", "HEAD^{/",
    "\u0301", "\u212b", "\U0001f468\u200d", "\ufdfa",
)  # fmt: skip
"""Repeated up to the limit, each is what some parser backtracks over, nests with, or expands."""

MANY: Final = ("[1] * 500_000", "[[]] * 330_000", "[1] * 49_000", "{f'k{n}': '' for n in range(80_000)}")
"""As the value of a parameter: more values than a validator may look at, or just as many as it may."""

_LIMIT: Final = 1024 * 1024 - 4096
"""Just below what the bridge takes as the arguments of one call."""


def hostile_snippet(tool: Tool, *, hidden: bool, units: tuple[str, ...] = UNITS) -> str:
    """A snippet without an end that calls a tool with long texts, in every parameter that takes text.

    Each text comes as long as the contract allows and as long as the bridge allows. With `hidden`, the call is made
    through a variable, where nobody who reads the source sees it.
    """
    base = dict(tool.examples[0]) if tool.examples else {}
    base |= {name: _some_value(tool, name) for name in tool.required_parameters if name not in base}
    cases = [
        [name, unit, length]
        for name in _texts(tool)
        for unit in units
        for length in dict.fromkeys((_longest(tool, name), 32_000, _LIMIT))
        if length
    ]
    many = [[name, shape] for name in _properties(tool) for shape in MANY]
    reach = f"t = tools\nfor part in {tool.id.split('.')!r}:\n    t = getattr(t, part)\n" if hidden else ""
    call = "t" if hidden else f"tools.{tool.id}"
    return f"""
import json
base, cases, many = json.loads({json.dumps(json.dumps([base, cases, many]))})
{reach}
while True:
    for name, shape in many:
        {call}(**{{**base, name: eval(shape)}})
    {call}(**{{**base, **{{f"k{{n}}": 1 for n in range(90_000)}}}})
    for name, unit, length in cases or [["", "", 0]]:
        text = (unit * (length // len(unit.encode()) + 1))[:length] if unit else ""
        while len(text.encode()) > {_LIMIT}:
            text = text[: len(text) // 2]
        given = {{**base, name: text}} if name else base
        {call}(**given)
"""


def _properties(tool: Tool) -> dict[str, Any]:
    properties: dict[str, Any] = tool.input_schema.get("properties", {})
    return properties


def _texts(tool: Tool) -> list[str]:
    return [name for name, schema in _properties(tool).items() if '"string"' in json.dumps(schema)]


def _longest(tool: Tool, name: str) -> int:
    schema = json.dumps(_properties(tool)[name])
    _, found, rest = schema.partition('"maxLength": ')
    return int(rest.partition(",")[0].strip(" }]")) if found else 0


def _some_value(tool: Tool, name: str) -> Any:
    kind = _properties(tool)[name].get("type")
    return {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}.get(kind, "a")
