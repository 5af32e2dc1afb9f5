"""`string.Formatter`, over the guarded formatting of strings."""

from __future__ import annotations

from coilclaw.sandbox.restricted.child.attributes import Attributes
from coilclaw.sandbox.restricted.child.formatting import SafeFormatter

__all__ = ["formatter_class"]


def formatter_class(attributes: Attributes) -> type:
    """The class a snippet finds, and may inherit from."""

    class Formatter(SafeFormatter):
        """Formats like `str.format`."""

        _get = staticmethod(attributes.get)

        def __init__(self) -> None:
            super().__init__()

    return Formatter
