"""Tools a person keeps in a workspace: `<workspace>/tools/<integration>/*.py`, loaded again as they change."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple, TypeAlias

from coilclaw.sdk import Diagnostic, Quarantined, Tool
from coilclaw.workspace_tools.collection import Loaded
from coilclaw.workspace_tools.import_thread import ImportThread
from coilclaw.workspace_tools.namespace import Namespace
from coilclaw.workspace_tools.sources import NO_IMPORTS, Imports, Look, Source, Sources, imports_of
from coilclaw.workspace_tools.tool_import import GivenUp, Imported, import_tools

__all__ = ["IMPORT_SECONDS", "Change", "Examination", "Judgement", "Workspace", "load_workspace"]

IMPORT_SECONDS: Final = 10.0
"""How long a tool file may take to load. Large libraries take seconds on a busy machine; nothing good takes this."""

Judgement: TypeAlias = Callable[[Mapping[str, str]], Mapping[str, str]]
"""Given names of files below `tools/` and the hashes of their contents: which may not be loaded, and why."""

Examination: TypeAlias = Callable[[Callable[[], Look]], tuple[Look, Judgement]]
"""Has the files read, and says what may be loaded of what was read: what was going on before and while they
were read counts too."""


def _admit_all(look: Callable[[], Look]) -> tuple[Look, Judgement]:
    return look(), lambda contents: {}


class Change(NamedTuple):
    """What one look at the workspace changed."""

    loaded: tuple[Source, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()
    told: bool = False
    """Whether there is something else to say about files that cannot be tool files at all."""
    seconds: float = 0.0
    settled: bool = True
    """False when something could not be decided yet and is worth another look soon."""

    def __bool__(self) -> bool:
        return bool(self.loaded or self.removed or self.failed or self.quarantined or self.told)


class _File(NamedTuple):
    """What is in force for one file: the version that was loaded last, and what is wrong with the present one."""

    seen: str
    """Hash of the content this was decided about."""
    source: Source | None = None
    """What is in force: an earlier content, while the present one cannot be used."""
    imports: Imports = NO_IMPORTS
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
    out stay as they are for whoever still uses them. A file that takes longer than `import_seconds` to load is given
    up; `progress` is told of one that takes long.
    """

    def __init__(
        self,
        workspace: Path,
        *,
        examine: Examination = _admit_all,
        import_seconds: float = IMPORT_SECONDS,
        progress: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.sources = Sources(workspace / "tools")
        self._examine = examine
        self._import_seconds = import_seconds
        self._progress = progress
        # Replaced as a whole, never changed: others read them while the next ones are made.
        self._files: Mapping[str, _File] = {}
        self._misfits: tuple[Diagnostic, ...] = ()
        self._namespace: Namespace | None = None
        self._lock = threading.Lock()

    def refresh(self, *, force: bool = False) -> Change:
        """Bring the tools in line with the files; with `force`, run every file again."""
        began = time.perf_counter()
        with self._lock:
            look, judgement = self._examine(self.sources.look)
            sources = look.sources
            changed = self._changed(sources, force)
            held = {name for name, file in self._files.items() if file.quarantine is not None}
            change = Change()
            if changed or held or self._namespace is None:
                reasons = judgement({name: each.digest for name, each in sources.items() if each.data.strip()})
                changed |= {name for name in held - changed if reasons.get(name) != _reason(self._files[name])}
                if changed or self._namespace is None:
                    change = self._load(sources, self._stale(changed), reasons)
            misfits, self._misfits = self._misfits, look.diagnostics
            return change._replace(
                told=misfits != look.diagnostics,
                seconds=time.perf_counter() - began,
                settled=not self.quarantined,
            )

    @property
    def tools(self) -> list[Tool]:
        """Each tool once, however many files import it."""
        found = {
            (tool.id, tool.file, tool.line): tool for _, file in sorted(self._files.items()) for tool in file.tools
        }
        return list(found.values())

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return [*self._misfits, *(each for _, file in sorted(self._files.items()) for each in file.problems)]

    @property
    def quarantined(self) -> list[Quarantined]:
        return [file.quarantine for _, file in sorted(self._files.items()) if file.quarantine is not None]

    def loaded(self) -> Loaded:
        """The tools in force, and what could not be used."""
        return Loaded(tools=self.tools, diagnostics=self.diagnostics)

    def _changed(self, sources: Mapping[str, Source], force: bool) -> set[str]:
        """Files that are new, gone, or have another content than the one that was decided about."""
        return {
            name
            for name in self._files.keys() | sources.keys()
            if force or name not in self._files or name not in sources or self._files[name].seen != sources[name].digest
        }

    def _stale(self, changed: set[str]) -> set[str]:
        """Those files, and every file that imports one of them."""
        importers: dict[str, list[str]] = {}
        for name, file in self._files.items():
            for each in file.imports.named:
                importers.setdefault(each, []).append(name)
        # A file that finds others by itself may be made of any of them.
        stale = changed | ({name for name, file in self._files.items() if file.imports.others} if changed else set())
        waiting = list(stale)
        while waiting:
            name = waiting.pop()
            # A package stands for all of its files: loading one of them again changes the package.
            for other in (*importers.get(name, ()), *(each for each in _packages(name) if each in self._files)):
                if other not in stale:
                    stale.add(other)
                    waiting.append(other)
        return stale

    def _load(self, sources: Mapping[str, Source], stale: set[str], reasons: Mapping[str, str]) -> Change:
        before, unchanged = self._files, {name: file for name, file in self._files.items() if name not in stale}
        held = {name for name, file in unchanged.items() if file.quarantine is not None}
        held |= {name for name in stale if name in reasons}
        # All of this is decided before anything runs: what runs may import any of the others.
        admitted = {name: source for name, source in sources.items() if name not in held}
        admitted |= {name: used for name in held if (used := _in_force(before.get(name))) is not None}
        imports: dict[str, Imports] = {}
        for name in sorted(stale & sources.keys()):
            # Not even read as Python before it is trusted.
            imports[name] = NO_IMPORTS if name in held else imports_of(sources[name])
        order = _imported_first(imports)
        done: dict[str, _File] = {}
        stuck: dict[str, tuple[Diagnostic, ...]] = {}
        left: list[Namespace] = []
        with ImportThread(self._import_seconds) as thread:
            while True:
                # A file that was given up holds the import locks of this generation's names for as long as it hangs,
                # so the rest is loaded under another prefix. What was loaded already is taken over.
                files = {**unchanged, **done}
                namespace = Namespace(sources, admitted, self)
                for name in held - admitted.keys():
                    namespace.refuse(sources[name].module, f"tools/{name} waits for trust, so it cannot be imported")
                _keep({**before, **done}, namespace, sources, (files.keys() | held) & sources.keys())
                for name, problems in stuck.items():
                    failed = _File(
                        seen=sources[name].digest, source=sources[name], imports=imports[name], problems=problems
                    )
                    files[name] = _fallen_back(failed, before.get(name), sources[name], namespace)
                now_stuck: dict[str, tuple[Diagnostic, ...]] = {}
                for name in order:
                    if name in held:
                        files[name] = _waiting(sources[name], before.get(name), reasons[name])
                    elif name not in files:
                        run = self._run(sources[name], imports[name], namespace, sources, thread)
                        if isinstance(run, _File):
                            files[name] = run
                        else:
                            now_stuck = {each: () for each in run.names if each in imports} | {name: (run.problem,)}
                            break
                        if run.problems:
                            files[name] = _fallen_back(run, before.get(name), sources[name], namespace)
                if not now_stuck:
                    break
                stuck |= now_stuck
                left.append(namespace)
                done = _taken_over(files, namespace, sources, imports, stuck)
        _bind(files, namespace, sources, imports)
        removed = tuple(sorted(before.keys() - sources.keys()))
        previous, self._namespace, self._files = self._namespace, namespace, files
        for each in (*left, *([] if previous is None else [previous])):
            each.leave(namespace)
        # A module that keeps an exception keeps this frame too, and with it all the generations before.
        del before, previous, admitted, left, done, unchanged
        present = [(name, files[name]) for name in sorted(imports)]
        return Change(
            loaded=tuple(sources[name] for name, file in present if file.is_sound and file.module is not None),
            removed=removed,
            failed=tuple(name for name, file in present if file.problems),
            quarantined=tuple(name for name, file in present if file.quarantine),
        )

    def _run(
        self,
        source: Source,
        imports: Imports,
        namespace: Namespace,
        sources: Mapping[str, Source],
        thread: ImportThread,
    ) -> _File | GivenUp:
        """Load one file, or say what is wrong with it."""
        fresh = _File(seen=source.digest, source=source, imports=imports)
        if not source.may_define_tools:
            return fresh  # Runs when something imports it.
        ran = import_tools(source, namespace, sources, thread, self._progress)
        match ran:
            case Imported():
                return fresh._replace(module=ran.module, tools=ran.tools)
            case Diagnostic():
                return fresh._replace(problems=(ran,))
            case GivenUp():
                return ran


def _taken_over(
    files: Mapping[str, _File],
    namespace: Namespace,
    sources: Mapping[str, Source],
    names: Iterable[str],
    stuck: Mapping[str, object],
) -> dict[str, _File]:
    """Of these files the ones that were loaded and do not need one that hangs."""
    found: dict[str, _File] = {}
    for name in names:
        file, module = files.get(name), namespace.modules.get(sources[name].module)
        if file is None or module is None or not file.is_sound or name in stuck:
            continue
        if _closure(files, name).isdisjoint(stuck):
            found[name] = file._replace(module=module)
    return found


def _keep(
    before: Mapping[str, _File], namespace: Namespace, sources: Mapping[str, Source], names: Iterable[str]
) -> None:
    """Use the modules of these files as they are."""
    for name in names:
        file = before.get(name)
        if file is not None and file.module is not None:
            namespace.keep(sources[name].module, file.module)


def _fallen_back(failed: _File, last: _File | None, source: Source, namespace: Namespace) -> _File:
    """A file that could not be loaded: its last good version stays."""
    if last is not None and last.module is not None:
        namespace.keep(source.module, last.module)
    else:
        namespace.refuse(source.module, f"tools/{source.name} could not be loaded, so it cannot be imported")
    return (last or failed)._replace(
        seen=failed.seen, imports=failed.imports, problems=failed.problems, quarantine=None
    )


def _waiting(source: Source, last: _File | None, reason: str) -> _File:
    """A file that waits for trust: what was in force stays."""
    held = Quarantined(name=f"tools/{source.name}", path=source.path, content_hash=source.digest, reason=reason)
    return (last or _File(seen=""))._replace(seen=source.digest, problems=(), quarantine=held)


def _in_force(file: _File | None) -> Source | None:
    return file.source if file is not None else None


def _reason(file: _File) -> str | None:
    return file.quarantine.reason if file.quarantine is not None else None


def _bind(files: dict[str, _File], namespace: Namespace, sources: Mapping[str, Source], names: Iterable[str]) -> None:
    """Give every tool a digest that covers all the sources it is made of, and every module what it imports."""
    for name in names:
        file, module = files[name], namespace.modules.get(sources[name].module)
        if module is None or not file.is_sound:
            continue
        together = sorted(_closure(files, name) & sources.keys())
        namespace.hold(sources[name].module, [sources[each].module for each in together])
        digest = _digest([(each, used.digest) for each in together if (used := files[each].source) is not None])
        tools = tuple(replace(tool, source_digest=digest) for tool in file.tools)
        files[name] = file._replace(module=module, tools=tools)


def _closure(files: Mapping[str, _File], name: str) -> set[str]:
    found = {name}
    waiting = [name]
    while waiting:
        file = files.get(waiting.pop())
        if file is None:
            continue
        for each in (file.imports.named | (files.keys() if file.imports.others else frozenset())) - found:
            found.add(each)
            waiting.append(each)
    return found


def load_workspace(workspace: Path) -> Loaded:
    """Load every tool file of a workspace once. A file that cannot be loaded is reported; the others still count."""
    loader = Workspace(workspace)
    loader.refresh()
    return loader.loaded()


def _packages(name: str) -> list[str]:
    folders = name.split("/")[:-1]
    return ["/".join([*folders[:depth], "__init__.py"]) for depth in range(1, len(folders) + 1)]


def _digest(parts: list[tuple[str, str]]) -> str:
    if len(parts) == 1:
        return parts[0][1]
    return hashlib.sha256("\n".join(f"{name} {digest}" for name, digest in parts).encode()).hexdigest()


def _imported_first(imports: Mapping[str, Imports]) -> list[str]:
    """The files in an order in which what is imported comes before what imports it, as far as there is one."""
    order: list[str] = []
    seen: set[str] = set()
    for first in sorted(imports):
        # By hand: a chain of imports may be longer than the interpreter's own stack.
        path = [] if first in seen else [(first, iter(sorted(imports[first].named)))]
        seen.add(first)
        while path:
            name, rest = path[-1]
            following = next((each for each in rest if each in imports and each not in seen), None)
            if following is None:
                path.pop()
                order.append(name)
            else:
                seen.add(following)
                path.append((following, iter(sorted(imports[following].named))))
    return order
