from itertools import combinations, permutations
from math import isqrt, prod


def digits(n: int) -> list:
    return [int(d) for d in str(abs(n))]


def is_armstrong(n: int) -> bool:
    ds = digits(n)
    return n == sum(d ** len(ds) for d in ds)


def digital_root(n: int) -> int:
    while n > 9:
        n = sum(digits(n))
    return n


def is_happy(n: int) -> bool:
    seen = set()
    while n != 1 and n not in seen:
        seen.add(n)
        n = sum(d * d for d in digits(n))
    return n == 1


def luhn(number: str) -> bool:
    total = 0
    for i, ch in enumerate(reversed(number.replace(" ", ""))):
        d = int(ch)
        if i % 2:
            d = d * 2 - 9 if d > 4 else d * 2
        total += d
    return total % 10 == 0


def perfect(n: int) -> bool:
    return n > 1 and 1 + sum(d + (n // d if d * d != n else 0) for d in range(2, isqrt(n) + 1) if n % d == 0) == n


def look_and_say(steps: int) -> str:
    term = "1"
    for _ in range(steps):
        nxt, i = "", 0
        while i < len(term):
            j = i
            while j < len(term) and term[j] == term[i]:
                j += 1
            nxt += f"{j - i}{term[i]}"
            i = j
        term = nxt
    return term


assert [n for n in range(100, 1000) if is_armstrong(n)] == [153, 370, 371, 407]
assert digital_root(987654321) == 9 and [n for n in range(1, 25) if is_happy(n)] == [1, 7, 10, 13, 19, 23]
assert luhn("4539 1488 0343 6467") and not luhn("8273 1232 7352 0569")
assert [n for n in range(2, 500) if perfect(n)] == [6, 28, 496] and look_and_say(5) == "312211"
triples = [(a, b, c) for a, b, c in combinations(range(1, 21), 3) if a * a + b * b == c * c]
assert len(triples) == 6 and (8, 15, 17) in triples
solutions = [
    (s, e, n, d, m, o, r, y)
    for m, s in [(1, 9)]
    for e, n, d, o, r, y in permutations(set(range(10)) - {m, s}, 6)
    if o == 0 and 1000 * s + 100 * e + 10 * n + d + 1000 * m + 100 * o + 10 * r + e == 10000 * m + 1000 * o + 100 * n + 10 * e + y
]
assert solutions == [(9, 5, 6, 7, 1, 0, 8, 2)] and prod(digits(234)) == 24
"ok"
