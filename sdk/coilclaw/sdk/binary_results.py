"""Write results in which there are bytes that are no text. Imported when there are some: they are rare.

A model writes bytes as UTF-8 text, and refuses others. Its own serialisers must be applied all the same, because they
may mask what is not to be shown. So the very schema of the results is taken, with another way to write bytes.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter
from pydantic_core import SchemaSerializer
from pydantic_core.core_schema import plain_serializer_function_ser_schema

from coilclaw.sdk.typed_values import bytes_text, with_bytes_as_text

__all__ = ["binary_serializer"]

_WRITTEN: Final = {
    "bytes": plain_serializer_function_ser_schema(bytes_text, when_used="json-unless-none"),
    "any": plain_serializer_function_ser_schema(with_bytes_as_text, when_used="json-unless-none"),
}
_NO_SCHEMAS: Final = frozenset(("metadata", "default", "expected"))
"""Keys below which there are values of an author's own."""


def binary_serializer(output: TypeAdapter[Any]) -> SchemaSerializer:
    """A serialiser for the same results, in which all bytes that would be text are written with `bytes_text`."""
    # Otherwise each model within would be written by the serialiser that it has already.
    return SchemaSerializer(_written(output.core_schema, is_text=True), _use_prebuilt=False)


def _written(schema: Any, *, is_text: bool) -> Any:
    """The same core schema, with a serialiser for bytes where it has none."""
    if isinstance(schema, list | tuple):
        return type(schema)(_written(each, is_text=is_text) for each in schema)
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") in ("model", "dataclass") or "config" in schema:  # A configuration is not inherited there.
        is_text = (schema.get("config") or {}).get("ser_json_bytes", "utf8") == "utf8"
    made = {name: each if name in _NO_SCHEMAS else _written(each, is_text=is_text) for name, each in schema.items()}
    kind = made.get("type")
    if is_text and "serialization" not in made and isinstance(kind, str) and kind in _WRITTEN:
        made["serialization"] = _WRITTEN[kind]
    return made
