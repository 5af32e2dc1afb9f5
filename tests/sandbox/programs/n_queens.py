from collections.abc import Iterator


def queens(n: int, placed: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    row = len(placed)
    if row == n:
        yield placed
        return
    for column in range(n):
        if all(column != c and abs(column - c) != row - r for r, c in enumerate(placed)):
            yield from queens(n, (*placed, column))


assert [sum(1 for _ in queens(n)) for n in range(1, 7)] == [1, 0, 0, 2, 10, 4]
assert next(queens(6)) == (1, 3, 5, 0, 2, 4)

"ok"
