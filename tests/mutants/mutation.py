"""A small change of one symbol's source that some test must notice, and how it is made.

A mutation names a module and a symbol in it, not a line: it survives whatever happens to the rest of the file. This
module needs nothing but the standard library, because `hook/sitecustomize.py` loads it before anything else.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["DoesNotApply", "Mutation", "mutated_source"]


class DoesNotApply(Exception):
    """The symbol, or the text to replace in it, is not there any more: the list needs an edit."""


@dataclass(frozen=True)
class Mutation:
    """Replace `old`, which occurs once in the source of `symbol`, by `new`; `tests` are to fail then."""

    where: str
    """`package.module:Class.method`, `package.module:function` or `package.module:CONSTANT`."""
    old: str
    new: str
    tests: str
    """Arguments of pytest: files, node ids, and perhaps `-k` with a quoted expression."""
    breaks: str
    """What the mutation takes away, in a few words."""

    @property
    def module(self) -> str:
        return self.where.partition(":")[0]

    @property
    def symbol(self) -> str:
        return self.where.partition(":")[2]


def mutated_source(source: str, where: str, old: str, new: str) -> str:
    """The source of a module with one text in one of its symbols replaced. Raises `DoesNotApply`."""
    symbol = where.partition(":")[2]
    node = _found(_parsed(source), symbol.split("."))
    if node is None:
        raise DoesNotApply(f"{where}: there is no such symbol")
    decorators = getattr(node, "decorator_list", [])
    first = min(each.lineno for each in (node, *decorators)) - 1
    last = node.end_lineno
    lines = source.splitlines(keepends=True)
    body = "".join(lines[first:last])
    if (count := body.count(old)) != 1:
        raise DoesNotApply(f"{where}: {old!r} occurs {count} times in it, not once")
    changed = "".join([*lines[:first], body.replace(old, new), *lines[last:]])
    try:
        after = _found(ast.parse(changed), symbol.split("."))
    except SyntaxError as error:
        raise DoesNotApply(f"{where}: the result is not Python: {error}") from None
    if after is not None and ast.dump(after) == ast.dump(node):
        raise DoesNotApply(f"{where}: {old!r} → {new!r} changes nothing")
    return changed


@lru_cache(maxsize=4)
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


def _found(tree: ast.Module, names: list[str]) -> ast.stmt | None:
    body: list[ast.stmt] = tree.body
    node: ast.stmt | None = None
    for name in names:
        node = next((each for each in body if name in _names(each)), None)
        if node is None:
            return None
        body = getattr(node, "body", [])
    return node


def _names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {each.id for each in targets if isinstance(each, ast.Name)}
