from itertools import product

Cells = frozenset[tuple[int, int]]


def neighbours(cell: tuple[int, int]) -> list[tuple[int, int]]:
    x, y = cell
    return [(x + dx, y + dy) for dx, dy in product((-1, 0, 1), repeat=2) if (dx, dy) != (0, 0)]


def step(alive: Cells) -> Cells:
    candidates = alive | {near for cell in alive for near in neighbours(cell)}
    return frozenset(
        cell
        for cell in candidates
        if (count := sum(near in alive for near in neighbours(cell))) == 3 or (count == 2 and cell in alive)
    )


def parse(picture: str) -> Cells:
    return frozenset((x, y) for y, row in enumerate(picture.split()) for x, char in enumerate(row) if char == "#")


blinker = parse(".#. .#. .#.")
assert step(blinker) == parse("... ### ...")
assert step(step(blinker)) == blinker
glider = parse(".#. ..# ###")
moved = glider
for _ in range(4):
    moved = step(moved)
assert moved == frozenset((x + 1, y + 1) for x, y in glider)

"ok"
