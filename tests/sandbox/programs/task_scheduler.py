import heapq
import itertools
from typing import Callable, List, Tuple


class Simulation:
    """Discrete event simulation with a virtual clock."""

    def __init__(self) -> None:
        self.now = 0
        self._queue: List[Tuple[int, int, Callable, tuple]] = []
        self._counter = itertools.count()
        self.trace: List[str] = []

    def at(self, delay: int, action: Callable, *args) -> None:
        heapq.heappush(self._queue, (self.now + delay, next(self._counter), action, args))

    def log(self, text: str) -> None:
        self.trace.append(f"{self.now:>3} {text}")

    def run(self, until: int = 10**9) -> int:
        steps = 0
        while self._queue and self._queue[0][0] <= until:
            self.now, _, action, args = heapq.heappop(self._queue)
            action(*args)
            steps += 1
        return steps


class Shop:
    def __init__(self, sim: Simulation, desks: int) -> None:
        self.sim, self.free = sim, desks
        self.waiting: List[Tuple[str, int]] = []

    def arrive(self, name: str, work: int) -> None:
        self.sim.log(f"{name} arrives")
        self.waiting.append((name, work))
        self._serve()

    def _serve(self) -> None:
        while self.free and self.waiting:
            name, work = self.waiting.pop(0)
            self.free -= 1
            self.sim.log(f"{name} served")
            self.sim.at(work, self._leave, name)

    def _leave(self, name: str) -> None:
        self.free += 1
        self.sim.log(f"{name} leaves")
        self._serve()


sim = Simulation()
shop = Shop(sim, desks=1)
for delay, name, work in [(0, "ana", 5), (2, "ben", 4), (3, "cy", 1)]:
    sim.at(delay, shop.arrive, name, work)
assert sim.run() == 6 and sim.now == 10
print("\n".join(sim.trace))
assert sim.trace[-2:] == ["  9 cy served", " 10 cy leaves"]
assert sim.trace[4:6] == ["  5 ana leaves", "  5 ben served"]
"ok"
