"""A call as a person reads it before it runs: whole, text as text, and a change of a file as a difference."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from coilclaw.app.difference import Row, difference_rows, text_rows
from coilclaw.sdk.legible import one_line

__all__ = ["argument_rows", "call_rows", "runs_rows"]

_SHORT: Final = 60
_WRITTEN: Final = ("text", "content")
"""The arguments of `files.write` that are what the file will hold."""
_LARGEST_COMPARED: Final = 2 * 1024 * 1024


def call_rows(tool: str, arguments: str | None, runs: str | None, workspace: Path | None) -> Iterator[Row]:
    """Yield everything that a call sends, given as JSON, and what it will run, if its tool says so."""
    yield Row("  Args:")
    if arguments is None:
        yield Row("    ", "no longer kept; the call itself is still bound to their hash")
    else:
        yield from argument_rows(tool, arguments, workspace)
    if runs is not None:
        yield Row("  Runs:")
        yield from runs_rows(runs)


def argument_rows(tool: str, arguments: str, workspace: Path | None, indent: str = "    ") -> Iterator[Row]:
    """Yield every argument of a call, given as JSON, without leaving anything out.

    Text of several lines is shown as lines, each behind a bar. What `files.write` would write is shown as a difference
    from the file that is there now.
    """
    try:
        given = json.loads(arguments, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
        rows = list(_call_rows(tool, given, workspace, indent))
    except (ValueError, RecursionError):  # Not JSON, or deeper than we can follow: still whole, on one line.
        rows = [Row(indent, one_line(arguments))]
    yield from rows or [Row(indent, "none")]


def runs_rows(runs: str, indent: str = "    ") -> Iterator[Row]:
    """Yield what a call will run, as its tool says it: JSON by its parts, anything else line by line."""
    try:
        value = json.loads(runs, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
        # Only if that is the whole text: a name that is there twice, say, would not be shown.
        items = value if isinstance(value, list) and _compact(value) == runs else None
        rows = None if items is None else [row for each in items for row in _value_rows(indent, "- ", each)]
    except (ValueError, RecursionError):
        rows = None
    yield from text_rows(f"{indent}| ", runs.split("\n")) if rows is None else rows or [Row(indent, "nothing")]


class _Number(str):
    """A number as it was written."""


def _call_rows(tool: str, given: Any, workspace: Path | None, indent: str) -> Iterator[Row]:
    if not isinstance(given, dict):
        yield from _value_rows(indent, "", given)
        return
    for key, value in given.items():
        label = f"{_quoted(key)}: "
        if tool == "files.write" and key in _WRITTEN and type(value) is str and type(given.get("path")) is str:
            yield from _written_rows(indent, label, given["path"], value, workspace)
        else:
            yield from _value_rows(indent, label, value)


def _value_rows(indent: str, label: str, value: Any) -> Iterator[Row]:
    inner = f"{indent}  "
    if type(value) is str and "\n" in value:
        yield Row(indent, f"{label}{_size_of(value)}")
        yield from text_rows(f"{inner}| ", _lines_of(value))
    elif isinstance(value, (dict, list)) and value and (_has_lines(value) or len(_compact(value)) > _SHORT):
        yield Row(indent, label.rstrip(" ") or "-")
        items = value.items() if isinstance(value, dict) else ((None, each) for each in value)
        for key, each in items:
            yield from _value_rows(inner, "- " if key is None else f"{_quoted(key)}: ", each)
    else:
        yield Row(indent, f"{label}{one_line(_compact(value))}")


def _written_rows(indent: str, label: str, path: str, text: str, workspace: Path | None) -> Iterator[Row]:
    bar = f"{indent}  | "
    before, known = _present(workspace, path)
    after = _lines_of(text)
    if before is None:
        yield Row(indent, f"{label}{known}, {_size_of(text)}")
        yield from text_rows(f"{bar}+", after, "green")
        return
    old = _lines_of(before)
    if before == text:
        yield Row(indent, f"{label}exactly what the file has now, {_size_of(text)}")
        return
    yield Row(indent, f"{label}replaces {_counted(len(old), 'line')}{_end_of(before)} by {_size_of(text)}; compared:")
    if old == after:
        yield Row(bar, "only the newline at the end changes")
    yield from difference_rows(old, after, bar)


def _present(workspace: Path | None, path: str) -> tuple[str | None, str]:
    """Return the text of a file of the workspace; None, and what is there instead, if there is nothing to compare."""
    if workspace is None:
        return None, "whole file"
    try:
        place = (workspace / path).resolve()
        if not place.is_relative_to(workspace.resolve()):
            return None, "not a file of the workspace"
        # Without waiting: it may be a pipe.
        descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > _LARGEST_COMPARED:
                return None, "in place of something that cannot be compared"
            return file.read(_LARGEST_COMPARED).decode(), "file"
    except FileNotFoundError:
        return None, "new file"
    except (OSError, ValueError):
        return None, "in place of something that cannot be compared"


def _lines_of(text: str) -> list[str]:
    """A carriage return is no end of a line here: it is part of what is sent, and shown."""
    return text.removesuffix("\n").split("\n") if text else []


def _size_of(text: str) -> str:
    return f"{_counted(len(_lines_of(text)), 'line')}, {_counted(len(text), 'character')}{_end_of(text)}"


def _end_of(text: str) -> str:
    return " (no newline at the end)" if text and not text.endswith("\n") else ""


def _has_lines(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_lines, value.values()))
    if isinstance(value, list):
        return any(map(_has_lines, value))
    return type(value) is str and "\n" in value


def _compact(value: Any) -> str:
    """JSON of the value on one line, with numbers as they were written."""
    match value:
        case dict():
            return "{" + ", ".join(f"{_compact(key)}: {_compact(each)}" for key, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_compact, value)) + "]"
        case _Number():
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _quoted(key: str) -> str:
    return one_line(json.dumps(key, ensure_ascii=False))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
