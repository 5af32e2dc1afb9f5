from collections import defaultdict, deque


class Graph:
    def __init__(self, directed=False):
        self.adj = defaultdict(set)
        self.directed = directed

    def add_edge(self, u, v):
        self.adj[u].add(v)
        if not self.directed:
            self.adj[v].add(u)
        else:
            self.adj[v]

    def bfs(self, start):
        seen, order, queue = {start}, [], deque([start])
        while queue:
            node = queue.popleft()
            order.append(node)
            for nxt in sorted(self.adj[node] - seen):
                seen.add(nxt)
                queue.append(nxt)
        return order

    def dfs(self, node, visited=None):
        if visited is None:
            visited = []
        visited.append(node)
        for nxt in sorted(self.adj[node]):
            if nxt not in visited:
                self.dfs(nxt, visited)
        return visited

    def shortest_path(self, src, dst):
        prev = {src: None}
        queue = deque([src])
        while queue:
            node = queue.popleft()
            if node == dst:
                path = []
                while node is not None:
                    path.append(node)
                    node = prev[node]
                return path[::-1]
            for nxt in sorted(self.adj[node]):
                if nxt not in prev:
                    prev[nxt] = node
                    queue.append(nxt)
        return None


g = Graph()
for a, b in ["AB", "AC", "BD", "CE", "DF", "EF"]:
    g.add_edge(a, b)
assert "".join(g.bfs("A")) == "ABCDEF"
assert "".join(g.dfs("A")) == "ABDFEC"
assert g.shortest_path("A", "F") == ["A", "B", "D", "F"]
g.add_edge("X", "Y")
assert g.shortest_path("A", "X") is None
"ok"
