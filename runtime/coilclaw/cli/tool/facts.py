"""One tool's facts for people and programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coilclaw.bridge import Registry, example_calls, tool_schemas
from coilclaw.policy import Policy
from coilclaw.sdk import Tool

__all__ = ["names_of", "tool_facts"]


def names_of(tool: Tool, registry: Registry) -> list[str]:
    """The other names by which a tool can be called."""
    return [alias for alias, tool_id in registry.aliases.items() if tool_id == tool.id]


def tool_facts(tool: Tool, registry: Registry, policy: Policy, present: Callable[[str], bool]) -> dict[str, Any]:
    """Everything a contract says, what policy says about it, and which secrets are there. Never a secret's value."""
    verdict = policy.decide(tool, tool.risk)
    input_schema, output_schema = tool_schemas(tool)
    return {
        "id": tool.id,
        "aliases": names_of(tool, registry),
        "risk": tool.risk.value,
        "description": tool.description,
        "policy": verdict.decision.value,
        "reason": verdict.reason,
        "version": tool.version,
        "input_schema": input_schema,
        "output_schema": output_schema,
        "timeout_seconds": tool.timeout_seconds,
        "idempotent": tool.idempotent,
        "hosts": list(tool.hosts),
        "secrets": list(tool.secrets),
        "optional_secrets": list(tool.optional_secrets),
        "missing_secrets": [name for name in tool.secrets if not present(name)],
        "examples": [dict(example) for example in tool.examples],
        "calls": example_calls(tool),
        "file": tool.file,
        "line": tool.line,
    }
