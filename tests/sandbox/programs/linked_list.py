from __future__ import annotations

from collections.abc import Iterable, Iterator


class Link[T]:
    __slots__ = ("next", "value")

    def __init__(self, value: T, next: Link[T] | None = None) -> None:
        self.value = value
        self.next = next


class LinkedList[T]:
    def __init__(self, values: Iterable[T] = ()) -> None:
        self.head: Link[T] | None = None
        for value in reversed(list(values)):
            self.head = Link(value, self.head)

    def __iter__(self) -> Iterator[T]:
        link = self.head
        while link:
            yield link.value
            link = link.next

    def reverse(self) -> None:
        done, link = None, self.head
        while link:
            link.next, done, link = done, link, link.next
        self.head = done

    def has_cycle(self) -> bool:
        slow = fast = self.head
        while fast and fast.next:
            slow, fast = slow.next, fast.next.next
            if slow is fast:
                return True
        return False


numbers = LinkedList(range(5))
numbers.reverse()
assert list(numbers) == [4, 3, 2, 1, 0]
assert not numbers.has_cycle()
numbers.head.next.next = numbers.head
assert numbers.has_cycle()
assert list(LinkedList()) == []

"ok"
