letters = list("abcdefghij")
assert letters[2:8:2] == ["c", "e", "g"] and letters[::-3] == ["j", "g", "d", "a"] and letters[-3:] == ["h", "i", "j"]
letters[1:4] = ["X"]
assert "".join(letters) == "aXefghij"
letters[::2] = "1234"
assert "".join(letters) == "1X2f3h4j"
del letters[1::2]
assert letters == ["1", "2", "3", "4"]
letters.insert(1, "new")
letters.extend(["5", *"67"])
assert letters.pop() == "7" and letters.pop(0) == "1" and letters.index("3") == 2

first, (second, *rest), last = 1, [2, 3, 4], 5
assert (first, second, rest, last) == (1, 2, [3, 4], 5)
a = b = c = 0
a, b = b + 1, a + 2
assert (a, b, c) == (1, 2, 0)
matrix = [[1, 2, 3], [4, 5, 6]]
assert [list(col) for col in zip(*matrix)] == [[1, 4], [2, 5], [3, 6]]
rotated = [list(r) for r in zip(*matrix[::-1])]
assert rotated == [[4, 1], [5, 2], [6, 3]]
flat = [x for row in matrix for x in row if x % 2]
assert flat == [1, 3, 5]
merged = {**{"a": 1}, "b": 2, **{"a": 3}}
assert merged == {"a": 3, "b": 2} and [*range(3), *"ab"] == [0, 1, 2, "a", "b"]


def show(first, *args, sep="-", **kwargs):
    return sep.join(map(str, [first, *args, *(f"{k}:{v}" for k, v in kwargs.items())]))


def only(a, b, /, c, *, d=4):
    return a, b, c, d


assert show(*[1, 2], **{"x": 3, "sep": "+"}) == "1+2+x:3" and only(1, 2, c=3) == (1, 2, 3, 4)
try:
    list(zip([1, 2], [1], strict=True))
except ValueError as e:
    assert "shorter" in str(e)
for i, (name, score) in enumerate([("a", 1), ("b", 2)], start=1):
    assert score == i
window = slice(1, None, 2)
assert "abcdef"[window] == "bdf" and (window.start, window.stop, window.step) == (1, None, 2)
assert [[0] * 3 for _ in range(2)] == [[0, 0, 0], [0, 0, 0]] and 3 * [1] == [1, 1, 1]
"ok"
