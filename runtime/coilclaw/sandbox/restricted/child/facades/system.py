"""`sys`, `os`, `logging` and the like: the few parts that mean something without an operating system."""

from __future__ import annotations

import io
import logging
import os
import pathlib
import sys
import traceback
import warnings
from typing import Any, Final, NoReturn

from coilclaw.sandbox.guest.run_warnings import warn_of_files
from coilclaw.sandbox.guest.tools import snippet_line
from coilclaw.sandbox.restricted.child.facades.facade import Facade, SysFacade, take
from coilclaw.sandbox.restricted.child.facades.language import SimpleNamespace
from coilclaw.sandbox.restricted.child.facades.logs import logging_members
from coilclaw.sandbox.restricted.child.facades.tracebacks import lines_of
from coilclaw.sandbox.restricted.child.ownership import is_type
from coilclaw.sandbox.restricted.child.services import Services

__all__ = ["system_facades"]

_DEEPEST_RECURSION: Final = 20_000
_NO_FILES: Final = "the sandbox has no files of its own; use `tools`, e.g. tools.files.read"


def system_facades(services: Services, path: Facade) -> dict[str, Facade]:
    """The modules. `path` is `os.path`."""
    members: dict[str, dict[str, Any]] = {
        "sys": _sys(services),
        "os": {
            "path": Facade(
                "os.path", {**vars_of(path), **dict.fromkeys(("exists", "isfile", "isdir", "islink"), _never)}
            ),
            "environ": {},
            "getenv": lambda key, default=None: default,
            "getcwd": lambda: "/",
            "urandom": services.entropy,
            **take(os, "sep linesep pathsep curdir pardir extsep altsep name fspath"),
            **dict.fromkeys(("listdir", "scandir", "mkdir", "makedirs", "remove", "rename", "walk", "stat"), _no_files),
        },
        "glob": {"glob": _nothing, "iglob": lambda pattern, **options: iter(_nothing(pattern))},
        "pathlib": {**take(pathlib, "PurePath PurePosixPath PureWindowsPath"), "Path": SnippetPath},
        "traceback": _traceback(),
        "warnings": _Warnings().members(),
        "logging": logging_members(),
    }
    facades = {name: Facade(name, found) for name, found in members.items()}
    facades["sys"] = SysFacade("sys", members["sys"])
    facades["os.path"] = members["os"]["path"]
    return facades


def vars_of(facade: Facade) -> dict[str, Any]:
    return {name: facade.__dict__[name] for name in dir(facade)}


def _never(path: Any) -> bool:
    warn_of_files(snippet_line(sys._getframe(1)))
    return False


def _nothing(pattern: Any, **options: Any) -> list[str]:
    warn_of_files(snippet_line(sys._getframe(1)))
    return []


def _no_files(*args: Any, **kwargs: Any) -> NoReturn:
    raise PermissionError(_NO_FILES)


class SnippetPath(pathlib.PurePosixPath):
    """A path that can be reasoned about. What would touch a file is refused."""

    def exists(self) -> bool:
        return _never(self)

    is_file = is_dir = exists

    def touch(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise PermissionError(_NO_FILES)

    open = read_text = write_text = read_bytes = write_bytes = mkdir = unlink = iterdir = glob = rglob = stat = touch
    rename = replace = rmdir = resolve = touch


SnippetPath.__name__ = SnippetPath.__qualname__ = "Path"


def _sys(services: Services) -> dict[str, Any]:
    def exit(code: object = None, /) -> NoReturn:
        raise SystemExit(code)

    def set_recursion_limit(limit: int, /) -> None:
        """A program that asks for more than the stack can hold gets what it can hold."""
        sys.setrecursionlimit(min(limit, _DEEPEST_RECURSION))

    def exception_info() -> tuple[Any, Any, Any]:
        kind, error, _ = sys.exc_info()
        return kind, error, None if error is None else services.attributes.get(error, "__traceback__")

    return {
        **take(sys, "maxsize maxunicode version version_info platform byteorder float_info int_info hexversion"),
        **take(sys, "getrecursionlimit getsizeof intern float_repr_style get_int_max_str_digits copyright exception"),
        "argv": sys.argv,
        "stdin": io.StringIO(""),
        "exit": exit,
        "setrecursionlimit": set_recursion_limit,
        "set_int_max_str_digits": lambda maxdigits: sys.set_int_max_str_digits(maxdigits),
        "exc_info": exception_info,
    }


def _traceback() -> dict[str, Any]:
    def format_exc(limit: Any = None, chain: bool = True) -> str:
        return "".join(lines_of(sys.exc_info()[1]))

    def print_exc(limit: Any = None, file: Any = None, chain: bool = True) -> None:
        print(format_exc(), end="", file=sys.stderr if file is None else file)

    def format_exception(error: Any, value: Any = None, tb: Any = None, **options: Any) -> list[str]:
        return lines_of(error if issubclass(type(error), BaseException) else value)

    def format_exception_only(error: Any, value: Any = None, **options: Any) -> list[str]:
        found = error if issubclass(type(error), BaseException) else value
        return traceback.format_exception_only(found) if issubclass(type(found), BaseException) else lines_of(None)

    return {
        "format_exc": format_exc,
        "print_exc": print_exc,
        "format_exception": format_exception,
        "format_exception_only": format_exception_only,
        "print_exception": lambda *args, file=None, **options: print(
            "".join(format_exception(*args)), end="", file=sys.stderr if file is None else file
        ),
    }


class _Warnings:
    """`warnings`: a line on stderr, or in the list that `catch_warnings(record=True)` gave."""

    def __init__(self) -> None:
        self._records: list[list[Any]] = []
        self._action = "default"

    def members(self) -> dict[str, Any]:
        return {
            "warn": self._warn,
            "catch_warnings": self._catch,
            "simplefilter": self._filter,
            "filterwarnings": self._filter,
            "resetwarnings": lambda: self._filter("default"),
        }

    def _filter(self, action: str, *args: Any, **options: Any) -> None:
        """One filter for everything; those that tell warnings apart are not there."""
        self._action = action

    def _warn(self, message: Any, category: Any = None, stacklevel: int = 1, source: Any = None) -> None:
        category = UserWarning if category is None else category
        if not (is_type(category) and issubclass(category, Warning)):
            raise TypeError("category must be a Warning subclass")
        warning = message if isinstance(message, Warning) else category(message)
        if not issubclass(type(warning), Warning):
            raise TypeError("a warning must be a Warning")
        if self._action == "error":
            raise warning
        if self._action == "ignore":
            return
        if self._records:
            self._records[-1].append(SimpleNamespace(message=warning, category=type(warning)))
        else:
            print(f"{type(warning).__name__}: {warning}", file=sys.stderr)

    def _catch(self, *, record: bool = False, **options: Any) -> _CaughtWarnings:
        return _CaughtWarnings(self._records, record)


class _CaughtWarnings:
    """`warnings.catch_warnings`. Not made from a generator, which would show whose it is."""

    def __init__(self, records: list[list[Any]], record: bool) -> None:
        self._records = records
        self._record = record

    def __enter__(self) -> list[Any] | None:
        if not self._record:
            return None
        self._records.append([])
        return self._records[-1]

    def __exit__(self, *error: object) -> None:
        if self._record:
            self._records.pop()


logging.disable()  # `asyncio` and `concurrent.futures` would write of the library's own files.
warnings.simplefilter("ignore")  # The library's own would go to the snippet's stderr with lines of our files.
