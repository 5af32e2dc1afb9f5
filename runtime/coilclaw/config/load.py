"""Reading the configuration: defaults, then the file, then the environment."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from coilclaw.config.disclosure import disclosed
from coilclaw.config.errors import ConfigError
from coilclaw.config.model import Config
from coilclaw.config.places import overlap, own_paths, place, settle_paths, user_cache
from coilclaw.config.section import Problem, plain, read_section
from coilclaw.config.variables import expand_variables
from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen

__all__ = ["ENVIRONMENT", "Settings", "home_folder", "load_settings"]

ENVIRONMENT: Mapping[str, tuple[str, ...]] = {
    "COILCLAW_WORKSPACE": ("workspace_dir",),
    "COILCLAW_AUTONOMY": ("security", "autonomy"),
    "COILCLAW_ENGINE": ("sandbox", "engine"),
}
"""Variables that override a key of the file."""


class Settings(Frozen):
    """A valid configuration, with where each value came from."""

    config: Config
    home: Path
    path: Path
    sources: Mapping[str, str]
    cache: Path | None = None
    """The user's folder for what can be made again, such as the compiled sandbox."""
    data_folder: Path | None = None
    """Where the data of projects is, if not in the home."""

    @property
    def projects(self) -> Path:
        """The folder that has one folder for each project."""
        return (self.data_folder or self.home / "data") / "projects"

    @property
    def own_paths(self) -> tuple[Path, ...]:
        """The runtime's own files, which no tool may touch."""
        return own_paths(self.home, self.config, self.cache, self.data_folder)

    def rows(self) -> Iterator[tuple[str, Any, str]]:
        """Yield every key, its value as it may be shown, and its source: 'default', the file, or a variable."""
        for key, value in _leaves(plain(self.config)):
            yield key, disclosed(key, value), self.sources.get(key, "default")


def home_folder(environment: Mapping[str, str]) -> Path:
    text = environment.get("COILCLAW_HOME") or "~/.coilclaw"
    try:
        return place(text, None)
    except ValueError as error:
        raise OperatorError(f"COILCLAW_HOME={text!r} {error}") from None


def load_settings(
    environment: Mapping[str, str],
    overrides: Mapping[str, Any] | None = None,
    *,
    home: Path | None = None,
    cache: Path | None = None,
    workspace_exists: bool = False,
    given_by: str = "command line",
) -> Settings:
    """Return the configuration in force. Raises ConfigError with every problem at once.

    Without `home` and `cache`, the environment says where they are. With `workspace_exists`, a workspace that is not
    there is one of the problems. `given_by` is where the overrides come from.
    """
    home = home or home_folder(environment)
    data = _data_folder(environment)
    path = home / "config.toml"
    given = _read(path)
    sources = {key: "config.toml" for key, _ in _leaves(given)}
    for variable, keys in ENVIRONMENT.items():
        if environment.get(variable):
            _put(given, keys, environment[variable])
            sources[".".join(keys)] = variable
    problems: list[str] = []
    tree = expand_variables(given, {**environment, "COILCLAW_HOME": str(home)}, problems)
    unset = {_key_of(problem) for problem in problems}
    for key, value in (overrides or {}).items():
        if not isinstance(key, str):
            raise OperatorError(f"{key!r} is no key of the configuration", hint='keys are text, like "limits.calls"')
        _put(tree, tuple(key.split(".")), value)
        sources = {each: origin for each, origin in sources.items() if not each.startswith(f"{key}.")}
        sources[key] = given_by
    places = [*settle_paths(tree, home, sources), *_misplaced(tree.get("workspace_dir"), home, data, workspace_exists)]
    others = [each.replace(":", f"{_origin(_key_of(each), sources)}:", 1) for each in places]
    found: list[Problem] = []
    config: Config | None = read_section(Config, tree, found)
    others.extend(_explained(each, sources) for each in found)
    # What is wrong with a value that lacks a variable says nothing about the value that is meant.
    problems.extend(each for each in others if _key_of(each) not in unset)
    if config is None or problems:
        elsewhere = all("(from " in each.partition(": ")[0] for each in problems)
        raise ConfigError(path, list(dict.fromkeys(problems)), in_file=not elsewhere)
    cache = cache or user_cache(environment)
    return Settings(config=config, home=home, path=path, sources=sources, cache=cache, data_folder=data)


def _key_of(problem: str) -> str:
    return problem.partition(":")[0].partition(" ")[0]


def _data_folder(environment: Mapping[str, str]) -> Path | None:
    text = environment.get("COILCLAW_DATA_DIR")
    if not text:
        return None
    try:
        return place(text, None)
    except ValueError as error:
        raise OperatorError(f"COILCLAW_DATA_DIR={text!r} {error}") from None


def _misplaced(workspace: Any, home: Path, data: Path | None, must_exist: bool) -> Iterator[str]:
    if not isinstance(workspace, str):
        return  # Reported already, or reported by validation.
    folder = Path(workspace)
    if problem := overlap(home, folder):
        yield f"workspace_dir: {problem}"
    elif data is not None and overlap(data, folder):
        yield f"workspace_dir: {folder} and COILCLAW_DATA_DIR={data} lie one inside the other; move one of them"
    elif must_exist and not folder.is_dir():
        reason = "is not a folder" if folder.exists() else "does not exist; `coilclaw init` makes it"
        yield f"workspace_dir: {folder} {reason}"


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(path, [f"not TOML: {error}"]) from None
    except OSError as error:
        raise ConfigError(path, [f"cannot be read: {error.strerror}"]) from None


def _put(given: dict[str, Any], keys: tuple[str, ...], value: Any) -> None:
    for key in keys[:-1]:
        inner = given.setdefault(key, {})
        if not isinstance(inner, dict):
            return  # The file has something else there, which is reported by itself.
        given = inner
    given[keys[-1]] = value


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _explained(problem: Problem, sources: Mapping[str, str]) -> str:
    """The key, where its value comes from if not from the file, and what is wrong."""
    key = ".".join(map(str, problem.place))
    where = f"{key}{_origin(key, sources)}"
    if problem.of_section and problem.place[:2] == ("policy", "rules"):
        where += f" (rule {int(problem.place[2]) + 1})"
    return f"{where}: {problem.message}"


def _origin(key: str, sources: Mapping[str, str]) -> str:
    """Where a value comes from if not from the file; a whole table or list may have been given."""
    found = [sources[each] for each in sources if key == each or key.startswith(f"{each}.")]
    found += [sources[each] for each in sources if each.startswith(f"{key}.")]
    origin = found[0] if found else "config.toml"
    return "" if origin == "config.toml" else f" (from {origin})"
