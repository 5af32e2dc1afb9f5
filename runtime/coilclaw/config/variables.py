"""Environment variables in the values of the configuration: `$NAME`, `${NAME}`, and `$$` for a dollar sign."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from coilclaw.config.disclosure import is_harmless

__all__ = ["expand_variables"]

_VARIABLE: Final = re.compile(r"\$(?:(\$)|\{(\w+)\}|([A-Za-z_]\w*))")


def expand_variables(tree: dict[str, Any], environment: Mapping[str, str], problems: list[str]) -> dict[str, Any]:
    """Return the tree with the variables in all texts replaced; what is not set is added to the problems.

    Policy rules stay as they are written: a demand such as `matches = "*$HOME*"` is about the text of a call.
    """
    return {
        key: value if key == "policy" else _expanded(key, value, environment, problems) for key, value in tree.items()
    }


def _expanded(key: str, value: Any, environment: Mapping[str, str], problems: list[str]) -> Any:
    if isinstance(value, dict):
        return {name: _expanded(f"{key}.{name}", each, environment, problems) for name, each in value.items()}
    if isinstance(value, list):
        return [_expanded(f"{key}.{number}", each, environment, problems) for number, each in enumerate(value)]
    if not isinstance(value, str):
        return value
    problems.extend(dict.fromkeys(_unset(key, value, environment)))
    return _VARIABLE.sub(lambda found: "$" if found[1] else environment.get(found[2] or found[3], ""), value)


def _unset(key: str, text: str, environment: Mapping[str, str]) -> Iterator[str]:
    for found in _VARIABLE.finditer(text):
        name = found[2] or found[3]
        if name is None or name in environment:
            continue
        if found[2] or is_harmless(key):
            yield f"{key}: the environment variable {name} is not set"
        else:  # It may be a piece of a password, so it is not repeated.
            yield f"{key}: a variable in it is not set; write ${{NAME}} for a variable, and $$ for a dollar sign"
