"""Arguments of calls and inputs of snippets, as they are given on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from coilclaw.sdk import Tool

__all__ = ["GivenArguments", "json_arguments", "json_value", "named_texts"]

_MOST_BYTES: Final = 4 * 1024 * 1024


def json_value(text: str) -> Any:
    """Return the JSON value a text spells. Raises ValueError for anything that could not be passed on as JSON."""
    from pydantic_core import PydanticSerializationError, to_json

    try:
        value = json.loads(text, parse_constant=_refuse)
        to_json(value)
    except (RecursionError, PydanticSerializationError):
        raise ValueError("nested too deeply, or not valid Unicode text") from None
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def json_arguments(given: str | None) -> dict[str, Any] | None:
    """Return the object of `--json`: the text itself, `@FILE`, or `-` for stdin."""
    if given is None:
        return None
    try:
        value = json_value(_text(given))
    except OSError as error:
        raise click.BadParameter(f"{given[1:]!r}: {error.strerror}", param_hint="--json") from None
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}", param_hint="--json") from None
    if not isinstance(value, dict):
        raise click.BadParameter('the arguments are a JSON object, e.g. \'{"path": "."}\'', param_hint="--json")
    return value


def _text(given: str) -> str:
    if given != "-" and not given.startswith("@"):
        return given
    with click.open_file(given.removeprefix("@"), "rb") as file:
        data: bytes = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError(f"more than {_MOST_BYTES} bytes")
    return data.decode()  # A UnicodeDecodeError is a ValueError, and says where.


def named_texts(given: Iterable[str], form: str, option: str | None = None) -> dict[str, str]:
    """Split texts of the form NAME=VALUE; `form` says it in a message."""
    found: dict[str, str] = {}
    for each in given:
        name, equals, text = each.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{each[:200]!r} is not {form}", param_hint=option)
        if name in found:
            raise click.BadParameter(f"{name[:200]!r} is given twice", param_hint=option)
        found[name] = text
    return found


class GivenArguments:
    """Arguments of one call: KEY=VALUE, or together as JSON, or both."""

    def __init__(self, arguments: str | None, pairs: Iterable[str]) -> None:
        self._given = json_arguments(arguments)
        self._texts = named_texts(pairs, "KEY=VALUE, e.g. path=notes.txt")
        if twice := sorted(self._texts.keys() & (self._given or {}).keys()):
            raise click.UsageError(f"{twice[0]!r} is given twice, as {twice[0]}=… and in --json")

    def of(self, tool: Tool | None) -> dict[str, Any] | None:
        """The arguments, as this tool takes them; None if there are none."""
        from coilclaw.bridge import tool_schemas

        if not self._texts:
            return self._given
        schema = tool_schemas(tool)[0] if tool is not None else {}
        return {**(self._given or {}), **{key: _value(key, text, schema) for key, text in self._texts.items()}}


def _value(key: str, text: str, schema: dict[str, Any]) -> Any:
    """Text where the tool takes text, else the JSON it spells; what is neither is left to the tool's own check."""
    properties = schema.get("properties")
    field = properties.get(key) if isinstance(properties, dict) else None
    if _takes_text(field, schema):
        return text
    try:
        return json_value(text)
    except ValueError:
        return text


def _takes_text(field: Any, schema: dict[str, Any], depth: int = 0) -> bool:
    if not isinstance(field, dict) or depth > 8:
        return False
    if isinstance(reference := field.get("$ref"), str):
        definitions = schema.get("$defs")
        target = definitions.get(reference.rsplit("/", 1)[-1]) if isinstance(definitions, dict) else None
        return _takes_text(target, schema, depth + 1)
    options = [*_listed(field, "anyOf"), *_listed(field, "oneOf"), *_listed(field, "allOf")]
    return (
        field.get("type") == "string"
        or "string" in _listed(field, "type")
        or any(isinstance(choice, str) for choice in [*_listed(field, "enum"), field.get("const")])
        or any(_takes_text(option, schema, depth + 1) for option in options)
    )


def _listed(field: dict[str, Any], key: str) -> list[Any]:
    value = field.get(key)
    return value if isinstance(value, list) else []
