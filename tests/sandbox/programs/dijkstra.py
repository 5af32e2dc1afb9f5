import heapq


def shortest(graph: dict[str, dict[str, int]], start: str, end: str) -> tuple[int, list[str]] | None:
    queue = [(0, start, [start])]
    done: set[str] = set()
    while queue:
        cost, node, path = heapq.heappop(queue)
        if node == end:
            return cost, path
        if node in done:
            continue
        done.add(node)
        for neighbour, weight in graph.get(node, {}).items():
            if neighbour not in done:
                heapq.heappush(queue, (cost + weight, neighbour, [*path, neighbour]))
    return None


roads = {"a": {"b": 7, "c": 3}, "c": {"b": 1, "d": 8}, "b": {"d": 2}}
assert shortest(roads, "a", "d") == (6, ["a", "c", "b", "d"])
assert shortest(roads, "d", "a") is None

"ok"
