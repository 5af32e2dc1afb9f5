from collections import deque
import queue


class MovingAverage:
    def __init__(self, size):
        self.window = deque(maxlen=size)

    def next(self, value):
        self.window.append(value)
        return sum(self.window) / len(self.window)


def sliding_max(nums, k):
    out, candidates = [], deque()
    for i, n in enumerate(nums):
        while candidates and nums[candidates[-1]] <= n:
            candidates.pop()
        candidates.append(i)
        if candidates[0] == i - k:
            candidates.popleft()
        if i >= k - 1:
            out.append(nums[candidates[0]])
    return out


def josephus(n, k):
    circle = deque(range(1, n + 1))
    while len(circle) > 1:
        circle.rotate(1 - k)
        circle.popleft()
    return circle[0]


avg = MovingAverage(3)
assert [avg.next(v) for v in (1, 10, 3, 5)] == [1.0, 5.5, 14 / 3, 6.0]
assert sliding_max([1, 3, -1, -3, 5, 3, 6, 7], 3) == [3, 3, 5, 5, 6, 7]
assert josephus(7, 3) == 4
d = deque("abc", maxlen=4)
d.appendleft("z")
d.extend("de")
assert list(d) == ["b", "c", "d", "e"] and d.maxlen == 4 and repr(deque([1])) == "deque([1])"
d.extendleft("xy")
assert "".join(d) == "yxbc" and d.index("b") == 2 and d.count("x") == 1
pq = queue.PriorityQueue()
for item in [(2, "b"), (1, "a"), (3, "c")]:
    pq.put(item)
assert pq.get()[1] == "a" and pq.qsize() == 2 and not pq.empty()
fifo = queue.Queue()
fifo.put("first")
assert fifo.get_nowait() == "first"
try:
    fifo.get_nowait()
except queue.Empty:
    pass
"ok"
