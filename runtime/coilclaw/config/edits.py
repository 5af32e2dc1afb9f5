"""Changes of config.toml that keep everything else in it, comments too."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from coilclaw.sdk import OperatorError

__all__ = ["with_values"]

Key: TypeAlias = tuple[str, ...]
_TABLE: Final = re.compile(r"(?m)^[ \t]*\[")
_LINE: Final = re.compile(r"(?m)^[ \t]*[^#\s][^\n]*$")
"""One that is neither blank nor a comment."""
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def with_values(text: str, values: Mapping[Key, str]) -> str:
    """Return a configuration with other texts under some keys, each given with the tables it is in.

    The result is read again, and says exactly what was there and the change. Raises OperatorError for a file that is
    written in a way this cannot change.
    """
    try:
        wanted: dict[str, Any] = tomllib.loads(text)
        for key, value in values.items():
            text = _with_value(text, key, value)
            table = wanted
            for name in key[:-1]:
                table = table.setdefault(name, {})
            table[key[-1]] = _escaped(value)
        changed = tomllib.loads(text) == wanted
    except (tomllib.TOMLDecodeError, AttributeError, TypeError):
        changed = False
    if not changed:
        names = ", ".join(".".join(key) for key in values)
        raise OperatorError(f"config.toml is written in a way that this command cannot change ({names})")
    return text


def _with_value(text: str, key: Key, value: str) -> str:
    *tables, name = key
    # JSON's escapes are TOML's, but for one character.
    quoted = json.dumps(_escaped(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    line = f"{name} = {quoted}"
    begin, end = 0, None
    if tables:
        header = ".".join(each if _BARE.fullmatch(each) else json.dumps(each) for each in tables)
        found = re.search(rf"(?m)^[ \t]*\[{re.escape(header)}\][^\n]*$", text)
        if found is None:
            return f"{text.rstrip()}\n\n[{header}]\n{line}\n"
        begin = found.end()
    if (after := _TABLE.search(text, begin)) is not None:
        end = after.start()
    part, rest = text[begin:end], "" if end is None else text[end:]
    changed, count = re.subn(rf"(?m)^[ \t]*{re.escape(name)}[ \t]*=[^\n]*$", lambda _: line, part, count=1)
    if not count and tables:
        last = max((each.end() for each in _LINE.finditer(part)), default=0)
        changed = f"{part[:last]}\n{line}{part[last:]}"
    elif not count:
        changed = f"{line}\n{part}"
    return text[:begin] + changed + rest


def _escaped(value: str) -> str:
    """A dollar sign would begin a variable."""
    return value.replace("$", "$$")
