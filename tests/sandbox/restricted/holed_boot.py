"""A warm parent whose guards were taken away, one by one or all: run as a file, in the place of the real boot.

The suite must notice each hole; and with no guard left at all, the confinement alone must hold.
"""

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any


def child_module(name: str) -> Any:
    """A module of the child, to be changed; only there once the real boot has prepared the imports."""
    return importlib.import_module(f"coilclaw.sandbox.restricted.child.{name}")


def _real_boot() -> Any:
    """The real boot file, whose place the settings name."""
    import json

    folder = json.loads(sys.argv[1])["packages"]["coilclaw.sandbox.restricted"][0]
    spec = importlib.util.spec_from_file_location("real_boot", Path(folder) / "child" / "boot.py")
    assert spec is not None
    assert spec.loader is not None
    boot = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(boot)
    return boot


def a_real_module_in_a_facade() -> None:
    import codecs

    world = child_module("world")
    build = world.build_facades

    def build_with_hole(services: Any) -> Any:
        facades = build(services)
        facades["json"].__dict__["codecs"] = codecs
        return facades

    world.build_facades = build_with_hole


def special_attributes_admitted() -> None:
    child_module("special_names").is_special = lambda name: False


def private_attributes_admitted() -> None:
    child_module("attributes").Attributes.private = lambda self, value, name: value


def formatting_unguarded() -> None:
    child_module("attributes").Attributes._formatting = lambda self, name, found: found


def no_guards_at_all() -> None:
    import builtins

    world = child_module("world")
    world.check_program = lambda tree: []
    world.builtin_names = lambda *args: dict(vars(builtins))


if __name__ == "__main__":
    boot = _real_boot()
    settings = boot.prepare()
    globals()[Path(__file__).stem]()  # A test copies this file under the name of the hole it wants.
    child_module("nursery").serve(settings["channel"], frozenset(settings["off"]))
