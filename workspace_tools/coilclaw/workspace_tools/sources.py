"""The Python files under a workspace's `tools/`, as they are on disk right now."""

from __future__ import annotations

import ast
import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from coilclaw.sdk import Diagnostic

__all__ = ["Source", "Sources", "relative_imports"]

_DEEPEST: Final = 8
_LARGEST_BYTES: Final = 4 * 1024 * 1024
_SETTLED_NANOSECONDS: Final = 50_000_000
_NOT_TOOLS: Final = (".", "_", "test_", "conftest.")

_Signature: TypeAlias = tuple[int, int, int, int, int]
"""Device, inode, size, and two times. The change time cannot be set back by whoever wrote the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
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


class Sources:
    """Reads a file again only when the file system says it changed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known: dict[str, tuple[_Signature, Source]] = {}
        self.diagnostics: tuple[Diagnostic, ...] = ()

    def read(self) -> Mapping[str, Source]:
        """Every source by its name, sorted. What cannot be used is told in `diagnostics`."""
        found: dict[str, tuple[_Signature, Source]] = {}
        problems: list[Diagnostic] = []
        for name, entry in _walk(self.root, problems):
            try:
                known = self._known.get(name)
                signature = _signature(entry.stat())
                if known is None or known[0] != signature:
                    known = _read(name, entry.path, signature, problems)
                if known is not None:
                    found[name] = known
            except OSError as error:
                if entry.is_symlink() or not isinstance(error, FileNotFoundError):
                    problems.append(_unreadable(entry.path, error))
        # Times have a granularity of milliseconds: a file this young may change again and look the same.
        moment = time.time_ns()
        self._known = {
            name: known for name, known in found.items() if moment - max(known[0][3:]) > _SETTLED_NANOSECONDS
        }
        self.diagnostics = tuple(problems)
        return {name: source for name, (_, source) in sorted(found.items())}

    def digests(self) -> dict[str, str]:
        """The names of all files and the hashes of their contents."""
        return {name: source.digest for name, source in self.read().items()}


def _walk(root: Path, problems: list[Diagnostic]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Python files below the folders of integrations. A link to a folder is followed, but never in a circle."""
    waiting = [("", str(root), frozenset({os.path.realpath(root)}))]
    while waiting:
        prefix, place, above = waiting.pop()
        try:
            with os.scandir(place) as entries:
                inside = sorted(entries, key=lambda each: each.name)
        except FileNotFoundError:
            continue
        except OSError as error:
            problems.append(_unreadable(place, error))
            continue
        for entry in inside:
            if entry.name.startswith(".") or entry.name == "__pycache__" or (not prefix and entry.name[0] == "_"):
                continue
            name = f"{prefix}{entry.name}"
            if entry.name.endswith(".py") and not entry.is_dir():
                if prefix:
                    yield name, entry
                else:
                    problems.append(_misplaced(entry.path, root))
            elif entry.is_dir():
                real = os.path.realpath(entry.path)
                if not entry.name.isidentifier():
                    if not prefix:
                        problems.append(_unnameable(entry.path))
                elif real not in above and len(above) < _DEEPEST:
                    waiting.append((f"{name}/", entry.path, above | {real}))


def _read(name: str, path: str, signature: _Signature, problems: list[Diagnostic]) -> tuple[_Signature, Source] | None:
    # Opened without waiting: a pipe named x.py must not hold up everything else.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _LARGEST_BYTES:
            what = "is too large" if stat.S_ISREG(facts.st_mode) else "is not an ordinary file"
            problems.append(Diagnostic(file=path, line=None, message=f"{what} and was not loaded"))
            return None
        data = file.read(_LARGEST_BYTES)
        # If it was written meanwhile, the signature from before makes the next look read it again.
    digest = hashlib.sha256(data).hexdigest()
    return signature, Source(name=name, path=path, data=data, digest=digest)


def _signature(facts: os.stat_result) -> _Signature:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def relative_imports(source: Source) -> frozenset[str]:
    """The files a file imports from its own workspace, wherever in it the import stands.

    Also names of files that are not there (yet): making one of them concerns this file too.
    """
    try:
        tree = ast.parse(source.data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    folder = source.name.split("/")[:-1]
    found = {"/".join([*folder[:depth], "__init__.py"]) for depth in range(1, len(folder) + 1)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and 0 < node.level <= len(folder) + 1:
            base = folder[: len(folder) - node.level + 1] + (node.module.split(".") if node.module else [])
            found |= _files(base)
            for alias in node.names:
                found |= _files([*base, alias.name])
    return frozenset(found - {source.name})


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
