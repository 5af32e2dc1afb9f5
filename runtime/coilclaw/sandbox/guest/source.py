"""A snippet's source, read the way models write it.

Code fences around it, `from tools import crm`, `return` at the top level and the type names of the stubs mean what
they look like.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
import traceback
import types
from collections.abc import Iterator
from typing import Any, Final

from coilclaw.sandbox.guest.hints import IMPORTED_FROM

__all__ = ["VALUE", "compile_snippet", "not_python", "parse_snippet", "without_fences"]

VALUE: Final = "__coilclaw_value__"
_EXEC: Final = "coilclaw: exec"  # No source can spell it.
_FENCE: Final = re.compile(r"[ \t]*(```|~~~)[ \t]*[\w+-]*[ \t]*$")
_DOING: Final = (ast.Call, ast.Assign, ast.AugAssign, ast.Import, ast.ImportFrom)
_AN_F_STRING: Final = re.compile(r"(?i)\b(f|rf|fr)[\"']")
_LATER_SYNTAX: Final = re.compile(
    r"\s*(type\s+\w+.*=|(async\s+)?def\s+\w+\s*\[|class\s+\w+\s*\[|except\s+[\w.]+\s*,|.*\bt[\"'])"
)
"""Type aliases and type parameters (3.12), exceptions without parentheses and template strings (3.14)."""
_HABITS: Final = re.compile(r"^[ \t]*(from[ \t]+tools\b|import\b.*\btools\b)|\bcase\b.*\bErr\(", re.MULTILINE)


def without_fences(source: str) -> tuple[str, int | None]:
    """The one fenced block of the source, in its own lines, or the source itself.

    Besides, the first line outside the block that is code and no prose: it does not run.
    """
    lines = source.split("\n")
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line.rstrip("\r"))]
    if len(fences) != 2:
        return source, None
    first, last = fences
    outside = (*enumerate(lines[:first], 1), *enumerate(lines[last + 1 :], last + 2))
    dropped = next((number for number, line in outside if _does_something(line.strip())), None)
    return "\n" * (first + 1) + "\n".join(lines[first + 1 : last]), dropped


def _does_something(line: str) -> bool:
    """Whether a line is a statement that would have done something."""
    if "(" not in line and "=" not in line and "import" not in line:
        return False
    try:
        return any(isinstance(each, _DOING) for each in ast.walk(ast.parse(line)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def parse_snippet(source: str, name: str) -> ast.Module:
    """The source as a tree, in which `tools` need not be imported. Raises SyntaxError."""
    tree = ast.parse(source, name)
    if _HABITS.search(source):
        tree = ast.fix_missing_locations(_Habits().visit(tree))
    return tree


class _Habits(ast.NodeTransformer):
    """Turns imports from `tools`, which is no module, into assignments, and `Err(code, message)` into keywords."""

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        self.generic_visit(node)
        found = node.patterns
        if isinstance(node.cls, ast.Name) and node.cls.id == "Err" and (len(found) > 1 or _are_values(found)):
            node.patterns = []
            node.kwd_attrs = [*("code", "message", "hint")[: len(found)], *node.kwd_attrs]
            node.kwd_patterns = [*found[:3], *node.kwd_patterns]
        return node

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        others = [alias for alias in node.names if alias.name.partition(".")[0] != "tools"]
        made: list[ast.stmt] = [ast.copy_location(ast.Import(others), node)] if others else []
        for alias in node.names:
            if alias not in others and alias.asname:
                made.append(_assigned(alias.asname, alias.name, node))
        return made or [ast.copy_location(ast.Pass(), node)]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if node.level or not node.module or node.module.partition(".")[0] != "tools":
            return node
        if any(alias.name == "*" for alias in node.names):
            raise SyntaxError("`tools` is not a module: import its parts by name, or call tools.<name> directly")
        return [_assigned(alias.asname or alias.name, f"{node.module}.{alias.name}", node) for alias in node.names]


def _are_values(patterns: list[ast.pattern]) -> bool:
    """Whether a result is compared with codes, as in `case Err("not_found" | "gone")`."""
    return bool(patterns) and all(
        isinstance(each, ast.MatchValue) or (isinstance(each, ast.MatchOr) and _are_values(each.patterns))
        for each in patterns
    )


def _assigned(name: str, path: str, place: ast.stmt) -> ast.stmt:
    first, *rest = path.split(".")
    found: ast.expr = ast.Name(first, ast.Load())
    for part in rest:
        found = ast.Attribute(found, part, ast.Load())
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], found), place)


def compile_snippet(tree: ast.Module, name: str, names: dict[str, Any]) -> types.CodeType:
    """Code that leaves the last expression in `VALUE`, or returns it. What it needs besides is put into `names`."""
    last = _keep_value(tree)
    try:
        code = _compile(tree, name)
    except SyntaxError as error:
        if "'return' outside function" not in str(error):
            raise
        if last is not None:
            tree.body[-1] = ast.copy_location(ast.Return(last), tree.body[-1])
        code = _compile_body(ast.fix_missing_locations(_AsBody(names).visit(tree)), name)
    if missing := {each for each in _type_names(code) if each not in names and not hasattr(builtins, each)}:
        names.update(dict.fromkeys(_record_types(tree, missing), dict))
    return code


def _compile(tree: ast.Module, name: str) -> types.CodeType:
    code: types.CodeType = compile(tree, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return code


def _keep_value(tree: ast.Module) -> ast.expr | None:
    """Keep the value of the last line; that line's expression, if it has one."""
    if not tree.body or not isinstance(last := tree.body[-1], ast.Expr | ast.Return) or last.value is None:
        return None
    target = ast.copy_location(ast.Name(VALUE, ast.Store()), last)
    tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
    return last.value


def _compile_body(tree: ast.Module, name: str) -> types.CodeType:
    """The module as the body of a function, so that `return` is one and nothing can catch it.

    All its variables are global, and its code is made to run like a module's: in the namespace that it is given.
    """
    future = [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == "__future__"]
    body = [each for each in tree.body if each not in future]

    def compiled(kind: type[ast.FunctionDef | ast.AsyncFunctionDef], declared: list[ast.stmt]) -> types.CodeType:
        function = kind("<module>", _NO_ARGUMENTS, [*declared, *body], [], lineno=1, col_offset=0)
        module = ast.fix_missing_locations(ast.Module([*future, function], []))
        made: list[types.CodeType] = [each for each in _compile(module, name).co_consts if type(each) is types.CodeType]
        return made[-1]

    kind: type[ast.FunctionDef | ast.AsyncFunctionDef] = ast.FunctionDef
    try:
        code = compiled(kind, [])
    except SyntaxError:
        kind = ast.AsyncFunctionDef  # It awaits something; if anything else is wrong, that is wrong here as well.
        code = compiled(kind, [])
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        raise SyntaxError("'yield' outside function")
    if variables := [*code.co_varnames, *code.co_cellvars]:
        code = compiled(kind, [ast.Global(variables, lineno=1, col_offset=0)])
    flags = code.co_flags & ~(inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS)
    return code.replace(co_flags=flags, co_qualname="<module>")


_NO_ARGUMENTS: Final = ast.arguments([], [], None, [], [], None, [])


class _AsBody(ast.NodeTransformer):
    """Says what only a module may say in the words of a function."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if not isinstance(node.target, ast.Name):
            return node
        made = ast.Pass() if node.value is None else ast.Assign([node.target], node.value)
        return ast.copy_location(made, node)  # What is global cannot be annotated.

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if all(alias.name != "*" for alias in node.names):
            return node
        self._names[_EXEC] = exec  # Only here: where `import *` is refused, so is `exec`.
        call = ast.Call(ast.Name(_EXEC, ast.Load()), [ast.Constant(ast.unparse(node))], [])
        return ast.copy_location(ast.Expr(call), node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        inner = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr)
        return node if inner else super().generic_visit(node)


def _type_names(code: types.CodeType) -> Iterator[str]:
    """Names in the code that are spelled like types."""
    for each in code.co_names:
        if each[0].isupper() and not each.isupper():
            yield each
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            yield from _type_names(constant)


def _record_types(tree: ast.Module, names: set[str]) -> set[str]:
    """The names that the snippet never binds and uses as the stubs do: in annotations, or called with keywords.

    Records are dicts. A name of the library that was not imported is left to its NameError.
    """
    found = {each for each in names if each not in IMPORTED_FROM}
    annotations: set[ast.AST] = set()
    called: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=ast.expr() as noted) | ast.AnnAssign(annotation=noted):
                annotations.update(ast.walk(noted))
            case ast.FunctionDef(returns=ast.expr() as noted) | ast.AsyncFunctionDef(returns=ast.expr() as noted):
                annotations.update(ast.walk(noted))
            case ast.Call(func=ast.Name() as function, args=[]):
                called.add(function)
            case ast.ClassDef(name=bound) | ast.FunctionDef(name=bound):
                found.discard(bound)
            case ast.alias(name=name, asname=asname):
                found.discard(asname or name.partition(".")[0])
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node not in annotations and node not in called:
            found.discard(node.id)
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
            found.discard(node.name)
    return found


def not_python(error: Exception, source: str) -> dict[str, Any]:
    """What is wrong with a source that cannot be compiled: the line, and where in it."""
    line = getattr(error, "lineno", None)
    lines = source.splitlines()
    excerpt = lines[line - 1] if isinstance(line, int) and 0 < line <= len(lines) else None
    shown = None
    if isinstance(error, SyntaxError) and excerpt is not None:
        error.text = error.text or excerpt
        if len(error.text) <= 200:
            shown = "".join(traceback.format_exception_only(error)).rstrip("\n")
        else:
            shown = f"line {line}: {excerpt.strip()[:200]}"
    return {
        "type": type(error).__name__,
        "message": getattr(error, "msg", None) or str(error) or "the source is too complex to parse",
        "line": line,
        "traceback": shown,
        "hint": _hint(error, excerpt or ""),
    }


def _hint(error: Exception, line: str) -> str | None:
    if not isinstance(error, SyntaxError):
        return None
    if line.lstrip().startswith(("```", "~~~")):
        return "send the code alone, or one fenced block of it"
    if line.lstrip().startswith(("!", "%")):
        return "this is plain Python: there are no shell commands and no notebook magics, only `tools`"
    if "'await' outside" in str(error):
        return "make the function `async def`, or call the tool without await: tools.a.b(...).unwrap()"
    version = sys.version_info
    old = f"the sandbox runs Python {version.major}.{version.minor}"
    if version < (3, 12) and _AN_F_STRING.search(line):
        return f"{old}: inside an f-string's braces use other quotes than around it, and no backslash"
    if version < (3, 14) and _LATER_SYNTAX.match(line):
        return f"{old}: this syntax came later"
    return None
