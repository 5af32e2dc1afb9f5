"""Where in an author's file something stands: the line to show, and the mark under it."""

from __future__ import annotations

import ast
import os
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

__all__ = ["Definition", "column_of", "definitions", "line_of", "parsed", "place_of", "text_of"]

_LONGEST_LINE = 160
_LARGEST_BYTES = 4 * 1024 * 1024

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Definition:
    """One call of `define_tool` in a file, and the function it is about if that is in the same file."""

    def __init__(self, call: ast.Call, function: Function | None) -> None:
        self.call = call
        self.function = function

    def covers(self, line: int) -> bool:
        """Whether the call stands on this line, or the function it decorates or names begins there."""
        if self.call.lineno <= line <= (self.call.end_lineno or self.call.lineno):
            return True
        function = self.function
        return (
            function is not None and min([function.lineno, *(each.lineno for each in function.decorator_list)]) == line
        )

    def place(self, field: str) -> tuple[int, int]:
        """Line and offset of what a contract's field is written as."""
        for keyword in self.call.keywords:
            if keyword.arg == field:
                return keyword.value.lineno, keyword.value.col_offset
        function = self.function
        if function is None:
            return self.call.lineno, self.call.col_offset
        for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
            if argument.arg == field:
                return argument.lineno, argument.col_offset
        return function.lineno, function.col_offset


def text_of(file: str | Path) -> str | None:
    """The text of a file, or None when there is none to show."""
    try:
        # Opened without waiting, should it be a pipe.
        with os.fdopen(os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as opened:
            ordinary = stat.S_ISREG(os.fstat(opened.fileno()).st_mode)
            return opened.read(_LARGEST_BYTES).decode() if ordinary else None
    except (OSError, ValueError):
        return None


def parsed(text: str | None) -> ast.Module | None:
    """The syntax tree, or None for what is not Python; that is reported when the file is loaded."""
    if text is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # They were shown when the file was loaded.
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def line_of(text: str | None, line: int | None) -> str | None:
    """One line, not too long to be shown."""
    lines = (text or "").splitlines()
    if line is None or not 0 < line <= len(lines):
        return None
    shown = lines[line - 1]
    return shown if len(shown) <= _LONGEST_LINE else shown[:_LONGEST_LINE] + "…"


def column_of(text: str | None, line: int, offset: int) -> int:
    """The column, counted from 1 in characters, of a syntax tree's offset, which is in bytes."""
    lines = (text or "").split("\n")
    before = lines[line - 1].encode()[:offset] if 0 < line <= len(lines) else b" " * offset
    return len(before.decode(errors="replace")) + 1


def definitions(tree: ast.Module) -> Iterator[Definition]:
    """Every `define_tool(...)` of a file, as a decorator or with `handler=`."""
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    decorating: set[ast.AST] = set()
    for function in functions:
        for decorator in function.decorator_list:
            if _defines(decorator):
                decorating.add(decorator)
                yield Definition(decorator, function)
    by_name = {function.name: function for function in functions}
    for node in ast.walk(tree):
        if _defines(node) and node not in decorating:
            named = next((each.value for each in node.keywords if each.arg == "handler"), None)
            yield Definition(node, by_name.get(named.id) if isinstance(named, ast.Name) else None)


def place_of(text: str | None, line: int | None, field: str | None) -> tuple[int | None, int | None]:
    """The line and column of a field of the contract near `line`; the line as it is when that cannot be told."""
    tree = parsed(text)
    if tree is None or line is None or field is None:
        return line, None
    for definition in definitions(tree):
        if definition.covers(line):
            there, offset = definition.place(field)
            return there, column_of(text, there, offset)
    return line, None


def _defines(node: ast.AST) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call):
        return False
    name = node.func
    return (isinstance(name, ast.Name) and name.id == "define_tool") or (
        isinstance(name, ast.Attribute) and name.attr == "define_tool"
    )
