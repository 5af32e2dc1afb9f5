from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class Node:
    key: int
    left: Node | None = None
    right: Node | None = None

    def insert(self, key: int) -> None:
        side = "left" if key < self.key else "right"
        child = getattr(self, side)
        if child is None:
            setattr(self, side, Node(key))
        else:
            child.insert(key)

    def __iter__(self) -> Iterator[int]:
        if self.left:
            yield from self.left
        yield self.key
        if self.right:
            yield from self.right

    def height(self) -> int:
        return 1 + max((child.height() for child in (self.left, self.right) if child), default=0)


root = Node(8)
for key in (3, 10, 1, 6, 14, 4, 7, 13):
    root.insert(key)
assert list(root) == [1, 3, 4, 6, 7, 8, 10, 13, 14]
assert root.height() == 4

"ok"
