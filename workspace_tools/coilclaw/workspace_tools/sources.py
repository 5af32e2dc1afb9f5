"""The Python files under a workspace's `tools/`, as they are on disk right now."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import stat
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, overload

from coilclaw.sdk import Diagnostic, OperatorError

__all__ = ["NO_IMPORTS", "Imports", "Look", "Source", "Sources", "TooManyFiles", "imports_of"]

_DEEPEST: Final = 8
_LARGEST_BYTES: Final = 4 * 1024 * 1024
_SETTLED_NANOSECONDS: Final = 50_000_000
_MOST_ENTRIES: Final = 20_000
_FILE_NAME: Final = r"[\w-]+\.py"
_NOT_TOOLS: Final = (".", "_", "test_", "conftest.")

_LOADING_MODULES: Final = frozenset(
    ("__main__", "_imp", "builtins", "code", "codeop", "imp", "importlib", "pkgutil", "pydoc", "runpy", "zipimport")
)
_LOADING_NAMES: Final = frozenset(
    ("__builtins__", "__import__", "__loader__", "__path__", "__spec__", "compile", "eval", "exec")
)
_LOADING_ATTRIBUTES: Final = frozenset(("__builtins__", "__import__", "__loader__", "__path__", "__spec__"))
_LOADING_PARTS_OF_SYS: Final = frozenset(("meta_path", "modules", "path", "path_hooks", "path_importer_cache"))

_LOADING_WORDS: Final = "|".join({*_LOADING_MODULES, *_LOADING_NAMES, *_LOADING_ATTRIBUTES, r"\bsys\b"}).encode()

_Signature: TypeAlias = tuple[int, int, int, int, int]
"""Device, inode, size, and two times. The change time cannot be set back by whoever wrote the file."""


class Source(NamedTuple):
    """One file: its name below `tools/`, and the bytes that count until the next look."""

    name: str
    path: str
    data: bytes
    digest: str

    @property
    def module(self) -> str:
        """Its dotted name below the workspace's own prefix."""
        parts = self.name.removesuffix(".py").split("/")
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def may_define_tools(self) -> bool:
        """Files straight in an integration's folder; what stands deeper or is private is only imported."""
        parts = self.name.split("/")
        return len(parts) == 2 and (parts[1] == "__init__.py" or not parts[1].startswith(_NOT_TOOLS))


class Look(NamedTuple):
    """What one look at the folder found: every source that can be used by its name, sorted, and what cannot be."""

    sources: Mapping[str, Source]
    diagnostics: tuple[Diagnostic, ...]


class TooManyFiles(OperatorError):
    """The folder holds more than anyone keeps by hand; most often a link in it leads too far."""

    code = "too_many_files"


class Sources:
    """Reads a file again only when the file system says it changed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock = threading.Lock()
        self._known: dict[str, tuple[_Signature, Source]] = {}
        self._digests: dict[str, tuple[bytes, str]] = {}

    def look(self) -> Look:
        """Every file that may be loaded, as it is now."""
        problems: list[Diagnostic] = []
        with self._lock:
            found = self._found(problems)
        sources: dict[str, Source] = {}
        by_module: dict[str, str] = {}
        for name, source in sorted(found.items()):
            # Two files for one module: which of them runs must not depend on who asks.
            other = by_module.setdefault(source.module, name)
            if other == name:
                sources[name] = source
            else:
                problems.append(_shadowed(source.path, other))
        return Look(sources=sources, diagnostics=tuple(problems))

    def _found(self, problems: list[Diagnostic]) -> dict[str, Source]:
        found: dict[str, tuple[_Signature, Source]] = {}
        try:
            for name, entry, problem in _walk(self.root, problems):
                if problem is not None:
                    problems.append(problem)
                    continue
                try:
                    known = self._known.get(name)
                    if known is None or known[0] != _signature(entry.stat()):
                        known = _read(name, entry.path, problems)
                    if known is not None:
                        found[name] = known
                except OSError as error:
                    if entry.is_symlink() or not isinstance(error, FileNotFoundError):
                        problems.append(_unreadable(entry.path, error))
        except TooManyFiles as error:
            problems.append(Diagnostic(file=str(self.root), line=None, message=error.message, hint=error.hint))
        # Times have a granularity of milliseconds: a file this young may change again and look the same.
        moment = time.time_ns()
        self._known = {
            name: known for name, known in found.items() if moment - max(known[0][3:]) > _SETTLED_NANOSECONDS
        }
        return {name: source for name, (_, source) in found.items()}

    def read(self) -> Mapping[str, Source]:
        """Every source by its name, sorted."""
        return self.look().sources

    def digests(self) -> dict[str, str]:
        """The names of all Python files and the hashes of their contents, also of those that cannot be loaded as they
        stand: a person may be told to move them.

        Every file is read: who writes through a mapping can change a file without changing its times. Raises
        `TooManyFiles` instead of leaving some out.
        """
        found: dict[str, tuple[bytes, str]] = {}
        for name, entry, _ in _walk(self.root, [], everything=True):
            try:
                read = _contents(entry.path)
            except OSError:
                continue
            if isinstance(read, bytes):
                known = self._digests.get(name)
                found[name] = known if known and known[0] == read else (read, hashlib.sha256(read).hexdigest())
        self._digests = found
        return {name: digest for name, (_, digest) in sorted(found.items())}


def _walk(
    root: Path, problems: list[Diagnostic], *, everything: bool = False
) -> Iterator[tuple[str, os.DirEntry[str], Diagnostic | None]]:
    """Python files below the folders of integrations, each with what makes it unusable, if anything.

    A link to a folder is followed, but never in a circle. With `everything`, also folders no tool can be in.
    """
    waiting = [("", str(root), frozenset({os.path.realpath(root)}))]
    seen = 0
    while waiting:
        prefix, place, above = waiting.pop()
        try:
            with os.scandir(place) as entries:
                inside = sorted(entries, key=lambda each: each.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            problems.append(_unreadable(place, error))
            continue
        seen += len(inside)
        if seen > _MOST_ENTRIES:
            raise TooManyFiles(
                f"{root} holds more than {_MOST_ENTRIES} files",
                hint=f"the walk stopped in {place}; a tool folder or a link in it leads too far",
            )
        for entry in inside:
            if entry.name.startswith(".") or entry.name == "__pycache__" or (not prefix and entry.name[0] == "_"):
                continue
            name = f"{prefix}{entry.name}"
            try:
                is_folder = entry.is_dir()
            except OSError as error:
                problems.append(_unreadable(entry.path, error))
                continue
            if entry.name.endswith(".py") and not is_folder:
                yield name, entry, _unusable(prefix, entry, root)
            elif is_folder:
                real = os.path.realpath(entry.path)
                if not entry.name.isidentifier() and not prefix:
                    problems.append(_unnameable(entry.path))
                if (everything or entry.name.isidentifier()) and real not in above and len(above) < _DEEPEST:
                    waiting.append((f"{name}/", entry.path, above | {real}))


def _unusable(prefix: str, entry: os.DirEntry[str], root: Path) -> Diagnostic | None:
    if not prefix:
        return _misplaced(entry.path, root)
    if not re.fullmatch(_FILE_NAME, entry.name):
        # A dot would make it a module of another folder, and the rest would have to be quoted wherever it is shown.
        return _unnameable(entry.path)
    return None


def _read(name: str, path: str, problems: list[Diagnostic]) -> tuple[_Signature, Source] | None:
    read = _contents(path, signed=True)
    if isinstance(read, str):
        problems.append(Diagnostic(file=path, line=None, message=f"{read} and was not loaded"))
        return None
    signature, data = read
    digest = hashlib.sha256(data).hexdigest()
    return signature, Source(name=name, path=path, data=data, digest=digest)


@overload
def _contents(path: str) -> bytes | str: ...
@overload
def _contents(path: str, *, signed: Literal[True]) -> tuple[_Signature, bytes] | str: ...
def _contents(path: str, *, signed: bool = False) -> tuple[_Signature, bytes] | bytes | str:
    """What a file holds, or in words why it does not count; with `signed`, also which file it was and when it changed.

    If it is written meanwhile, the signature from before the reading makes the next look read it again.
    """
    # Opened without waiting: a pipe named x.py must not hold up everything else.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            return "is not an ordinary file"
        if facts.st_size > _LARGEST_BYTES:
            return "is too large"
        data = os.read(descriptor, facts.st_size + 1)
        while len(data) <= _LARGEST_BYTES and (more := os.read(descriptor, _LARGEST_BYTES)):
            data += more
    finally:
        os.close(descriptor)
    if len(data) > _LARGEST_BYTES:
        return "is too large"
    return (_signature(facts), data) if signed else data


def _signature(facts: os.stat_result) -> _Signature:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


class Imports(NamedTuple):
    """The files of a workspace that one of them imports."""

    named: frozenset[str] = frozenset()
    """Files named by import statements, wherever they stand; also files that are not there (yet)."""
    others: bool = False
    """Whether the file can load more than its import statements say, so that it may be made of any other file."""


NO_IMPORTS: Final = Imports()


def imports_of(source: Source) -> Imports:
    """Read from its text which other files a file is made of."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # They are shown when the file is loaded.
            tree = ast.parse(source.data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Imports()
    folder = source.name.split("/")[:-1]
    found = {"/".join([*folder[:depth], "__init__.py"]) for depth in range(1, len(folder) + 1)}
    # Most files mention nothing of the kind, and looking at each node takes its time.
    suspect = not source.data.isascii() or re.search(_LOADING_WORDS, source.data) is not None
    others = False
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and 0 < node.level <= len(folder) + 1:
            base = folder[: len(folder) - node.level + 1] + (node.module.split(".") if node.module else [])
            found |= _files(base)
            for alias in node.names:
                found |= _files([*base, alias.name])
        elif suspect and not others:
            others = _loads_by_itself(node)
    return Imports(frozenset(found - {source.name}), others)


def _loads_by_itself(node: ast.AST) -> bool:
    """Whether this mentions something by which code finds or runs other files without an import statement."""
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] in _LOADING_MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        named = {alias.name for alias in node.names}
        return (node.module or "").split(".")[0] in _LOADING_MODULES or (
            node.module == "sys" and not named.isdisjoint({*_LOADING_PARTS_OF_SYS, "*"})
        )
    if isinstance(node, ast.Name):
        return node.id in _LOADING_NAMES
    if isinstance(node, ast.Attribute):
        of_sys = isinstance(node.value, ast.Name) and node.value.id == "sys"
        return node.attr in _LOADING_ATTRIBUTES or (of_sys and node.attr in _LOADING_PARTS_OF_SYS)
    return False


def _files(parts: list[str]) -> set[str]:
    return {"/".join(parts) + ".py", "/".join([*parts, "__init__.py"])} if parts else set()


def _unreadable(path: str, error: OSError) -> Diagnostic:
    return Diagnostic(file=path, line=None, message=f"cannot be read: {error.strerror}")


def _misplaced(path: str, root: Path) -> Diagnostic:
    return Diagnostic(
        file=path,
        line=None,
        message="a tool file stands in a folder named after its integration",
        hint=f"move it to {root / Path(path).stem / 'tools.py'}",
    )


def _unnameable(path: str) -> Diagnostic:
    return Diagnostic(
        file=path,
        line=None,
        message=f"{Path(path).name!r} cannot be part of a tool's id",
        hint="use letters, digits and underscores",
    )


def _shadowed(path: str, other: str) -> Diagnostic:
    return Diagnostic(
        file=path,
        line=None,
        message=f"was not loaded, because tools/{other} is imported by the same name",
        hint="rename or remove one of them",
    )
