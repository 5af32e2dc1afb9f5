"""Arguments of calls and inputs of snippets, as they are given on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

import click

__all__ = ["json_arguments", "json_value", "named_texts"]

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
