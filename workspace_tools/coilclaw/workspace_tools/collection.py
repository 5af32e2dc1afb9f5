"""Finding the tools in a module: the one hook for built-in, installed and workspace tools alike."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from types import ModuleType

from coilclaw.sdk import Diagnostic, Tool, ToolDefinitionError

__all__ = ["Loaded", "collect", "loading"]


@dataclass
class Loaded:
    """Tools found so far, and the files that could not be used."""

    tools: list[Tool] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)

    def add(self, module: ModuleType, digest: str = "") -> None:
        """Add the tools a module holds, each once however many modules import it."""
        for tool in collect(module):
            if id(tool) not in self._seen:
                self._seen.add(id(tool))
                self.tools.append(replace(tool, source_digest=digest) if digest else tool)


def collect(module: ModuleType) -> list[Tool]:
    """The `Tool` values among a module's names."""
    return [value for value in vars(module).values() if isinstance(value, Tool)]


@contextmanager
def loading(file: str, loaded: Loaded, is_ours: Callable[[str], bool], source: bytes | None = None) -> Iterator[None]:
    """Run the loading of one file; whatever goes wrong becomes a diagnostic that names the author's own line.

    `source` is what the file held when it was read, for which the line is quoted; without it, what it holds now.
    """
    try:
        # What a module prints while it loads must not end up in the output of a command.
        with redirect_stdout(sys.stderr):
            yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        loaded.diagnostics.append(_diagnostic(error, file, is_ours, source))


def _diagnostic(error: BaseException, file: str, is_ours: Callable[[str], bool], source: bytes | None) -> Diagnostic:
    # Imported here: loading goes well nearly always.
    from coilclaw.workspace_tools import excerpts
    from coilclaw.workspace_tools.excerpts import line_of, place_of

    read = {file: source.decode(errors="replace")} if source is not None else {}

    def text_of(place: str) -> str | None:
        return read[place] if place in read else excerpts.text_of(place)

    if isinstance(error, ToolDefinitionError):
        where = error.file or file
        text = text_of(where)
        line, column = place_of(text, error.line, error.field)
        message = f"{error.field}: {error.problem}" if error.field else error.problem
        return Diagnostic(
            file=where, line=line, message=message, hint=error.hint, column=column, excerpt=line_of(text, line)
        )
    if isinstance(error, SyntaxError):
        where = error.filename or file
        return Diagnostic(
            file=where,
            line=error.lineno,
            message=f"not valid Python: {error.msg}",
            hint="correct this line, or the one before it: Python could not read on from here",
            column=error.offset,
            excerpt=line_of(text_of(where), error.lineno),
        )
    line = None
    for frame in traceback.extract_tb(error.__traceback__):
        if is_ours(frame.filename):
            file, line = frame.filename, frame.lineno
    text = text_of(file)
    return Diagnostic(
        file=file,
        line=line,
        message=f"{type(error).__name__}: {error}".rstrip(": "),
        hint=_advice(error, text),
        excerpt=line_of(text, line),
    )


def _advice(error: BaseException, text: str | None) -> str | None:
    """What the author can do about an exception that came out of loading a file."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        if error.name.startswith("coilclaw_workspace_"):
            return f"there is no {error.name.rsplit('.', 1)[-1]}.py beside this file; make it, or correct the name"
        return _installing(error.name.split(".")[0], text)
    if isinstance(error, TypeError) and "define_tool()" in str(error):
        return 'a tool is made with @define_tool(id="integration.action", risk="read", …)'
    if isinstance(error, NameError) and getattr(error, "name", None) in ("define_tool", "ToolContext"):
        return f"add this line at the top: from coilclaw.sdk import {error.name}"
    if isinstance(error, SystemExit):
        return "a tool file is imported, not run: take the exit out"
    return None


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
