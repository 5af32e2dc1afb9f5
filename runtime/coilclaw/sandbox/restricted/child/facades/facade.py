"""What `import` gives to a snippet."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, NoReturn

__all__ = ["Facade", "SysFacade", "take"]


class Facade:
    """A module's chosen names.

    It has no `__name__`: `from x import y` looks for the real module `x.y` by that name when `y` is
    missing, and would find it among the interpreter's own.
    """

    def __init__(self, title: str, members: Mapping[str, Any]) -> None:
        self.__dict__.update(members)
        # Under a key that is no identifier, so that it is not one of the members.
        self.__dict__["facade title"] = title

    def __setattr__(self, name: str, value: Any) -> None:
        raise TypeError("modules cannot be changed in this sandbox")

    def __delattr__(self, name: str) -> NoReturn:
        raise TypeError("modules cannot be changed in this sandbox")

    def __getattr__(self, name: str) -> NoReturn:
        title = self.__dict__["facade title"]
        raise AttributeError(f"module '{title}' has no attribute '{name}' in this sandbox")

    def __dir__(self) -> list[str]:
        return sorted(name for name in self.__dict__ if name.isidentifier())

    def __repr__(self) -> str:
        return f"<module '{self.__dict__['facade title']}'>"


class SysFacade(Facade):
    """`sys`, whose two output streams can be replaced, as the real ones can."""

    @property
    def stdout(self) -> Any:
        return sys.stdout

    @property
    def stderr(self) -> Any:
        return sys.stderr

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in ("stdout", "stderr"):
            raise TypeError(f"sys.{name} cannot be changed in this sandbox")
        setattr(sys, name, value)


def take(module: Any, names: str) -> dict[str, Any]:
    """These names of a real module, as far as this version of Python has them."""
    return {name: getattr(module, name) for name in names.split() if hasattr(module, name)}
