def jaccard(a, b):
    a, b = set(a), set(b)
    return len(a & b) / len(a | b) if a | b else 1.0


def powerset(s):
    result = {frozenset()}
    for item in s:
        result |= {subset | {item} for subset in result}
    return result


def dedupe(items, key=None):
    seen = set()
    add = seen.add
    return [x for x in items if not ((k := key(x) if key else x) in seen or add(k))]


old = {"a": 1, "b": 2, "c": 3}
new = {"b": 2, "c": 30, "d": 4}
added, removed = new.keys() - old.keys(), old.keys() - new.keys()
changed = {k for k in old.keys() & new.keys() if old[k] != new[k]}
assert (added, removed, changed) == ({"d"}, {"a"}, {"c"})
assert jaccard("night", "nacht") == 3 / 7 and jaccard("", "") == 1.0
assert len(powerset("abc")) == 8 and frozenset("ab") in powerset("abc")
assert dedupe([3, 1, 3, 2, 1]) == [3, 1, 2] and dedupe(["a", "A", "b"], key=str.lower) == ["a", "b"]
s = {1, 2, 3}
s.add(4)
s.discard(99)
s.update([5], (6,))
s -= {1}
s &= {2, 3, 4, 5}
s ^= {5, 7}
assert s == {2, 3, 4, 7} and s.issuperset({2}) and s.isdisjoint({1}) and {2} < s
try:
    s.remove(100)
except KeyError as e:
    assert e.args[0] == 100
graph = {frozenset({"x", "y"}): 3}
assert graph[frozenset(["y", "x"])] == 3
assert s.symmetric_difference([2]) == {3, 4, 7} and s.union(range(2)) == {0, 1, 2, 3, 4, 7}
assert {x % 3 for x in range(10)} == {0, 1, 2} and set() == set([]) and not set()
"ok"
