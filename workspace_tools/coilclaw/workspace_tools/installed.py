"""Integrations that are installed: every package `coilclaw.integrations.<name>`.

`coilclaw.integrations` is a namespace package. The built-in ones live in it, and so does any
integration that another distribution puts there; they are found and loaded in the same way.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO, cast

from coilclaw.sdk import Diagnostic, OperatorError, Tool
from coilclaw.workspace_tools.collection import Loaded, attempted, collect
from coilclaw.workspace_tools.contract_index import START_ANEW, ContractIndex

__all__ = ["load_installed"]

_NAMESPACE = "coilclaw.integrations"
_lock = threading.Lock()
_importing: list[int] = []
"""The threads that import an integration, each as many times as it does."""


def load_installed(cache: Path | None = None) -> Loaded:
    """The tools of all installed integrations.

    With `cache`, a folder of the user's own, their contracts are read from an index there, and an integration is
    imported when one of its tools is first called.
    """
    places = import_module(_NAMESPACE).__path__
    index = ContractIndex(cache, places) if cache is not None else None
    known = index.read(_load) if index is not None else None
    if known is not None:
        return Loaded(tools=known)
    loaded = Loaded()
    packages: list[str] = []
    for name in _packages(places):
        module = _imported(name)
        if isinstance(module, Diagnostic):
            loaded.diagnostics.append(module)
            continue
        loaded.add(module)
        packages += [name] * (len(loaded.tools) - len(packages))
    loaded.tools = [tool.with_source() for tool in loaded.tools]
    if index is not None and not loaded.diagnostics:
        index.write(zip(packages, loaded.tools, strict=True))
    return loaded


def _packages(places: Iterable[str]) -> Iterator[str]:
    import pkgutil

    for found in sorted(pkgutil.iter_modules(places), key=lambda each: each.name):
        yield f"{_NAMESPACE}.{found.name}"


class _StdoutOfOthers:
    """The standard output of all threads but those that import, whose output goes to the standard error.

    A tool is imported when a run first calls it, while the host and other runs print.
    """

    def __init__(self, stdout: TextIO) -> None:
        self.stdout = stdout

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr if threading.get_ident() in _importing else self.stdout, name)


@contextmanager
def _printing_elsewhere() -> Iterator[None]:
    """Keep what a module prints while it loads out of the output of a command."""
    thread = threading.get_ident()
    with _lock:  # Not for longer: one that never finishes loading must not keep others from it.
        _importing.append(thread)
        if not isinstance(sys.stdout, _StdoutOfOthers):
            sys.stdout = cast("TextIO", _StdoutOfOthers(sys.stdout))
    try:
        yield
    finally:
        with _lock:
            _importing.remove(thread)
            if not _importing and isinstance(sys.stdout, _StdoutOfOthers):
                sys.stdout = sys.stdout.stdout


def _imported(package: str) -> ModuleType | Diagnostic:
    with _printing_elsewhere():
        return attempted(partial(import_module, package), package, lambda file: "integrations" in file)


def _load(package: str, tool_id: str) -> Tool:
    """Import the integration that has a tool. Whatever names the package, it must be an installed one."""
    if package not in _packages(import_module(_NAMESPACE).__path__):
        raise OperatorError(f"{package!r} is not an installed integration", hint=START_ANEW)
    module = _imported(package)
    if isinstance(module, Diagnostic):
        raise OperatorError(f"{package} cannot be loaded: {module.message}", hint=module.hint)
    tool = next((each for each in collect(module) if each.id == tool_id), None)
    if tool is None:
        raise OperatorError(f"{package} has no tool {tool_id!r} any more", hint=START_ANEW)
    return tool.with_source()
