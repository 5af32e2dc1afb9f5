from functools import lru_cache
from typing import Dict


def fib(n: int, memo: Dict[int, int] = {}) -> int:
    """n-th Fibonacci number, remembered in the default argument."""
    if n in memo:
        return memo[n]
    if n <= 1:
        return n
    memo[n] = fib(n - 1, memo) + fib(n - 2, memo)
    return memo[n]


@lru_cache(maxsize=None)
def trib(n: int) -> int:
    if n < 3:
        return (0, 0, 1)[n]
    return trib(n - 1) + trib(n - 2) + trib(n - 3)


def fib_gen(limit):
    a, b = 0, 1
    while a < limit:
        yield a
        a, b = b, a + b


assert fib(10) == 55
assert fib(90) == 2880067194370816120
assert [trib(i) for i in range(10)] == [0, 0, 1, 1, 2, 4, 7, 13, 24, 44]
assert trib.cache_info().currsize == 10
assert trib.cache_info().hits > 0
trib.cache_clear()
assert trib.cache_info().currsize == 0
assert list(fib_gen(50)) == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
"ok"
