import heapq
import itertools
from collections.abc import Callable


class Scheduler:
    def __init__(self) -> None:
        self.now = 0.0
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def after(self, delay: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._queue, (self.now + delay, next(self._order), action))

    def run(self, until: float = float("inf")) -> None:
        while self._queue and self._queue[0][0] <= until:
            self.now, _, action = heapq.heappop(self._queue)
            action()


log: list[tuple[float, str]] = []
scheduler = Scheduler()


def every(interval: float, name: str) -> None:
    def tick() -> None:
        log.append((scheduler.now, name))
        scheduler.after(interval, tick)

    scheduler.after(interval, tick)


every(2, "two")
every(3, "three")
scheduler.run(until=6)
assert log == [(2, "two"), (3, "three"), (4, "two"), (6, "three"), (6, "two")]

"ok"
