from typing import Generic, Iterator, List, Optional, TypeVar

T = TypeVar("T")


class Stack(Generic[T]):
    def __init__(self, items: Optional[List[T]] = None) -> None:
        self._items: List[T] = list(items or [])

    def push(self, item: T) -> "Stack[T]":
        self._items.append(item)
        return self

    def pop(self) -> T:
        if not self._items:
            raise IndexError("pop from empty stack")
        return self._items.pop()

    def peek(self) -> Optional[T]:
        return self._items[-1] if self._items else None

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(reversed(self._items))

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __bool__(self) -> bool:
        return bool(self._items)


stack: Stack[int] = Stack[int]()
stack.push(1).push(2).push(3)
assert len(stack) == 3 and list(stack) == [3, 2, 1] and 2 in stack
assert stack.pop() == 3 and stack.peek() == 2
while stack:
    stack.pop()
try:
    stack.pop()
except IndexError as err:
    assert str(err) == "pop from empty stack"
assert Stack(["a"]).peek() == "a"
"ok"
