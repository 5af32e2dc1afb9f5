"""Tools a person keeps in a workspace: `<workspace>/tools/<integration>/*.py`, loaded again as they change."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from coilclaw.sdk import Diagnostic, Quarantined, Tool
from coilclaw.workspace_tools.collection import Loaded, collect, loading
from coilclaw.workspace_tools.namespace import Namespace
from coilclaw.workspace_tools.sources import Source, Sources, relative_imports

__all__ = ["Admission", "Change", "Workspace", "load_workspace"]

Admission: TypeAlias = Callable[[str, str], str | None]
"""Given a file's name below `tools/` and the hash of its content: why it may not be loaded, or None."""


def _admit_all(name: str, digest: str) -> str | None:
    return None


@dataclass(frozen=True, kw_only=True)
class Change:
    """What one look at the workspace changed."""

    loaded: tuple[Source, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()
    seconds: float = 0.0
    settled: bool = True
    """False when something could not be decided yet and is worth another look soon."""

    def __bool__(self) -> bool:
        return bool(self.loaded or self.removed or self.failed or self.quarantined)


@dataclass(frozen=True, kw_only=True)
class _File:
    """What is in force for one file: the version that was loaded last, and what is wrong with the present one."""

    seen: str
    """Hash of the content this was decided about."""
    imports: frozenset[str]
    module: ModuleType | None = None
    tools: tuple[Tool, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    quarantine: Quarantined | None = None

    @property
    def is_sound(self) -> bool:
        return not self.problems and self.quarantine is None


class Workspace:
    """The tools of one workspace. A file that fails to load keeps its last good version.

    `refresh` looks at the files and loads what changed and whatever imports it. The tools it hands
    out stay as they are for whoever still uses them.
    """

    def __init__(self, workspace: Path, *, admit: Admission = _admit_all) -> None:
        self.sources = Sources(workspace / "tools")
        self._admit = admit
        self._files: dict[str, _File] = {}
        self._namespace: Namespace | None = None
        self._lock = threading.Lock()

    def refresh(self, *, force: bool = False) -> Change:
        """Bring the tools in line with the files; with `force`, run every file again."""
        began = time.perf_counter()
        with self._lock:
            sources = self.sources.read()
            stale = self._stale(sources, force)
            change = self._load(sources, stale) if stale or self._namespace is None else Change()
            return replace(change, seconds=time.perf_counter() - began, settled=not self.quarantined)

    @property
    def tools(self) -> list[Tool]:
        """Each tool once, however many files import it."""
        found = {
            (tool.id, tool.file, tool.line): tool for _, file in sorted(self._files.items()) for tool in file.tools
        }
        return list(found.values())

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return [*self.sources.diagnostics, *(each for _, file in sorted(self._files.items()) for each in file.problems)]

    @property
    def quarantined(self) -> list[Quarantined]:
        return [file.quarantine for _, file in sorted(self._files.items()) if file.quarantine is not None]

    def loaded(self) -> Loaded:
        """The tools in force, and what could not be used."""
        return Loaded(tools=self.tools, diagnostics=self.diagnostics)

    def _stale(self, sources: Mapping[str, Source], force: bool) -> set[str]:
        """Files that changed or whose trust is open, and every file that imports one of them."""
        changed = {
            name
            for name in self._files.keys() | sources.keys()
            if force
            or name not in self._files
            or name not in sources
            or self._files[name].seen != sources[name].digest
            or self._is_decided_anew(name, sources[name])
        }
        if not changed:
            return changed
        importers: dict[str, list[str]] = {}
        for name, file in self._files.items():
            for each in file.imports:
                importers.setdefault(each, []).append(name)
        stale = set(changed)
        waiting = list(changed)
        while waiting:
            name = waiting.pop()
            # A package stands for all of its files: loading one of them again changes the package.
            for other in (*importers.get(name, ()), *(each for each in _packages(name) if each in self._files)):
                if other not in stale:
                    stale.add(other)
                    waiting.append(other)
        return stale

    def _is_decided_anew(self, name: str, source: Source) -> bool:
        held = self._files[name].quarantine
        return held is not None and self._admit(name, source.digest) != held.reason

    def _load(self, sources: Mapping[str, Source], stale: set[str]) -> Change:
        namespace = Namespace(sources, self)
        before, self._files = self._files, {}
        for name, file in before.items():
            if name not in stale:
                self._files[name] = file
                if file.module is not None:
                    namespace.keep(sources[name].module, file.module)
        imports = {name: relative_imports(sources[name]) for name in stale if name in sources}
        defining = frozenset(source.path for source in sources.values() if source.may_define_tools)
        for name in _imported_first(imports):
            source = sources[name]
            file = self._decided(source, imports[name], before.get(name), namespace, defining)
            self._files[name] = file
        previous, self._namespace = self._namespace, namespace
        self._bind(namespace, sources, imports)
        if previous is not None:
            previous.leave()
        present = [(name, self._files[name]) for name in sorted(imports)]
        return Change(
            loaded=tuple(sources[name] for name, file in present if file.is_sound and file.module is not None),
            removed=tuple(sorted(before.keys() - sources.keys())),
            failed=tuple(name for name, file in present if file.problems),
            quarantined=tuple(name for name, file in present if file.quarantine),
        )

    def _decided(
        self,
        source: Source,
        imports: frozenset[str],
        last: _File | None,
        namespace: Namespace,
        defining: frozenset[str],
    ) -> _File:
        """Load one file, or keep its last good version and say why."""
        good = last or _File(seen="", imports=imports)
        reason = self._admit(source.name, source.digest) if source.data.strip() else None
        if reason is not None:
            held = Quarantined(name=f"tools/{source.name}", path=source.path, content_hash=source.digest, reason=reason)
            self._fall_back(good, source, namespace, f"tools/{source.name} waits for trust")
            return replace(good, seen=source.digest, imports=imports, problems=(), quarantine=held)
        loaded = Loaded()
        root = str(self.sources.root)
        if not source.may_define_tools:
            return _File(seen=source.digest, imports=imports)  # Runs when something imports it.
        with loading(source.path, loaded, lambda each: each.startswith(root), source.data):
            module = namespace.load(source.module)
            tools = tuple(tool for tool in collect(module) if tool.file == source.path or tool.file not in defining)
            return _File(seen=source.digest, imports=imports, module=module, tools=tools)
        self._fall_back(good, source, namespace, f"tools/{source.name} could not be loaded")
        return replace(good, seen=source.digest, imports=imports, problems=tuple(loaded.diagnostics), quarantine=None)

    def _fall_back(self, good: _File, source: Source, namespace: Namespace, reason: str) -> None:
        if good.module is not None:
            namespace.keep(source.module, good.module)
        else:
            namespace.refuse(source.module, f"{reason}, so it cannot be imported")

    def _bind(self, namespace: Namespace, sources: Mapping[str, Source], names: Iterable[str]) -> None:
        """Give every tool a digest that covers all the sources it is made of, and every module what it imports."""
        for name in names:
            file, module = self._files[name], namespace.modules.get(sources[name].module)
            if module is None or not file.is_sound:
                continue
            together = sorted(self._closure(name) & sources.keys())
            namespace.hold(sources[name].module, [sources[each].module for each in together])
            digest = _digest([(each, sources[each].digest) for each in together])
            tools = tuple(replace(tool, source_digest=digest) for tool in file.tools)
            self._files[name] = replace(file, module=module, tools=tools)

    def _closure(self, name: str) -> set[str]:
        found = {name}
        waiting = [name]
        while waiting:
            file = self._files.get(waiting.pop())
            for each in (file.imports if file else frozenset()) - found:
                found.add(each)
                waiting.append(each)
        return found


def load_workspace(workspace: Path, *, admit: Admission = _admit_all) -> Loaded:
    """Load every tool file of a workspace once. A file that cannot be loaded is reported; the others still count."""
    loader = Workspace(workspace, admit=admit)
    loader.refresh()
    return loader.loaded()


def _packages(name: str) -> list[str]:
    folders = name.split("/")[:-1]
    return ["/".join([*folders[:depth], "__init__.py"]) for depth in range(1, len(folders) + 1)]


def _digest(parts: list[tuple[str, str]]) -> str:
    if len(parts) == 1:
        return parts[0][1]
    return hashlib.sha256("\n".join(f"{name} {digest}" for name, digest in parts).encode()).hexdigest()


def _imported_first(imports: Mapping[str, frozenset[str]]) -> list[str]:
    """The files in an order in which what is imported comes before what imports it, as far as there is one."""
    order: list[str] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen or name not in imports:
            return
        seen.add(name)
        for each in sorted(imports[name]):
            visit(each)
        order.append(name)

    for name in sorted(imports):
        visit(name)
    return order
