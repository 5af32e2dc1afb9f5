"""The modules of one generation of a workspace.

Each generation imports under a prefix of its own, so a run that still uses an older one never meets
code that was loaded later, not even through an import inside a function. Modules that did not
change are the same objects in the next generation. Nothing is kept for a generation that no tool
refers to any more.
"""

from __future__ import annotations

import importlib
import sys
import weakref
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from itertools import count
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from coilclaw.workspace_tools.sources import Source

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # The class adds nothing that is needed here, and its module takes longer to load than this one.

__all__ = ["Namespace", "NotLoaded"]

_PREFIX: Final = "coilclaw_workspace_"
_numbers = count(1)


class NotLoaded(ImportError):
    """A file of the same workspace that could not be used; its own diagnostic says why."""


class Namespace:
    """One generation: the sources it is made of and the modules loaded from them.

    Only what was admitted can ever run in it, however and whenever it is imported.
    """

    def __init__(self, sources: Mapping[str, Source], admitted: Mapping[str, Source], owner: object) -> None:
        self.prefix = f"{_PREFIX}{next(_numbers)}"
        self._sources = {source.module: source for source in admitted.values()}
        self._defining = frozenset(source.path for source in sources.values() if source.may_define_tools)
        places = [source.name.split("/")[:-1] for source in sources.values()]
        self._folders = {".".join(parts[:depth]) for parts in places for depth in range(len(parts) + 1)}
        # Weak: a module kept for the next generation must not keep the rest of this one.
        self.modules: weakref.WeakValueDictionary[str, ModuleType] = weakref.WeakValueDictionary()
        self.refused: dict[str, str] = {}
        self._owner = weakref.ref(owner)
        self._left = False
        _finder.namespaces[self.prefix] = self

    def keep(self, name: str, module: ModuleType) -> None:
        """Use a module of an earlier generation as it is."""
        self.modules[name] = module
        sys.modules[f"{self.prefix}.{name}"] = module

    def refuse(self, name: str, reason: str) -> None:
        """Whoever imports this module is told that it could not be used, unless an earlier one is kept."""
        self.refused[name] = reason

    def load(self, name: str) -> ModuleType:
        """Import a module of this generation."""
        module = importlib.import_module(f"{self.prefix}.{name}")
        if not issubclass(type(module), ModuleType):
            raise ImportError("the file puts something else in the place of its module in sys.modules")
        return module

    def defines(self, path: str) -> bool:
        """Whether tools may be defined in this file, so that they count as its own wherever they are imported."""
        return path in self._defining

    def hold(self, name: str, imported: Iterable[str]) -> None:
        """Keep what a module imports for as long as the module's own functions are kept."""
        module = self.modules[name]
        loader = module.__spec__.loader if module.__spec__ else None
        if isinstance(loader, _Loader):
            loader.held = [self.modules[each] for each in imported if each in self.modules]

    def leave(self, following: Namespace) -> None:
        """Take the modules out of the interpreter's table; what still uses them keeps them.

        What the next generation has kept stays there by its own name, by which annotations are resolved.
        """
        self._left = True
        kept = {id(module) for module in following.modules.values()}
        for name in [each for each in sys.modules if each.startswith(_PREFIX)]:
            # Also what functions of earlier generations imported since.
            namespace = _finder.namespaces.get(name.partition(".")[0])
            module = sys.modules.get(name)
            at_home = id(module) in kept and getattr(module, "__name__", None) == name
            if (namespace is None or not namespace.is_current) and not at_home:
                sys.modules.pop(name, None)

    @property
    def is_current(self) -> bool:
        return not self._left and self._owner() is not None

    def find(self, fullname: str) -> ModuleSpec | None:
        name = fullname[len(self.prefix) + 1 :]
        kept = self.modules.get(name)
        if kept is not None and kept.__spec__ is not None:
            package = kept.__spec__.submodule_search_locations is not None
            return ModuleSpec(fullname, _Keeper(kept), origin=kept.__spec__.origin, is_package=package)
        if name in self.refused:
            raise NotLoaded(self.refused[name])
        source = self._sources.get(name)
        if source is None:
            is_folder = not name or name in self._folders
            return ModuleSpec(fullname, _Loader(self, name, None), is_package=True) if is_folder else None
        package = source.name.endswith("__init__.py") or name in self._folders
        spec = ModuleSpec(fullname, _Loader(self, name, source), origin=source.path, is_package=package)
        spec.has_location = True
        return spec


class _Loader(Loader):
    """Runs the source as it was read. Bytecode caches go by time stamp and would miss a quick edit."""

    def __init__(self, namespace: Namespace, name: str, source: Source | None) -> None:
        self._namespace = namespace  # Alive as long as a function of its modules is.
        self._name = name
        self._source = source
        self.held: list[ModuleType] = []

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        if self._name in self._namespace.modules or self._source is None:
            return  # Also for `importlib.reload`: a module changes with its generation only.
        code: Any = compile(self._source.data, self._source.path, "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102
        self._namespace.modules[self._name] = module

    def get_source(self, fullname: str) -> str | None:
        """For tracebacks, which show the source that runs, not the one that replaced it."""
        return None if self._source is None else self._source.data.decode(errors="replace")


class _Keeper(Loader):
    """Hands out a module that is loaded already, and leaves it as it is."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has just put its own there; the module's relative imports go by the first one.
        module.__spec__ = self._spec


class _Finder:
    """Finds the modules of every namespace that is still in use."""

    def __init__(self) -> None:
        self.namespaces: weakref.WeakValueDictionary[str, Namespace] = weakref.WeakValueDictionary()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        namespace = self.namespaces.get(fullname.partition(".")[0])
        return None if namespace is None else namespace.find(fullname)


_finder: Final = _Finder()
sys.meta_path.insert(0, _finder)
