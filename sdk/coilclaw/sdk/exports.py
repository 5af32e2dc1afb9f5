"""Public names of a package, each imported from its module when somebody first asks for it.

Whoever imports a package then pays only for the names that are used: a command that lists receipts loads neither
the contracts of tools nor pydantic.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy_exports"]


def lazy_exports(package: str, table: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    The table says which module has which names, separated by blanks. A module of another package is named in full.
    """
    homes = {name: module for module, names in table.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        home = homes[name]
        value = getattr(import_module(home if home.startswith("coilclaw.") else f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
