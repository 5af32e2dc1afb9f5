class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


class LinkedList:
    def __init__(self, *values):
        self.head = None
        self._size = 0
        for v in reversed(values):
            self.head = Node(v, self.head)
            self._size += 1

    def __len__(self):
        return self._size

    def __iter__(self):
        node = self.head
        while node:
            yield node.value
            node = node.next

    def __getitem__(self, index):
        if isinstance(index, slice):
            return LinkedList(*list(self)[index])
        if index < 0:
            index += len(self)
        for i, v in enumerate(self):
            if i == index:
                return v
        raise IndexError("list index out of range")

    def __contains__(self, value):
        return any(v == value for v in self)

    def __eq__(self, other):
        return isinstance(other, LinkedList) and list(self) == list(other)

    def __add__(self, other):
        return LinkedList(*self, *other)

    def __repr__(self):
        return f"{self.__class__.__name__}({', '.join(map(repr, self))})"

    def reverse(self):
        prev, node = None, self.head
        while node:
            node.next, prev, node = prev, node, node.next
        self.head = prev
        return self

    def middle(self):
        slow = fast = self.head
        while fast and fast.next:
            slow, fast = slow.next, fast.next.next
        return slow.value


items = LinkedList(1, 2, 3, 4)
assert len(items) == 4 and list(items) == [1, 2, 3, 4] and 3 in items and 9 not in items
assert items[0] == 1 and items[-1] == 4 and items[1:3] == LinkedList(2, 3)
assert repr(items.reverse()) == "LinkedList(4, 3, 2, 1)" and items.middle() == 2
assert list(items + LinkedList("x")) == [4, 3, 2, 1, "x"]
try:
    items[10]
except IndexError:
    pass
first, *_, last = items
assert (first, last) == (4, 1)
"ok"
