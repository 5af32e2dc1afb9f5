from typing import Any, Dict, List

SCHEMA: Dict[str, Any] = {
    "type": "object",
    "required": ["id", "email"],
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "email": {"type": "string", "pattern": "@"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "role": {"enum": ["admin", "guest"]},
        "address": {"type": "object", "properties": {"zip": {"type": "string"}}, "required": ["zip"]},
    },
}

_TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}


def validate(value: Any, schema: Dict[str, Any], path: str = "$") -> List[str]:
    """All the ways in which ``value`` breaks ``schema``."""
    errors: List[str] = []
    if kind := schema.get("type"):
        expected = _TYPES[kind]
        if not isinstance(value, expected) or (kind == "integer" and isinstance(value, bool)):
            return [f"{path}: expected {kind}, got {type(value).__name__}"]
    if "enum" in schema and value not in schema["enum"]:
        errors.append(f"{path}: {value!r} not in {schema['enum']}")
    if "minimum" in schema and value < schema["minimum"]:
        errors.append(f"{path}: {value} < {schema['minimum']}")
    if "pattern" in schema and schema["pattern"] not in value:
        errors.append(f"{path}: no {schema['pattern']!r}")
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                errors.append(f"{path}.{name}: missing")
        for name, sub in schema.get("properties", {}).items():
            if name in value:
                errors += validate(value[name], sub, f"{path}.{name}")
    elif isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            errors.extend(validate(item, schema["items"], f"{path}[{i}]"))
    return errors


assert validate({"id": 1, "email": "a@b", "tags": ["x"], "role": "guest"}, SCHEMA) == []
assert validate({"id": 0, "tags": ["x", 3], "role": "boss", "address": {}}, SCHEMA) == [
    "$.email: missing",
    "$.id: 0 < 1",
    "$.tags[1]: expected string, got int",
    "$.role: 'boss' not in ['admin', 'guest']",
    "$.address.zip: missing",
]
assert validate([], SCHEMA) == ["$: expected object, got list"] and validate({"id": True, "email": "@"}, SCHEMA)
"ok"
