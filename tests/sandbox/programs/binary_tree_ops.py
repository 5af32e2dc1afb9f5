from collections import deque
from dataclasses import dataclass
from typing import Iterator, List, Optional


@dataclass
class Node:
    value: int
    left: Optional["Node"] = None
    right: Optional["Node"] = None

    def __iter__(self) -> Iterator[int]:
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right


def build(values: List[Optional[int]]) -> Optional[Node]:
    if not values or values[0] is None:
        return None
    it = iter(values)
    root = Node(next(it))
    queue = deque([root])
    while queue:
        node = queue.popleft()
        for side in ("left", "right"):
            value = next(it, None)
            if value is not None:
                child = Node(value)
                setattr(node, side, child)
                queue.append(child)
    return root


def height(node: Optional[Node]) -> int:
    return 0 if node is None else 1 + max(height(node.left), height(node.right))


def levels(root: Optional[Node]) -> List[List[int]]:
    out, row = [], [root] if root else []
    while row:
        out.append([n.value for n in row])
        row = [c for n in row for c in (n.left, n.right) if c]
    return out


def is_bst(node, low=float("-inf"), high=float("inf")):
    if node is None:
        return True
    return low < node.value < high and is_bst(node.left, low, node.value) and is_bst(node.right, node.value, high)


def invert(node):
    if node:
        node.left, node.right = invert(node.right), invert(node.left)
    return node


root = build([8, 3, 10, 1, 6, None, 14])
assert list(root) == [1, 3, 6, 8, 10, 14] and height(root) == 3 and is_bst(root)
assert levels(root) == [[8], [3, 10], [1, 6, 14]]
assert list(invert(root)) == [14, 10, 8, 6, 3, 1] and not is_bst(root)
assert build([]) is None and levels(None) == []
"ok"
