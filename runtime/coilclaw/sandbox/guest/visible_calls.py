"""The tool calls that can be seen in a snippet's source without running it."""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["visible_calls"]


def visible_calls(tree: ast.Module) -> list[dict[str, Any]]:
    """Each `tools.a.b(...)` written out in the source, with what is known of its arguments.

    A snippet that binds `tools` itself means something else by the name: nothing is reported then.
    """
    calls = []
    for node in ast.walk(tree):
        if _binds_tools(node):
            return []
        if isinstance(node, ast.Call) and (path := _path(node.func)):
            calls.append(
                {
                    "path": path,
                    "line": node.lineno,
                    "positional": None if any(isinstance(arg, ast.Starred) for arg in node.args) else len(node.args),
                    "named": [keyword.arg for keyword in node.keywords if keyword.arg is not None],
                    "complete": all(keyword.arg is not None for keyword in node.keywords),
                    "object": len(node.args) == 1 and not isinstance(node.args[0], ast.Constant),
                }
            )
    return calls


def _path(node: ast.expr) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if parts and isinstance(node, ast.Name) and node.id == "tools":
        return ".".join(reversed(parts))
    return None


def _binds_tools(node: ast.AST) -> bool:
    match node:
        case ast.Name(id="tools", ctx=ast.Store() | ast.Del()):
            return True
        case ast.arg(arg="tools"):
            return True
        case ast.FunctionDef(name="tools") | ast.AsyncFunctionDef(name="tools") | ast.ClassDef(name="tools"):
            return True
        case ast.alias(name=name, asname=asname):
            return (asname or name) == "tools"
        case ast.ExceptHandler(name="tools") | ast.MatchAs(name="tools") | ast.MatchStar(name="tools"):
            return True
    return False
