"""`str.format` and `string.Formatter`, with fields that go through the guards."""

from __future__ import annotations

import _string  # type: ignore[import-not-found]
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

__all__ = ["SafeFormatter"]

_CONVERSIONS: Final[dict[str, Callable[[Any], str]]] = {"r": repr, "s": str, "a": ascii}
_DEEPEST: Final = 2


class SafeFormatter:
    """Formats like `str.format`. It inherits nothing, so that no base offers the unguarded way.

    A snippet may subclass it and override the public methods, as with `string.Formatter`.
    """

    get: Callable[[Any, str], Any]
    """Reads an attribute through the guards."""

    def __init__(self, get: Callable[[Any, str], Any] | None = None) -> None:
        if get is not None:
            self.get = get

    def format(self, format_string: str, /, *args: Any, **kwargs: Any) -> str:
        return self.vformat(format_string, args, kwargs)

    def vformat(self, format_string: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        return self._formatted(str.__str__(format_string), args, kwargs, _DEEPEST, iter(range(len(args) + 1)))

    def _formatted(
        self, text: str, args: Sequence[Any], kwargs: Mapping[str, Any], depth: int, numbers: Iterator[int]
    ) -> str:
        if depth < 0:
            raise ValueError("Max string recursion exceeded")
        parts: list[str] = []
        for literal, field, spec, conversion in self.parse(text):
            parts.append(literal)
            if field is not None:
                value, _ = self.get_field(_numbered(field, numbers), args, kwargs)
                value = self.convert_field(value, conversion)
                parts.append(self.format_field(value, self._formatted(spec or "", args, kwargs, depth - 1, numbers)))
        return "".join(parts)

    def parse(self, format_string: str) -> Any:
        return _string.formatter_parser(format_string)

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
        first, rest = _string.formatter_field_name_split(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, name in rest:
            value = self.get(value, name) if is_attribute else value[name]
        return value, first

    def get_value(self, key: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return args[key] if isinstance(key, int) else kwargs[key]

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion is None:
            return value
        if conversion not in _CONVERSIONS:
            raise ValueError(f"Unknown conversion specifier {conversion!s}")
        return _CONVERSIONS[conversion](value)

    def format_field(self, value: Any, format_spec: str) -> str:
        return format(value, format_spec)


def _numbered(field: str, numbers: Iterator[int]) -> str:
    """`{}` is the next one. The name before the first dot or bracket is what counts."""
    if field == "" or field[0] in ".[":
        return f"{next(numbers)}{field}"
    return field
