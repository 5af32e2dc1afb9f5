"""The contracts of installed integrations, kept between processes.

Importing every integration takes longer than most commands run, and listing tools, preflight, policy and stubs need
their contracts alone. The index holds for exactly the files it was made from, and it is never believed over them: a
tool is imported before its first call, and one whose contract is no longer the one in the index is not called.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Final

from coilclaw.sdk import Decision, OperatorError, Risk, Tool
from coilclaw.sdk.contract import Interface, deferred_tool
from coilclaw.sdk.version import VERSION

__all__ = ["START_ANEW", "ContractIndex"]

START_ANEW: Final = "run the command again, or restart the program: it will read the contracts from their source"
_PLAIN: Final = (
    "id", "description", "takes_model", "is_async", "timeout_seconds", "idempotent", "summary", "file", "line",
    "source_digest",
)  # fmt: skip
_LISTS: Final = ("hosts", "secrets", "optional_secrets", "examples", "aliases")


class ContractIndex:
    """One file for each installation in the user's cache, which no tool may touch and nobody else may write."""

    def __init__(self, folder: Path, sources: Iterable[str]) -> None:
        """`sources` are the folders whose code the contracts come from."""
        self._sources = tuple(sources)
        self._file = folder / f"contracts-{_digest(' '.join((sys.prefix, *self._sources)))[:16]}.json"
        self._key = _fingerprint(self._sources)

    def read(self, load: Callable[[str, str], Tool]) -> list[Tool] | None:
        """Return the tools, each with its contract alone; None if there is no index of the present files.

        `load` imports a package and returns its tool of an id.
        """
        try:
            key, contracts = json.loads(self._checked())
            if key != self._key:
                return None
            return [self._deferred(load, package, contract) for package, contract in contracts]
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def write(self, found: Iterable[tuple[str, Tool]]) -> None:
        """Keep the contracts of tools, each with the package that it is in. What cannot be kept is read again."""
        with suppress(OSError, TypeError, ValueError):
            body = json.dumps([self._key, [(package, _contract(tool)) for package, tool in found]])
            if _fingerprint(self._sources) != self._key:
                return  # A file was changed while it was imported.
            from coilclaw.sdk.private_file import replace_file

            replace_file(self._file, f"{_digest(body)}\n{body}".encode())

    def _checked(self) -> str:
        """The content, if it is as it was written and nobody else could have written it."""
        with os.fdopen(os.open(self._file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
                raise ValueError("not a file of this user alone")
            digest, _, body = file.read().partition("\n")
        if digest != _digest(body):
            raise ValueError("damaged")
        return body

    def _deferred(self, load: Callable[[str, str], Tool], package: str, contract: dict[str, Any]) -> Tool:
        @cache
        def loaded() -> Tool:
            try:
                tool = load(package, contract["id"])
                if json.loads(json.dumps(_contract(tool))) != contract:
                    raise OperatorError(f"the contract of {tool.id} is not the one that is known", hint=START_ANEW)
                return tool
            except OperatorError:
                with suppress(OSError):
                    self._file.unlink(missing_ok=True)  # The next process reads the contracts from the source.
                raise

        facts: dict[str, Any] = {name: contract[name] for name in _PLAIN}
        facts |= {name: tuple(contract[name]) for name in _LISTS}
        parameters, required, takes_more, input_schema, output_schema = contract["interface"]
        decision = contract["default_decision"]
        return deferred_tool(
            loaded,
            classified=contract["classified"],
            risk=Risk(contract["risk"]),
            default_decision=None if decision is None else Decision(decision),
            known=Interface(tuple(parameters), frozenset(required), takes_more, input_schema, output_schema),
            **facts,
        )


def _contract(tool: Tool) -> dict[str, Any]:
    """A tool without its code."""
    return {
        **{name: getattr(tool, name) for name in (*_PLAIN, *_LISTS)},
        "risk": tool.risk.value,
        "default_decision": tool.default_decision.value if tool.default_decision else None,
        "classified": tool.classify is not None,
        "interface": [
            tool.parameters,
            sorted(tool.required_parameters),
            tool.takes_more,
            tool.input_schema,
            tool.output_schema,
        ],
    }


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _fingerprint(sources: Iterable[str]) -> str:
    """What the contracts come from: the code of the tools, of the SDK and of pydantic, and the interpreter."""
    sdk = str(Path(sys.modules["coilclaw.sdk"].__file__ or "").parent)
    specs = map(PathFinder.find_spec, ("pydantic", "pydantic_core"))
    libraries = [spec.origin for spec in specs if spec is not None and spec.origin is not None]
    seen = sorted([*_files((*sources, sdk)), *map(_identity, libraries)])
    return _digest("\n".join([VERSION, sys.version, *seen]))


def _files(folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        for path, inner, names in os.walk(folder, followlinks=True):
            inner[:] = [name for name in inner if name != "__pycache__"]
            yield from (_identity(f"{path}/{name}") for name in names)


def _identity(path: str) -> str:
    """What the system says of a file, or why it does not: a link may lead nowhere, and another process remove it."""
    try:
        status = os.stat(path)  # noqa: PTH116 - A Path for each of so many files takes longer than the look.
    except OSError as error:
        return f"{path} {error.errno}"
    return f"{path} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
