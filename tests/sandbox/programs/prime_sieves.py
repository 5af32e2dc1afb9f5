import math
from itertools import count, islice
from typing import Iterator, List


def sieve(limit: int) -> List[int]:
    flags = bytearray([1]) * (limit + 1)
    flags[0:2] = b"\x00\x00"
    for p in range(2, math.isqrt(limit) + 1):
        if flags[p]:
            flags[p * p :: p] = bytes(len(range(p * p, limit + 1, p)))
    return [i for i, flag in enumerate(flags) if flag]


def primes() -> Iterator[int]:
    composites = {}
    for n in count(2):
        if n not in composites:
            yield n
            composites[n * n] = [n]
        else:
            for p in composites.pop(n):
                composites.setdefault(n + p, []).append(p)


def is_probable_prime(n: int, witnesses=(2, 3, 5, 7, 11, 13)) -> bool:
    if n < 2:
        return False
    for p in witnesses:
        if n % p == 0:
            return n == p
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for a in witnesses:
        x = pow(a, d, n)
        if x in (1, n - 1):
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


assert sieve(30) == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
assert len(sieve(10_000)) == 1229
assert list(islice(primes(), 10)) == sieve(29)
assert [n for n in range(200) if is_probable_prime(n)] == sieve(199)
assert is_probable_prime(2**61 - 1) and not is_probable_prime(2**61 + 1)
assert math.gcd(84, 36) == 12 and math.lcm(4, 6) == 12 and math.comb(5, 2) == 10 and math.factorial(6) == 720
assert pow(3, -1, 11) == 4 and divmod(-7, 3) == (-3, 2) and math.floor(-2.5) == -3 and round(2.5) == 2
"ok"
