"""From whatever an author's file raised to one diagnostic: bounded, safe to show, at the author's own line.

The exception is foreign. Its text, its attributes and even the name of its class may raise, lie or be megabytes.
"""

from __future__ import annotations

from collections.abc import Callable

from coilclaw.sdk import Diagnostic, ToolDefinitionError
from coilclaw.sdk.legible import kind_of, one_line, text_of
from coilclaw.workspace_tools.excerpts import Outline, outline_of

__all__ = ["diagnose"]

_LONGEST_MESSAGE = 1_000
_LONGEST_PATH = 4_096
_LARGEST_LINE = 10_000_000
_READING = "correct this line, or the one before it: Python could not read on from here"
_LOADING = "every command loads the tool files, so loading one must not raise; see where this comes from"


def diagnose(
    error: BaseException, file: str, is_ours: Callable[[str], bool], source: bytes | None = None
) -> Diagnostic:
    """Say what is wrong with a file whose loading raised this.

    `source` is what the file held when it was read, for which the line is quoted; without it, what it holds now.
    """
    try:
        return _told(error, file, is_ours, source)
    except BaseException:  # It is the exception's own code that fails here, and that is told as well.
        return Diagnostic(
            file=file, line=None, message=f"{kind_of(error)}: an exception that cannot be shown", hint=_LOADING
        )


def _told(error: BaseException, file: str, is_ours: Callable[[str], bool], source: bytes | None) -> Diagnostic:
    read = {file: Outline(source.decode(errors="replace"))} if source is not None else {}

    def outline(place: str) -> Outline:
        return read[place] if place in read else outline_of(place)

    if isinstance(error, ToolDefinitionError):
        where = _path(error.file) or file
        field = None if error.field is None else _message(error.field)
        line, column = outline(where).place(_number(error.line), field)
        message = _message(error.problem)
        return Diagnostic(
            file=where,
            line=line,
            message=f"{field}: {message}" if field else message,
            hint=_hint(error.hint),
            column=column,
            excerpt=outline(where).line(line),
        )
    if isinstance(error, SyntaxError):
        where, line = _path(error.filename) or file, _number(error.lineno)
        return Diagnostic(
            file=where,
            line=line,
            message=f"not valid Python: {_message(error.msg)}",
            hint=_READING if _is_text(source) else "save the file as UTF-8",
            column=_number(error.offset),
            excerpt=outline(where).line(line),
        )
    line = None
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if is_ours(name):
            file, line = text_of(name, _LONGEST_PATH), trace.tb_lineno
        trace = trace.tb_next
    told = outline(file)
    return Diagnostic(
        file=file,
        line=line,
        message=f"{kind_of(error)}: {_message(error)}".rstrip(": "),
        hint=_hint(_advice(error, told.text)),
        excerpt=told.line(line),
    )


def _is_text(source: bytes | None) -> bool:
    try:
        (source or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def _message(value: object) -> str:
    return one_line(text_of(value, _LONGEST_MESSAGE))


def _hint(value: object) -> str | None:
    return None if value is None else _message(value)


def _path(value: object) -> str | None:
    return None if value is None else text_of(value, _LONGEST_PATH)


def _number(value: object) -> int | None:
    """A line or column, unless it is something that cannot be one."""
    return value if isinstance(value, int) and type(value) is int and 0 < value < _LARGEST_LINE else None


def _advice(error: BaseException, text: str | None) -> str:
    """What the author can do about an exception that came out of loading a file."""
    if isinstance(error, ModuleNotFoundError) and type(error.name) is str and error.name:
        if error.name.startswith("coilclaw_workspace_"):
            return f"there is no {error.name.rsplit('.', 1)[-1]}.py beside this file; make it, or correct the name"
        return _installing(error.name.split(".")[0], text)
    if isinstance(error, TypeError) and "define_tool()" in text_of(error):
        return 'a tool is made with @define_tool(id="integration.action", risk="read", …)'
    if isinstance(error, TypeError) and "'Tool' object is not subscriptable" in text_of(error):
        return "a tool's function has the name of a builtin such as list: rename it (`def list_`), its id may stay"
    if isinstance(error, NameError) and (name := getattr(error, "name", None)) in ("define_tool", "ToolContext"):
        return f"add this line at the top: from coilclaw.sdk import {name}"
    if isinstance(error, SystemExit):
        return "a tool file is imported, not run: take the exit out"
    if isinstance(error, EOFError):
        return "a tool file is imported, not run: nobody can type anything; take it as an argument of the tool"
    return _LOADING


def _installing(module: str, text: str | None) -> str:
    from coilclaw.workspace_tools.inline_metadata import (
        BadMetadata,
        install_command,
        missing_requirements,
        read_metadata,
    )

    try:
        needed = read_metadata(text or "")
        missing = missing_requirements(needed) if needed is not None else ()
    except BadMetadata as problem:
        return f"{problem.message}; {problem.hint}"
    if missing:
        return f"the file says it needs this; install it with: {install_command(missing)}"
    command = install_command([module])
    return f"install it with: {command} (if the distribution has another name than {module!r}, use that)"
