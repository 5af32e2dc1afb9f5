from functools import cache


def distance(a: str, b: str) -> int:
    previous = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        current = [i]
        for j, right in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (left != right)))
        previous = current
    return previous[-1]


@cache
def recursive(a: str, b: str) -> int:
    if not a or not b:
        return len(a) + len(b)
    return min(recursive(a[1:], b) + 1, recursive(a, b[1:]) + 1, recursive(a[1:], b[1:]) + (a[0] != b[0]))


for a, b, expected in [("kitten", "sitting", 3), ("", "abc", 3), ("flaw", "lawn", 2), ("same", "same", 0)]:
    assert distance(a, b) == recursive(a, b) == expected

"ok"
