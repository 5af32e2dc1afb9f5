from collections import deque
from typing import Callable, Deque


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class SlidingWindow:
    def __init__(self, limit: int, window: float, clock: Callable[[], float]) -> None:
        self._limit = limit
        self._window = window
        self._clock = clock
        self._hits: Deque[float] = deque()

    def allow(self) -> bool:
        now = self._clock()
        while self._hits and self._hits[0] <= now - self._window:
            self._hits.popleft()
        if len(self._hits) >= self._limit:
            return False
        self._hits.append(now)
        return True


class TokenBucket:
    def __init__(self, rate, capacity, clock):
        self.rate, self.capacity, self.clock = rate, capacity, clock
        self.tokens = capacity
        self.last = clock()

    def take(self, n=1):
        now = self.clock()
        self.tokens = min(self.capacity, self.tokens + (now - self.last) * self.rate)
        self.last = now
        if self.tokens < n:
            return False
        self.tokens -= n
        return True


clock = FakeClock()
limiter = SlidingWindow(3, 10, clock)
assert [limiter.allow() for _ in range(4)] == [True, True, True, False]
clock.advance(10.5)
assert limiter.allow()
bucket = TokenBucket(rate=2, capacity=4, clock=clock)
assert bucket.take(4) and not bucket.take()
clock.advance(1)
assert bucket.take(2) and not bucket.take()
"ok"
