from collections import ChainMap, Counter, defaultdict
import collections as ct


def merge_three(a, b, c):
    return dict(ct.ChainMap({}, a, b, c))


def invert(mapping):
    out = defaultdict(list)
    for key, value in mapping.items():
        out[value].append(key)
    return dict(out)


def freq_count(items):
    return ct.Counter(items)


def filter_by(mapping, threshold):
    return {k: v for k, v in mapping.items() if v >= threshold}


def add_dicts(d1, d2):
    return Counter(d1) + Counter(d2)


def sort_counter(d):
    return Counter(d).most_common()


assert merge_three({"R": 1}, {"G": 2, "R": 9}, {"B": 3}) == {"R": 1, "G": 2, "B": 3}
assert invert({"x": 1, "y": 2, "z": 1}) == {1: ["x", "z"], 2: ["y"]}
assert freq_count([10, 10, 20, 10])[10] == 3
assert filter_by({"ana": 175, "bo": 180, "cy": 165}, 170) == {"ana": 175, "bo": 180}
assert add_dicts({"a": 100, "b": 200}, {"a": 300, "d": 400}) == Counter({"a": 400, "b": 200, "d": 400})
assert sort_counter({"math": 81, "physics": 83, "chem": 87}) == [("chem", 87), ("physics", 83), ("math", 81)]
cm = ChainMap({"debug": True}, {"debug": False, "port": 80})
cm["port"] = 8080
assert cm.maps[0] == {"debug": True, "port": 8080} and cm.parents["port"] == 80
d = {"a": 1} | {"b": 2}
d |= {"c": 3}
del d["a"]
assert d == {"b": 2, "c": 3} and list(reversed(d)) == ["c", "b"]
"ok"
