"""Reading the configuration: defaults, then the file, then the environment."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from coilclaw.config.errors import ConfigError
from coilclaw.config.model import Config
from coilclaw.sdk import OperatorError

__all__ = ["ENVIRONMENT", "Settings", "home_folder", "load_settings"]

ENVIRONMENT: Mapping[str, tuple[str, ...]] = {
    "COILCLAW_WORKSPACE": ("workspace_dir",),
    "COILCLAW_AUTONOMY": ("security", "autonomy"),
    "COILCLAW_ENGINE": ("sandbox", "engine"),
}
"""Variables that override a key of the file."""

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A valid configuration, with where each value came from."""

    config: Config
    home: Path
    path: Path
    sources: Mapping[str, str]

    def rows(self) -> Iterator[tuple[str, Any, str]]:
        """Every key, its value and its source: 'default', the file, or a variable."""
        for key, value in _leaves(self.config.model_dump(mode="json")):
            yield key, value, self.sources.get(key, "default")


def home_folder(environment: Mapping[str, str]) -> Path:
    text = environment.get("COILCLAW_HOME") or "~/.coilclaw"
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise OperatorError(f"COILCLAW_HOME={text!r} cannot be used: {error}") from None


def load_settings(environment: Mapping[str, str], overrides: Mapping[str, Any] | None = None) -> Settings:
    """The configuration in force. Raises ConfigError with every problem at once."""
    home = home_folder(environment)
    path = home / "config.toml"
    given = _read(path)
    sources = {key: "config.toml" for key, _ in _leaves(given)}
    for variable, keys in ENVIRONMENT.items():
        if environment.get(variable):
            _put(given, keys, environment[variable])
            sources[".".join(keys)] = variable
    for key, value in (overrides or {}).items():
        _put(given, tuple(key.split(".")), value)
        sources[key] = "command line"
    problems: list[str] = []
    config: Config | None = None
    try:
        config = Config.model_validate_json(_json(given), strict=True)
    except ValidationError as error:
        problems.extend(_explained(error, sources))
    if config is not None:
        config = _expanded(config, {**environment, "COILCLAW_HOME": str(home)}, problems)
    if config is None or problems:
        raise ConfigError(path, problems)
    return Settings(config=config, home=home, path=path, sources=sources)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(path, [f"not TOML: {error}"]) from None
    except OSError as error:
        raise ConfigError(path, [f"cannot be read: {error.strerror}"]) from None


def _json(given: Mapping[str, Any]) -> bytes:
    from pydantic_core import to_json

    return to_json(given)


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


def _explained(error: ValidationError, sources: Mapping[str, str]) -> Iterator[str]:
    """One line for each problem: the key, what is wrong, what is allowed. Values of unknown keys are never shown."""
    for problem in error.errors(include_url=False):
        key = ".".join(str(part) for part in problem["loc"])
        origin = sources.get(key, "")
        where = f"{key} (from {origin})" if origin.startswith("COILCLAW_") or origin == "command line" else key
        if problem["type"] == "extra_forbidden":
            near = difflib.get_close_matches(str(problem["loc"][-1]), _known_keys(problem["loc"][:-1]), n=1)
            yield f"{where}: unknown key" + (f"; did you mean {near[0]!r}?" if near else "")
        elif problem["type"] == "literal_error":
            allowed = problem.get("ctx", {}).get("expected", "another value")
            reason = " (receipts cannot be turned off: no tool runs without them)" if allowed == "True" else ""
            yield f"{where}: {problem['input']!r:.60} is not allowed; use {allowed}{reason}"
        elif problem["type"] == "missing":
            yield f"{where}: this key is required"
        elif problem["type"] == "policy_rule":
            yield f"{where} (rule {int(problem['loc'][2]) + 1}): {problem['msg']}"
        else:
            yield f"{where}: {problem['msg'][0].lower()}{problem['msg'][1:]}, not {problem['input']!r:.60}"


def _known_keys(place: tuple[int | str, ...]) -> list[str]:
    model: Any = Config
    for part in place:
        if isinstance(part, int):
            continue
        annotation = model.model_fields[part].annotation if part in model.model_fields else None
        candidates = [annotation, *get_args(annotation)]
        found = [each for each in candidates if isinstance(each, type) and issubclass(each, BaseModel)]
        if not found:
            return []
        model = found[0]
    return list(model.model_fields)


def _expanded(config: Config, environment: Mapping[str, str], problems: list[str]) -> Config:
    """Every path with `~`, `$NAME` and `${NAME}` replaced."""

    def path(key: str, value: Path) -> Path:
        def variable(found: re.Match[str]) -> str:
            name = found[1] or found[2]
            if name not in environment:
                problems.append(f"{key}: the environment variable {name} is not set")
                return ""
            return environment[name]

        try:
            return Path(_VARIABLE.sub(variable, str(value))).expanduser().absolute()
        except RuntimeError as error:
            problems.append(f"{key}: {error}")
            return value

    def section(key: str, model: BaseModel) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        for name in type(model).model_fields:
            value = getattr(model, name)
            inner = f"{key}{name}"
            if isinstance(value, Path):
                changes[name] = path(inner, value)
            elif isinstance(value, tuple) and value and isinstance(value[0], Path):
                changes[name] = tuple(path(inner, each) for each in value)
            elif isinstance(value, BaseModel):
                changes[name] = value.model_copy(update=section(f"{inner}.", value))
        return changes

    return config.model_copy(update=section("", config))
