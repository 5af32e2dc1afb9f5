"""Finding the tools in a module: the one hook for built-in, installed and workspace tools alike."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from types import ModuleType

from coilclaw.sdk import Diagnostic, Tool

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
    # By its type alone: `isinstance` would ask the object, which may be anything an author made.
    return [value for value in vars(module).values() if issubclass(type(value), Tool)]


@contextmanager
def loading(file: str, loaded: Loaded, is_ours: Callable[[str], bool]) -> Iterator[None]:
    """Run the loading of one module; whatever goes wrong becomes a diagnostic that names the author's own line."""
    try:
        # What a module prints while it loads must not end up in the output of a command.
        with redirect_stdout(sys.stderr):
            yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        from coilclaw.workspace_tools.diagnosis import diagnose  # Loading goes well nearly always.

        loaded.diagnostics.append(diagnose(error, file, is_ours))
