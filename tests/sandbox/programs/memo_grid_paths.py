from functools import cache, lru_cache
from typing import Dict, Tuple


def memoize(fn):
    store: Dict[Tuple, int] = {}

    def wrapper(*args):
        if args not in store:
            store[args] = fn(*args)
        return store[args]

    wrapper.store = store
    return wrapper


@memoize
def paths(r: int, c: int) -> int:
    return 1 if r == 0 or c == 0 else paths(r - 1, c) + paths(r, c - 1)


@cache
def catalan(n: int) -> int:
    return 1 if n < 2 else sum(catalan(i) * catalan(n - 1 - i) for i in range(n))


class Solver:
    def __init__(self, word_list):
        self.words = frozenset(word_list)

    @lru_cache(maxsize=256)
    def breaks(self, text: str) -> tuple:
        if not text:
            return ((),)
        found = []
        for end in range(1, len(text) + 1):
            if text[:end] in self.words:
                found += [(text[:end], *rest) for rest in self.breaks(text[end:])]
        return tuple(found)


def climb(n, memo=None):
    memo = {} if memo is None else memo
    if n in memo:
        return memo[n]
    memo[n] = 1 if n <= 1 else climb(n - 1, memo) + climb(n - 2, memo)
    return memo[n]


assert paths(10, 10) == 184756 and len(paths.store) == 120
assert [catalan(n) for n in range(8)] == [1, 1, 2, 5, 14, 42, 132, 429]
assert catalan.__wrapped__ is not catalan and catalan.cache_parameters() == {"maxsize": None, "typed": False}
solver = Solver(["cat", "cats", "and", "sand", "dog"])
assert [" ".join(b) for b in solver.breaks("catsanddog")] == ["cat sand dog", "cats and dog"]
assert climb(50) == 20365011074
"ok"
