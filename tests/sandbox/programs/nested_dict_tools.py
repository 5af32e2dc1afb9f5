from collections import defaultdict
from functools import reduce
from typing import Any, Dict, Iterator, Tuple


def deep_merge(a: Dict, b: Dict) -> Dict:
    out = dict(a)
    for key, value in b.items():
        if isinstance(out.get(key), dict) and isinstance(value, dict):
            out[key] = deep_merge(out[key], value)
        else:
            out[key] = value
    return out


def walk(data: Any, prefix: Tuple = ()) -> Iterator[Tuple[Tuple, Any]]:
    if isinstance(data, dict):
        for k, v in data.items():
            yield from walk(v, prefix + (k,))
    elif isinstance(data, list):
        for i, v in enumerate(data):
            yield from walk(v, (*prefix, i))
    else:
        yield prefix, data


def get_path(data, path, default=None):
    try:
        return reduce(lambda acc, key: acc[key], path, data)
    except (KeyError, IndexError, TypeError):
        return default


def tree():
    return defaultdict(tree)


def to_plain(d):
    return {k: to_plain(v) for k, v in d.items()} if isinstance(d, defaultdict) else d


def set_path(data, dotted, value):
    *parents, last = dotted.split(".")
    for key in parents:
        data = data.setdefault(key, {})
    data[last] = value


base = {"db": {"host": "a", "port": 1}, "debug": False}
assert deep_merge(base, {"db": {"port": 2}, "x": [1]}) == {"db": {"host": "a", "port": 2}, "debug": False, "x": [1]}
assert base["db"]["port"] == 1
assert dict(walk({"a": [1, {"b": 2}], "c": 3})) == {("a", 0): 1, ("a", 1, "b"): 2, ("c",): 3}
assert get_path(base, ["db", "host"]) == "a" and get_path(base, ["db", 0, "x"], "?") == "?"
t = tree()
t["x"]["y"]["z"] = 1
t["x"]["w"] = 2
assert to_plain(t) == {"x": {"y": {"z": 1}, "w": 2}}
cfg = {}
set_path(cfg, "a.b.c", 5)
cfg["a"]["b"]["c"] += 1
cfg["a"].setdefault("list", []).append("i")
assert cfg == {"a": {"b": {"c": 6}, "list": ["i"]}}
"ok"
