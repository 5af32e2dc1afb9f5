"""Checking the calls visible in a source before any of it runs.

A help for honest mistakes: a wrong name on line 30 is told before line 5 has written anything. It
is no part of the guarantee, because a call can be made in ways no reader of the source sees; each
call is checked again when it is made.
"""

from __future__ import annotations

from typing import Any

from coilclaw.bridge.arguments import signature
from coilclaw.bridge.registry import Registry
from coilclaw.policy import Policy
from coilclaw.sdk import Decision, Risk, Tool

__all__ = ["check_calls"]

_MOST_PROBLEMS = 10


def check_calls(calls: bytes, registry: Registry, policy: Policy, channel: str = "cli") -> bytes:
    """The problems in a list of visible calls, each with its line, as JSON."""
    if calls == b"[]":
        return calls
    from pydantic_core import from_json, to_json

    problems = []
    try:
        for call in from_json(calls):
            problem = _check(call, registry, policy, channel)
            if problem is not None:
                problems.append({"line": call["line"], "traceback": None, **problem})
            if len(problems) == _MOST_PROBLEMS:
                break
        return to_json(problems)
    except (ValueError, KeyError, TypeError, AttributeError):
        # A snippet that is running can call this too, with anything. It learns nothing and stops nothing.
        return b"[]"


def _check(call: dict[str, Any], registry: Registry, policy: Policy, channel: str) -> dict[str, Any] | None:
    path = str(call["path"])
    tool = registry.resolve(path)
    if tool is None:
        tool = registry.resolve(path.removesuffix(".start"))
    if tool is None:
        return {
            "type": "UnknownTool",
            "message": f"tools.{path} does not exist",
            "hint": registry.suggestion(path.removesuffix(".start")),
        }
    shown = path if path.removesuffix(".start") == tool.id else f"{path} ({tool.id})"
    if mistake := _mistake(call, tool):
        return {
            "type": "InvalidCall",
            "message": f"tools.{shown}: {mistake}",
            "hint": f"it takes: {signature(tool)}",
        }
    if reason := _denial(tool, policy, channel):
        return {
            "type": "DeniedCall",
            "message": f"tools.{shown} is denied by policy: {reason}",
            "hint": f"`coilclaw policy explain {tool.id}` lists everything that has a say",
        }
    return None


def _denial(tool: Tool, policy: Policy, channel: str) -> str | None:
    """Why every call of a tool is denied, or None if some may be made.

    A rule that depends on arguments decides when they are known, so it rejects nothing here. Where the
    tool may raise the risk of a call, each risk it can get has to be denied.
    """
    risks = [tool.risk] if tool.classify is None else [risk for risk in Risk if risk.rank >= tool.risk.rank]
    verdicts = [policy.decide(tool, risk, channel=channel) for risk in risks]
    return verdicts[0].reason if all(each.decision is Decision.DENY for each in verdicts) else None


def _mistake(call: dict[str, Any], tool: Tool) -> str | None:
    named: list[str] = call["named"]
    for name in named:
        if name not in tool.parameters and not tool.takes_more:
            return tool.unknown_argument(name)
    positional: int | None = call["positional"]
    if positional is None or (call["object"] and not named):
        return None  # Unpacked, or possibly one object with everything in it: known only when it runs.
    if positional > len(tool.parameters):
        return f"{positional} positional arguments given, {len(tool.parameters)} taken"
    given = {*tool.parameters[:positional], *named}
    missing = [name for name in tool.parameters if name in tool.required_parameters and name not in given]
    if missing and call["complete"]:
        return f"argument {missing[0]!r} is missing"
    return None
