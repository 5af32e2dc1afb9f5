def primes_below(limit: int) -> list[int]:
    sieve = bytearray([1]) * limit
    sieve[:2] = bytes(min(2, limit))
    for n in range(2, int(limit**0.5) + 1):
        if sieve[n]:
            sieve[n * n :: n] = bytes(len(range(n * n, limit, n)))
    return [n for n, prime in enumerate(sieve) if prime]


def factors(n: int) -> list[int]:
    found, divisor = [], 2
    while divisor * divisor <= n:
        while n % divisor == 0:
            found.append(divisor)
            n //= divisor
        divisor += 1
    return found + [n] * (n > 1)


assert primes_below(30) == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
assert len(primes_below(10_000)) == 1229
assert factors(360) == [2, 2, 2, 3, 3, 5]
assert factors(97) == [97]

"ok"
