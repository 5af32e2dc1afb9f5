import heapq
from dataclasses import dataclass, field
from typing import Any, List


@dataclass(order=True)
class Task:
    priority: int
    name: str = field(compare=False)
    payload: Any = field(compare=False, default=None)


class MinHeap:
    def __init__(self):
        self._data: List = []

    def __len__(self):
        return len(self._data)

    def push(self, item):
        self._data.append(item)
        i = len(self._data) - 1
        while i > 0 and self._data[i] < self._data[(i - 1) // 2]:
            parent = (i - 1) // 2
            self._data[i], self._data[parent] = self._data[parent], self._data[i]
            i = parent

    def pop(self):
        if not self._data:
            raise IndexError("empty heap")
        top, last = self._data[0], self._data.pop()
        if self._data:
            self._data[0] = last
            self._sift_down(0)
        return top

    def _sift_down(self, i):
        n = len(self._data)
        while True:
            smallest = i
            for child in (2 * i + 1, 2 * i + 2):
                if child < n and self._data[child] < self._data[smallest]:
                    smallest = child
            if smallest == i:
                break
            self._data[i], self._data[smallest] = self._data[smallest], self._data[i]
            i = smallest


heap = MinHeap()
for n in [5, 3, 8, 1, 9, 2]:
    heap.push(n)
assert [heap.pop() for _ in range(len(heap))] == [1, 2, 3, 5, 8, 9]
queue = [Task(3, "sweep"), Task(1, "alarm", {"loud": True}), Task(2, "cook")]
heapq.heapify(queue)
assert heapq.heappop(queue).name == "alarm"
assert heapq.heappushpop(queue, Task(0, "now")).name == "now"
assert heapq.nlargest(2, [1, 9, 4, 7]) == [9, 7] and list(heapq.merge([1, 4], [2, 3])) == [1, 2, 3, 4]
"ok"
