class UnionFind:
    def __init__(self, n):
        self.parent = list(range(n))
        self.rank = [0] * n
        self.components = n

    def find(self, x):
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, a, b):
        ra, rb = self.find(a), self.find(b)
        if ra == rb:
            return False
        if self.rank[ra] < self.rank[rb]:
            ra, rb = rb, ra
        self.parent[rb] = ra
        if self.rank[ra] == self.rank[rb]:
            self.rank[ra] += 1
        self.components -= 1
        return True


def kruskal(n, edges):
    uf = UnionFind(n)
    chosen, cost = [], 0
    for u, v, w in sorted(edges, key=lambda e: e[2]):
        if uf.union(u, v):
            chosen.append((u, v))
            cost += w
    return cost, chosen


def count_islands(grid):
    rows, cols = len(grid), len(grid[0])
    uf = UnionFind(rows * cols)
    water = 0
    for r in range(rows):
        for c in range(cols):
            if grid[r][c] == "0":
                water += 1
                continue
            for dr, dc in ((0, 1), (1, 0)):
                rr, cc = r + dr, c + dc
                if rr < rows and cc < cols and grid[rr][cc] == "1":
                    uf.union(r * cols + c, rr * cols + cc)
    return uf.components - water


edges = [(0, 1, 4), (1, 2, 8), (2, 3, 7), (3, 4, 9), (4, 0, 1), (1, 3, 2)]
assert kruskal(5, edges) == (14, [(4, 0), (1, 3), (0, 1), (2, 3)])
assert count_islands(["11000", "11000", "00100", "00011"]) == 3
"ok"
