import itertools
from itertools import accumulate, chain, combinations, cycle, groupby, islice, permutations, product, repeat, starmap, tee, zip_longest
import operator


def pairwise(iterable):
    a, b = tee(iterable)
    next(b, None)
    return zip(a, b)


def batched(iterable, n):
    it = iter(iterable)
    while chunk := tuple(islice(it, n)):
        yield chunk


def round_robin(*iterables):
    sentinel = object()
    return [x for x in chain.from_iterable(zip_longest(*iterables, fillvalue=sentinel)) if x is not sentinel]


assert list(pairwise("abcd")) == [("a", "b"), ("b", "c"), ("c", "d")]
assert list(batched(range(7), 3)) == [(0, 1, 2), (3, 4, 5), (6,)]
assert round_robin("ABC", "D", "EF") == ["A", "D", "E", "B", "F", "C"]
assert list(accumulate([1, 2, 3, 4], operator.mul)) == [1, 2, 6, 24]
assert list(accumulate([5, 3, 8], max, initial=4)) == [4, 5, 5, 8]
assert ["".join(p) for p in permutations("abc", 2)] == ["ab", "ac", "ba", "bc", "ca", "cb"]
assert len(list(combinations(range(5), 3))) == 10
assert [a + b for a, b in product("xy", "12")] == ["x1", "x2", "y1", "y2"]
assert list(starmap(pow, [(2, 5), (3, 2)])) == [32, 9]
assert list(islice(cycle("ab"), 5)) == list("ababa") and list(repeat(0, 3)) == [0, 0, 0]
words = sorted(["apple", "bob", "cat", "avocado", "bear"], key=lambda w: (w[0], w))
assert {k: list(g) for k, g in groupby(words, key=operator.itemgetter(0))} == {
    "a": ["apple", "avocado"],
    "b": ["bear", "bob"],
    "c": ["cat"],
}
assert list(itertools.compress("ABCDEF", [1, 0, 1, 0, 1, 1])) == ["A", "C", "E", "F"]
assert list(itertools.dropwhile(lambda x: x < 3, [1, 2, 3, 1])) == [3, 1]
assert list(itertools.filterfalse(str.isdigit, "a1b2")) == ["a", "b"]
assert sum(1 for _ in itertools.combinations_with_replacement("abc", 2)) == 6
"ok"
