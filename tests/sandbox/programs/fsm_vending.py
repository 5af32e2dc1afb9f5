from enum import Enum, auto
from typing import Callable, Dict, Tuple


class State(Enum):
    IDLE = auto()
    HAS_MONEY = auto()
    VENDING = auto()


class VendingMachine:
    PRICES = {"cola": 150, "chips": 100}

    def __init__(self, stock: Dict[str, int]):
        self.state = State.IDLE
        self.credit = 0
        self.stock = dict(stock)
        self._transitions: Dict[Tuple[State, str], Callable] = {
            (State.IDLE, "coin"): self._coin,
            (State.HAS_MONEY, "coin"): self._coin,
            (State.HAS_MONEY, "select"): self._select,
            (State.HAS_MONEY, "refund"): self._refund,
        }

    def handle(self, event: str, *args):
        action = self._transitions.get((self.state, event))
        if action is None:
            return f"{event} ignored in {self.state.name}"
        return action(*args)

    def _coin(self, cents: int):
        self.credit += cents
        self.state = State.HAS_MONEY
        return self.credit

    def _select(self, item: str):
        price = self.PRICES.get(item)
        if price is None:
            return "unknown item"
        if not self.stock.get(item):
            return "sold out"
        if self.credit < price:
            return f"{price - self.credit} short"
        self.stock[item] -= 1
        self.credit -= price
        return item, self._refund()

    def _refund(self):
        change, self.credit, self.state = self.credit, 0, State.IDLE
        return change


m = VendingMachine({"cola": 1})
assert m.handle("select", "cola") == "select ignored in IDLE"
assert m.handle("coin", 100) == 100 and m.handle("select", "cola") == "50 short"
m.handle("coin", 100)
assert m.handle("select", "chips") == "sold out" and m.handle("select", "gum") == "unknown item"
assert m.handle("select", "cola") == ("cola", 50) and m.state is State.IDLE and m.stock == {"cola": 0}
"ok"
