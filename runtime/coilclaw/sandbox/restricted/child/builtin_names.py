"""The names a snippet finds without importing anything, and the guards it calls without knowing."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from coilclaw.sandbox.restricted.child.attributes import Attributes
from coilclaw.sandbox.restricted.child.classes import Classes
from coilclaw.sandbox.restricted.child.facades.facade import Facade
from coilclaw.sandbox.restricted.child.policy import GET, KIND, PRIVATE, TITLED, WRITABLE

__all__ = ["builtin_names"]

_AS_THEY_ARE: Final = (
    "abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod complex dict dir divmod "
    "enumerate filter float format frozenset hash hex id int isinstance issubclass iter len list map max "
    "memoryview min next object oct ord pow print property range repr reversed round set slice sorted "
    "staticmethod str sum super tuple zip None True False Ellipsis NotImplemented __debug__"
)
_OF_THE_INTERPRETER: Final = frozenset({"_strptime", "_pylong", "copyreg", "_pydecimal", "_pydatetime"})
"""C code imports these by the importer of whoever called it, and then takes them from where they really are."""


def builtin_names(
    attributes: Attributes, classes: Classes, facades: Mapping[str, Facade], variables: dict[str, Any]
) -> dict[str, Any]:
    """The builtins of a snippet. C functions that take an attribute's name are replaced by guarded ones."""

    nothing = Facade("nothing", {})

    def import_module(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Facade:
        if level:
            raise ImportError("a snippet is not part of a package")
        if name in _OF_THE_INTERPRETER:
            return nothing
        if name not in facades:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if not fromlist:
            return facades[name.partition(".")[0]]
        for wanted in fromlist:
            if (
                not wanted.startswith("_")
                and wanted not in facades[name].__dict__
                and wanted not in ("stdout", "stderr")
            ):
                raise ImportError(f"cannot import name {wanted!r} from {name!r} in this sandbox", name=name)
        return facades[name]

    def globals_copy() -> dict[str, Any]:
        return {name: value for name, value in variables.items() if not name.startswith("__")}

    return {
        **{name: getattr(builtins, name) for name in _AS_THEY_ARE.split()},
        **_exceptions(),
        "getattr": attributes.getattr,
        "hasattr": attributes.hasattr,
        "setattr": attributes.setattr,
        "delattr": attributes.delattr,
        "vars": attributes.variables,
        "type": classes.type,
        "globals": globals_copy,
        "open": _open,
        "input": _input,
        "exit": _exit,
        "quit": _exit,
        "__build_class__": classes.build,
        "__import__": import_module,
        GET: attributes.get,
        KIND: attributes.kind,
        PRIVATE: attributes.private,
        TITLED: attributes.titled,
        WRITABLE: attributes.writable,
    }


def _exceptions() -> dict[str, type]:
    found = vars(builtins).items()
    return {name: kind for name, kind in found if isinstance(kind, type) and issubclass(kind, BaseException)}


def _open(*args: Any, **kwargs: Any) -> NoReturn:
    raise PermissionError("the sandbox has no files of its own; use `tools`, e.g. tools.files.read")


def _input(prompt: object = "", /) -> NoReturn:
    print(prompt, end="")
    raise EOFError("EOF when reading a line")


def _exit(code: object = None, /) -> NoReturn:
    raise SystemExit(code)
