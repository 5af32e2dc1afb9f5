"""Paths of the configuration, which mean the same wherever a command is started.

A relative path in `config.toml` belongs to the folder of that file. One from the environment or the command line
belongs to the current folder, where the person who wrote it stands.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from coilclaw.config.model import Config

__all__ = ["STORE_SUFFIXES", "overlap", "own_paths", "place", "settle_paths", "user_cache"]

_PATHS: Final = (("workspace_dir",), ("receipts", "path"), ("receipts", "key_path"), ("memory", "path"))
_PATTERN: Final = re.compile(r"[*?\[\]]")
STORE_SUFFIXES: Final = ("", "-wal", "-shm", "-journal")
"""SQLite writes these beside a database, and they hold its contents."""


def settle_paths(tree: dict[str, Any], home: Path, sources: Mapping[str, str]) -> Iterator[str]:
    """Make every path in the tree absolute, defaults included, and yield what is wrong with them.

    What cannot be a path is taken out of the tree; values that are not text are left for validation to report.
    """
    defaults = Config()
    for keys in _PATHS:
        section: Any = tree
        default: Any = defaults
        for key in keys[:-1]:
            section, default = section.setdefault(key, {}), getattr(default, key)
        if not isinstance(section, dict):
            continue
        name = ".".join(keys)
        value = section.get(keys[-1], _default(getattr(default, keys[-1]), home))
        if isinstance(value, str):
            try:
                section[keys[-1]] = str(place(value, home if sources.get(name) == "config.toml" else None))
            except ValueError as error:
                section.pop(keys[-1], None)
                yield f"{name}: {error}"
    yield from _settle_forbidden(tree, defaults)
    yield from _settle_programs(tree, home)
    yield from _settle_fixtures(tree, home)


def _default(path: Path, home: Path) -> str:
    return str(path).replace("${COILCLAW_HOME}", str(home))


def _settle_forbidden(tree: dict[str, Any], defaults: Config) -> Iterator[str]:
    section = tree.setdefault("security", {})
    if not isinstance(section, dict):
        return
    given = section.get("forbidden_paths", [str(path) for path in defaults.security.forbidden_paths])
    if not isinstance(given, list):
        return
    settled: list[Any] = []
    for number, text in enumerate(given):
        if not isinstance(text, str):
            settled.append(text)
            continue
        key = f"security.forbidden_paths.{number}"
        try:
            path = place(text, None)
        except ValueError as error:
            yield f"{key}: {error}"
            continue
        if _PATTERN.search(text):
            yield f"{key}: patterns are not supported; name the file, or a folder to forbid everything in it"
        elif not (text.startswith("~") or Path(text).is_absolute()):
            workspace = tree.get("workspace_dir", "/path/to/workspace")
            yield (
                f"{key}: a relative path could mean several places; write it in full, "
                f'such as "{workspace}/{text}" for one in the workspace'
            )
        else:
            settled.append(str(path))
    section["forbidden_paths"] = settled


def _settle_programs(tree: dict[str, Any], home: Path) -> Iterator[str]:
    """The program of an MCP server is a path if there is a slash in it; otherwise it is looked for in PATH."""
    integrations = tree.get("integrations")
    servers = integrations.get("mcp") if isinstance(integrations, dict) else None
    for name, server in servers.items() if isinstance(servers, dict) else ():
        command = server.get("command") if isinstance(server, dict) else None
        if isinstance(command, list) and command and isinstance(command[0], str) and "/" in command[0]:
            try:
                command[0] = str(place(command[0], home))
            except ValueError as error:
                yield f"integrations.mcp.{name}.command.0: {error}"


def _settle_fixtures(tree: dict[str, Any], home: Path) -> Iterator[str]:
    """The answers of a mock model stand in a file, named from the folder of the configuration."""
    providers = tree.get("providers")
    models = providers.get("models") if isinstance(providers, dict) else None
    for name, model in models.items() if isinstance(models, dict) else ():
        if isinstance(model, dict) and isinstance(model.get("fixture"), str):
            try:
                model["fixture"] = str(place(model["fixture"], home))
            except ValueError as error:
                yield f"providers.models.{name}.fixture: {error}"


def place(text: str, anchor: Path | None) -> Path:
    """Return the absolute path that a text means, seen from the anchor or else from the current folder."""
    if not text:
        raise ValueError("must not be empty")
    if "\0" in text:
        raise ValueError("a path cannot contain a null character")
    try:
        path = Path(text).expanduser()
        path = anchor / path if anchor is not None else path.absolute()
        _check(path.resolve())
    except (RuntimeError, OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ValueError(f"cannot be used as a path: {reason}") from None
    return path


def _check(path: Path) -> None:
    """Raise OSError for a name that no file system can have, or for links that lead in a circle."""
    try:
        path.stat()
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            raise


def overlap(home: Path, workspace: Path) -> str | None:
    """Why this home and workspace cannot be used together, or None. Links are resolved first."""
    inner, outer = home.resolve(), workspace.resolve()
    if inner == outer:
        return f"{workspace} is CoilClaw's home folder itself, which tools may not touch; choose a folder outside it"
    if inner.is_relative_to(outer):
        return (
            f"{workspace} contains CoilClaw's home folder {home}, with the configuration, the keys and the receipts; "
            "choose another workspace, or move the home with COILCLAW_HOME"
        )
    if outer.is_relative_to(inner):
        return (
            f"{workspace} lies inside CoilClaw's home folder {home}, which tools may not touch; "
            "choose a folder outside it"
        )
    return None


def user_cache(environment: Mapping[str, str]) -> Path | None:
    """Return the folder for what can be made again at any time, such as the compiled sandbox.

    As the XDG base directory specification has it: a relative value counts as none.
    """
    given = environment.get("XDG_CACHE_HOME", "")
    try:
        return (Path(given) if Path(given).is_absolute() else Path("~/.cache").expanduser()) / "coilclaw"
    except RuntimeError:
        return None


def own_paths(home: Path, config: Config, cache: Path | None, data: Path | None = None) -> tuple[Path, ...]:
    """Return the runtime's own files and folders. Whoever can write them can change policy and evidence."""
    receipts = config.receipts
    store = [
        Path(f"{file}{suffix}")
        for file in dict.fromkeys((receipts.path, receipts.path.resolve()))
        for suffix in STORE_SUFFIXES
    ]
    return (home, *store, receipts.key_path, *(each for each in (cache, data) if each is not None))
