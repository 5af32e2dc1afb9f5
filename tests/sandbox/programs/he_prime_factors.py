import math
from typing import Dict, List


def factorize(n: int) -> List[int]:
    """Prime factors of n with repetition, smallest first."""
    factors = []
    divisor = 2
    while divisor * divisor <= n:
        while n % divisor == 0:
            factors.append(divisor)
            n //= divisor
        divisor += 1 if divisor == 2 else 2
    if n > 1:
        factors.append(n)
    return factors


def factor_table(n: int) -> Dict[int, int]:
    table: Dict[int, int] = {}
    for p in factorize(n):
        table[p] = table.get(p, 0) + 1
    return table


def is_prime(n: int) -> bool:
    return n > 1 and all(n % k for k in range(2, math.isqrt(n) + 1))


assert factorize(360) == [2, 2, 2, 3, 3, 5]
assert factorize(97) == [97]
assert factor_table(1000) == {2: 3, 5: 3}
assert [n for n in range(30) if is_prime(n)] == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
for n in range(2, 200):
    assert math.prod(factorize(n)) == n
    assert all(map(is_prime, factorize(n)))
"ok"
