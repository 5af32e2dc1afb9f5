"""Tools a person keeps in a workspace: `<workspace>/tools/<integration>/*.py`."""

from __future__ import annotations

import hashlib
import importlib
import itertools
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from coilclaw.sdk import Diagnostic
from coilclaw.workspace_tools.collection import Loaded, loading

__all__ = ["load_workspace"]

_loads = itertools.count(1)


def load_workspace(workspace: Path) -> Loaded:
    """Load every tool file of a workspace. A file that cannot be loaded is reported; the others still count."""
    loaded = Loaded()
    root = workspace / "tools"
    if not root.is_dir():
        return loaded
    finder = _Finder(f"coilclaw_workspace_{next(_loads)}", root)
    sys.meta_path.insert(0, finder)
    for folder, file in _tool_files(root, loaded):
        name = f"{finder.prefix}.{folder.name}" + ("" if file.stem == "__init__" else f".{file.stem}")
        with loading(str(file), loaded, lambda each: each.startswith(str(root))):
            module = importlib.import_module(name)
            loaded.add(module, finder.digests.get(name, ""))
    return loaded


def _tool_files(root: Path, loaded: Loaded) -> Iterator[tuple[Path, Path]]:
    for entry in sorted(root.iterdir()):
        if entry.name.startswith((".", "_")):
            continue
        if entry.is_file() and entry.suffix == ".py":
            loaded.diagnostics.append(
                Diagnostic(
                    file=str(entry),
                    line=None,
                    message="a tool file stands in a folder named after its integration",
                    hint=f"move it to {root / entry.stem / 'tools.py'}",
                )
            )
        elif entry.is_dir() and not entry.name.isidentifier():
            loaded.diagnostics.append(
                Diagnostic(
                    file=str(entry),
                    line=None,
                    message=f"{entry.name!r} cannot be part of a tool's id",
                    hint="use letters, digits and underscores",
                )
            )
        elif entry.is_dir():
            for file in sorted(entry.glob("*.py")):
                if file.stem == "__init__" or not file.name.startswith((".", "_", "test_", "conftest.")):
                    yield entry, file


class _Finder(MetaPathFinder):
    """Imports for one load of one workspace, under a name no other load uses."""

    def __init__(self, prefix: str, root: Path) -> None:
        self.prefix = prefix
        self._root = root
        self.digests: dict[str, str] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.prefix and not fullname.startswith(self.prefix + "."):
            return None
        place = self._root.joinpath(*fullname.split(".")[1:])
        if place.is_dir():
            init = place / "__init__.py"
            if init.is_file():
                return self._spec(fullname, init, [str(place)])
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [str(place)]
            return spec
        file = place.with_suffix(".py")
        return self._spec(fullname, file, None) if file.is_file() else None

    def _spec(self, fullname: str, file: Path, locations: list[str] | None) -> ModuleSpec | None:
        loader = _Loader(fullname, str(file), self.digests)
        return spec_from_file_location(fullname, file, loader=loader, submodule_search_locations=locations)


class _Loader(SourceFileLoader):
    """Compiles the source as it is now. Bytecode caches go by time stamp and would miss a quick edit."""

    def __init__(self, fullname: str, path: str, digests: dict[str, str]) -> None:
        super().__init__(fullname, path)
        self._digests = digests

    def get_code(self, fullname: str) -> CodeType | None:
        source = self.get_data(self.path)
        self._digests[fullname] = hashlib.sha256(source).hexdigest()
        code: CodeType = self.source_to_code(source, self.path)
        return code
