"""The registry as Python stubs: what a model is shown of the tools it can call."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Any

from coilclaw.bridge.registry import Registry
from coilclaw.sdk import Tool

__all__ = ["registry_stubs", "tool_stub"]

_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

_HEADER = """\
# The only thing a snippet can reach. A call returns Ok(value) or Err(code, message, hint):
#     result = tools.files.read(path="notes.txt")
#     if result.ok: print(result.value)          # or result.unwrap(), which raises on Err
# In parallel: pending = [tools.x.y.start(...) for ...]; results = [p.result() for p in pending]
#     or: results = await asyncio.gather(*pending)
"""


def registry_stubs(registry: Registry) -> str:
    """Stubs of all tools, one class for each integration."""
    types: dict[str, str] = {}
    tree: dict[str, Any] = {}
    for tool_id, tool in registry.tools.items():
        *folders, action = tool_id.split(".")
        place = tree
        for folder in folders:
            place = place.setdefault(folder, {})
        place[action] = tool_stub(tool, types)
    body = _render("tools", tree, 0)
    return "\n".join([_HEADER, *types.values(), body]) + "\n"


def tool_stub(tool: Tool, types: dict[str, str] | None = None) -> str:
    """One tool as a function: typed arguments, typed result, its docstring."""
    types = {} if types is None else types
    schema = tool.input_schema
    definitions = {**schema.get("$defs", {}), **tool.output_schema.get("$defs", {})}
    parameters = []
    for name in tool.parameters:
        field = schema.get("properties", {}).get(name, {})
        text = f"{name}: {_type(field, definitions, types)}"
        if name not in tool.required_parameters:
            text += f" = {field['default']!r}" if "default" in field else " = ..."
        parameters.append(text)
    star = "*, " if parameters else ""
    returns = _type(tool.output_schema, definitions, types)
    risk = "" if tool.risk.value == "read" else f"  # {tool.risk.value}"
    lines = [f"def {tool.id.rsplit('.', 1)[1]}({star}{', '.join(parameters)}) -> Result[{returns}]:{risk}"]
    description = tool.description.replace('"""', "'''").replace("\\", "\\\\") or tool.id
    lines += [f'    """{description}"""'.replace("\n", "\n    "), ""]
    return "\n".join(lines)


def _render(name: str, tree: Mapping[str, Any], depth: int) -> str:
    indent = "    " * depth
    parts = [f"{indent}class {name}:"]
    for key, value in tree.items():
        if isinstance(value, dict):
            parts.append(_render(key, value, depth + 1))
        else:
            stub = "@staticmethod\n" + value
            parts.append("\n".join(f"{indent}    {line}".rstrip() for line in stub.splitlines()))
            parts.append("")
    return "\n".join(parts)


def _type(schema: Any, definitions: Mapping[str, Any], types: dict[str, str]) -> str:
    """The Python spelling of a JSON Schema; named object types are collected in `types`."""
    if not isinstance(schema, dict) or not schema:
        return "Any"
    if reference := schema.get("$ref"):
        name = str(reference).rsplit("/", 1)[-1]
        return _named(name, definitions.get(name, {}), definitions, types)
    if choices := schema.get("enum"):
        return f"Literal[{', '.join(repr(choice) for choice in choices)}]"
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(dict.fromkeys(_type(option, definitions, types) for option in options))
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _PLAIN:
        return _PLAIN[kind]
    if kind == "array":
        if places := schema.get("prefixItems"):
            return f"tuple[{', '.join(_type(place, definitions, types) for place in places)}]"
        return f"list[{_type(schema.get('items'), definitions, types)}]"
    if kind == "object":
        if schema.get("properties"):
            return _named(str(schema.get("title", "Object")), schema, definitions, types)
        return f"dict[str, {_type(schema.get('additionalProperties'), definitions, types)}]"
    return "Any"


def _named(name: str, schema: Mapping[str, Any], definitions: Mapping[str, Any], types: dict[str, str]) -> str:
    name = name if name.isidentifier() and not keyword.iskeyword(name) else "Object"
    if "properties" not in schema:
        return _type({key: value for key, value in schema.items() if key != "$ref"}, definitions, types)
    if name not in types:
        types[name] = ""  # Before its fields: a type may contain itself.
        required = set(schema.get("required", ()))
        lines = [f"class {name}(TypedDict):"]
        for field, shape in schema["properties"].items():
            optional = "" if field in required else "  # may be absent"
            lines.append(f"    {field}: {_type(shape, definitions, types)}{optional}")
        types[name] = "\n".join(lines) + "\n"
    return name
