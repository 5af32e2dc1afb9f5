"""`string.Formatter`, over the guarded formatting of strings."""

from __future__ import annotations

from typing import Any

from coilclaw.sandbox.restricted.child.attributes import Attributes, SafeFormatter

__all__ = ["formatter_class"]


def formatter_class(attributes: Attributes) -> type:
    """The class a snippet finds. It inherits nothing, so that no base offers the unguarded way."""
    safe = SafeFormatter(attributes)

    class Formatter:
        """Formats like `str.format`."""

        def format(self, format_string: str, /, *args: Any, **kwargs: Any) -> str:
            return safe.vformat(str.__str__(format_string), args, kwargs)

        def vformat(self, format_string: str, args: Any, kwargs: Any) -> str:
            return safe.vformat(str.__str__(format_string), args, kwargs)

    return Formatter
