"""Finding the tools in a module: the one hook for built-in, installed and workspace tools alike."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TypeVar

from coilclaw.sdk import Diagnostic, Tool

__all__ = ["Loaded", "attempted", "collect"]

T = TypeVar("T")


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


def attempted(
    load: Callable[[], T], file: str, is_ours: Callable[[str], bool], source: bytes | None = None
) -> T | Diagnostic:
    """What loading a file gives. An author's code runs here; what it raises becomes a diagnostic of their own line."""
    try:
        return load()
    except BaseException as error:
        # Ctrl-C reaches the main thread and no other. By its type alone, as above: the exception is an author's too.
        if type(error) is KeyboardInterrupt and threading.current_thread() is threading.main_thread():
            raise
        from coilclaw.workspace_tools.diagnosis import diagnose  # Loading goes well nearly always.

        return diagnose(error, file, is_ours, source)
