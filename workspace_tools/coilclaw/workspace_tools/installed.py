"""Integrations that are installed: every package `coilclaw.integrations.<name>`.

`coilclaw.integrations` is a namespace package. The built-in ones live in it, and so does any
integration that another distribution puts there; they are found and loaded in the same way.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from contextlib import redirect_stdout
from functools import partial

from coilclaw.sdk import Diagnostic
from coilclaw.workspace_tools.collection import Loaded, attempted

__all__ = ["load_installed"]

_NAMESPACE = "coilclaw.integrations"


def load_installed() -> Loaded:
    """The tools of all installed integrations."""
    loaded = Loaded()
    namespace = importlib.import_module(_NAMESPACE)
    for found in sorted(pkgutil.iter_modules(namespace.__path__), key=lambda each: each.name):
        name = f"{_NAMESPACE}.{found.name}"
        # What a module prints while it loads must not end up in the output of a command.
        with redirect_stdout(sys.stderr):
            module = attempted(partial(importlib.import_module, name), name, lambda file: "integrations" in file)
        if isinstance(module, Diagnostic):
            loaded.diagnostics.append(module)
        else:
            loaded.add(module)
    return loaded
