import sys
from functools import lru_cache

sys.setrecursionlimit(10000)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def hanoi(n, src="A", dst="C", via="B"):
    if n == 0:
        return []
    return hanoi(n - 1, src, via, dst) + [(src, dst)] + hanoi(n - 1, via, dst, src)


@lru_cache(None)
def partitions(n, biggest=None):
    if biggest is None:
        biggest = n
    if n == 0:
        return 1
    return sum(partitions(n - k, k) for k in range(1, min(n, biggest) + 1))


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def permute(items):
    if len(items) <= 1:
        return [items]
    return [[x] + rest for i, x in enumerate(items) for rest in permute(items[:i] + items[i + 1 :])]


def endless(n):
    return endless(n + 1)


assert ackermann(2, 3) == 9
assert len(hanoi(6)) == 63 and hanoi(2) == [("A", "B"), ("A", "C"), ("B", "C")]
assert partitions(30) == 5604
assert depth(900) == 900
assert permute([1, 2, 3])[3] == [2, 3, 1]
sys.setrecursionlimit(400)
try:
    endless(0)
except RecursionError as e:
    assert "recursion" in str(e)
else:
    assert False
"ok"
