"""The first lines of the warm parent: a Python that knows nothing but its own import path.

Run as a file by the host, isolated and without `site`. The packages around the child's modules are
entered here as bare names, because their real `__init__` files belong to the host and import far more.
"""

import json
import sys
import types
from typing import Any


def _bare_package(name: str, path: list[str]) -> None:
    package = types.ModuleType(name)
    package.__path__ = path
    sys.modules[name] = package
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, package)


def prepare() -> dict[str, Any]:
    """Make the child's modules importable; the settings the host gave."""
    settings: dict[str, Any] = json.loads(sys.argv[1])
    sys.path[:] = [*settings["path"], *sys.path]
    for name, path in settings["packages"].items():
        _bare_package(name, path)
    return settings


def main() -> None:
    """Serve until the host is gone."""
    settings = prepare()
    from coilclaw.sandbox.restricted.child.nursery import serve

    serve(settings["channel"], frozenset(settings["off"]))


if __name__ == "__main__":
    main()
