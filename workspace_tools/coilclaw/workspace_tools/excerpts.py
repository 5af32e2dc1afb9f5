"""Where in an author's file something stands: the line to show, and the mark under it."""

from __future__ import annotations

import ast
import os
import re
import stat
import warnings
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final, TypeGuard

__all__ = ["Definition", "Outline", "definitions", "line_of", "outline_of", "source_text"]

_LONGEST_LINE = 160
_LARGEST_BYTES = 4 * 1024 * 1024
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
"""Where Python ends a line; `str.splitlines` knows more ends and would count other lines."""

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


def source_text(file: str | Path) -> str | None:
    """The text of a file, or None when there is none to show."""
    try:
        # Opened without waiting, should it be a pipe.
        with os.fdopen(os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as opened:
            ordinary = stat.S_ISREG(os.fstat(opened.fileno()).st_mode)
            return opened.read(_LARGEST_BYTES).decode() if ordinary else None
    except (OSError, ValueError):
        return None


class Outline:
    """The text of one file, split into lines and parsed at most once, however much is asked about it."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    @cached_property
    def lines(self) -> list[str]:
        return _LINE_END.split(self.text or "")

    @cached_property
    def tree(self) -> ast.Module | None:
        """The syntax tree, or None for what is not Python; that is reported when the file is loaded."""
        if self.text is None:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # They were shown when the file was loaded.
                return ast.parse(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    @cached_property
    def definitions(self) -> list[Definition]:
        return [] if self.tree is None else list(definitions(self.tree))

    def line(self, number: int | None) -> str | None:
        """One line, not too long to be shown."""
        if number is None or not 0 < number <= len(self.lines):
            return None
        shown = self.lines[number - 1]
        return shown if len(shown) <= _LONGEST_LINE else shown[:_LONGEST_LINE] + "…"

    def column(self, line: int, offset: int) -> int:
        """The column, counted from 1 in characters, of a syntax tree's offset, which is in bytes."""
        before = self.lines[line - 1].encode()[:offset] if 0 < line <= len(self.lines) else b" " * offset
        return len(before.decode(errors="replace")) + 1

    def place(self, line: int | None, field: str | None) -> tuple[int | None, int | None]:
        """The line and column of a field of the contract near `line`; the line as it is when that cannot be told."""
        if line is None or field is None:
            return line, None
        for definition in self.definitions:
            if definition.covers(line):
                there, offset = definition.place(field)
                return there, self.column(there, offset)
        return line, None


def outline_of(file: str | Path) -> Outline:
    """The outline of a file as it is now."""
    return Outline(source_text(file))


def line_of(text: str | None, line: int | None) -> str | None:
    """One line of a text, not too long to be shown."""
    return Outline(text).line(line)


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


def _defines(node: ast.AST) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call):
        return False
    name = node.func
    return (isinstance(name, ast.Name) and name.id == "define_tool") or (
        isinstance(name, ast.Attribute) and name.attr == "define_tool"
    )
