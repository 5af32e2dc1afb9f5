import heapq
from typing import Dict, List, Optional, Set, Tuple

Point = Tuple[int, int]

MAZE = """
S.#.....
..#.###.
.##.#...
....#.#.
.####.#E
""".strip().splitlines()


def find(char: str) -> Point:
    return next((r, row.index(char)) for r, row in enumerate(MAZE) if char in row)


def neighbours(p: Point):
    r, c = p
    for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        nr, nc = r + dr, c + dc
        if 0 <= nr < len(MAZE) and 0 <= nc < len(MAZE[0]) and MAZE[nr][nc] != "#":
            yield nr, nc


def astar(start: Point, goal: Point) -> Optional[List[Point]]:
    def h(p: Point) -> int:
        return abs(p[0] - goal[0]) + abs(p[1] - goal[1])

    frontier: List[Tuple[int, Point]] = [(h(start), start)]
    came: Dict[Point, Optional[Point]] = {start: None}
    cost: Dict[Point, int] = {start: 0}
    closed: Set[Point] = set()
    while frontier:
        _, current = heapq.heappop(frontier)
        if current == goal:
            path = []
            while current:
                path.append(current)
                current = came[current]
            return path[::-1]
        if current in closed:
            continue
        closed.add(current)
        for nxt in neighbours(current):
            new = cost[current] + 1
            if new < cost.get(nxt, float("inf")):
                cost[nxt] = new
                came[nxt] = current
                heapq.heappush(frontier, (new + h(nxt), nxt))
    return None


path = astar(find("S"), find("E"))
assert path is not None and path[0] == (0, 0) and path[-1] == (4, 7)
assert all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in zip(path, path[1:]))
assert len(path) == 18
canvas = [list(row) for row in MAZE]
for r, c in path[1:-1]:
    canvas[r][c] = "*"
print("\n".join("".join(row) for row in canvas))
"ok"
