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
def loading(file: str, loaded: Loaded, is_ours: Callable[[str], bool]) -> Iterator[None]:
    """Run the loading of one file; whatever goes wrong becomes a diagnostic that names the author's own line."""
    try:
        # What a module prints while it loads must not end up in the output of a command.
        with redirect_stdout(sys.stderr):
            yield
    except ToolDefinitionError as error:
        loaded.diagnostics.append(
            Diagnostic(
                file=error.file or file,
                line=error.line,
                message=f"{error.field}: {error.problem}" if error.field else error.problem,
                hint=error.hint,
            )
        )
    except SyntaxError as error:
        where = error.filename or file
        loaded.diagnostics.append(Diagnostic(file=where, line=error.lineno, message=f"not valid Python: {error.msg}"))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        line = None
        for frame in traceback.extract_tb(error.__traceback__):
            if is_ours(frame.filename):
                file, line = frame.filename, frame.lineno
        hint = None
        if isinstance(error, ModuleNotFoundError) and error.name:
            hint = f"install it where coilclaw is installed: pip install {error.name.split('.')[0]}"
        loaded.diagnostics.append(
            Diagnostic(file=file, line=line, message=f"{type(error).__name__}: {error}".rstrip(": "), hint=hint)
        )
