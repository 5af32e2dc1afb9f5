"""Loads one module of the project with a mutation in it, in every Python process that is started with this folder on its path.

The mutation comes in the environment, so that programs which the tests start have it too. Nothing on disk is changed.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType

_MUTATION = json.loads(os.environ["TRIED_MUTATION"])
_MODULE: str = _MUTATION["where"].partition(":")[0]


class _Mutating(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        name = "coilclaw_tests_mutation"
        if name not in sys.modules:
            spec = importlib.util.spec_from_file_location(name, Path(__file__).parent.parent / "mutation.py")
            assert spec is not None
            assert spec.loader is not None
            sys.modules[name] = module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        source = Path(path).read_text()
        changed = sys.modules[name].mutated_source(source, _MUTATION["where"], _MUTATION["old"], _MUTATION["new"])
        Path(_MUTATION["mark"]).touch()  # The runner wants to know that the mutated module was in use.
        return compile(changed, path, "exec", dont_inherit=True)


class _Finder:
    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != _MODULE:
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path, target)
        if found is not None and found.origin is not None:
            found.loader = _Mutating(name, found.origin)
        return found


sys.meta_path.insert(0, _Finder)
