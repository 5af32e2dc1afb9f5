import json
from typing import Any


def flatten(data: Any, prefix: str = "") -> dict[str, Any]:
    match data:
        case dict():
            items = [(f"{prefix}.{key}" if prefix else key, value) for key, value in data.items()]
        case list():
            items = [(f"{prefix}[{index}]", value) for index, value in enumerate(data)]
        case _:
            return {prefix: data}
    return {path: leaf for key, value in items for path, leaf in flatten(value, key).items()}


document = json.loads('{"user": {"name": "ann", "tags": ["a", {"deep": null}]}, "n": 1.5}')
assert flatten(document) == {"user.name": "ann", "user.tags[0]": "a", "user.tags[1].deep": None, "n": 1.5}
assert flatten([]) == {}

"ok"
