"""`str.format` and `string.Formatter`, with fields that go through the guards."""

from __future__ import annotations

import _string  # type: ignore[import-not-found]
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

__all__ = ["SafeFormatter"]

_CONVERSIONS: Final[dict[str, Callable[[Any], str]]] = {"r": repr, "s": str, "a": ascii}
_DEEPEST: Final = 2


class SafeFormatter:
    """Formats like `str.format`. It inherits nothing, so that no base offers the unguarded way.

    A snippet may subclass it and override the public methods, as with `string.Formatter`.
    """

    _get: Callable[[Any, str], Any]
    """Reads an attribute through the guards."""

    def __init__(self, get: Callable[[Any, str], Any] | None = None) -> None:
        if get is not None:
            self._get = get

    def format(self, format_string: str, /, *args: Any, **kwargs: Any) -> str:
        return self.vformat(format_string, args, kwargs)

    def vformat(self, format_string: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        return self._formatted(str.__str__(format_string), args, kwargs, _DEEPEST, _Numbering())

    def _formatted(
        self, text: str, args: Sequence[Any], kwargs: Mapping[str, Any], depth: int, numbers: _Numbering
    ) -> str:
        if depth < 0:
            raise ValueError("Max string recursion exceeded")
        parts: list[str] = []
        for literal, field, spec, conversion in self.parse(text):
            parts.append(literal)
            if field is not None:
                value, _ = self.get_field(numbers.named(field), args, kwargs)
                value = self.convert_field(value, conversion)
                parts.append(self.format_field(value, self._formatted(spec or "", args, kwargs, depth - 1, numbers)))
        return "".join(parts)

    def parse(self, format_string: str) -> Any:
        return _string.formatter_parser(format_string)

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
        first, rest = _string.formatter_field_name_split(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, name in rest:
            value = self._get(value, name) if is_attribute else value[name]
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


class _Numbering:
    """`{}` is the next one; whoever counts by hand counts all by hand."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._by_hand = False

    def named(self, field: str) -> str:
        first, _ = _string.formatter_field_name_split(field)
        if first == "":
            if self._by_hand:
                raise ValueError("cannot switch from manual field specification to automatic field numbering")
            number = self._next or 0
            self._next = number + 1
            return f"{number}{field}"
        if isinstance(first, int):
            if self._next is not None:
                raise ValueError("cannot switch from automatic field numbering to manual field specification")
            self._by_hand = True
        return field
