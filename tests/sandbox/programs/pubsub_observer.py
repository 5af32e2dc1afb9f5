from __future__ import annotations
from typing import Protocol


class Observer(Protocol):
    def update(self, subject: Stock) -> None: ...


class Stock:
    def __init__(self, symbol: str, price: float) -> None:
        self.symbol = symbol
        self._price = price
        self._observers: set[Observer] = set()

    def attach(self, *observers: Observer) -> None:
        self._observers |= set(observers)

    def detach(self, observer: Observer) -> None:
        self._observers.discard(observer)

    @property
    def price(self) -> float:
        return self._price

    @price.setter
    def price(self, value: float) -> None:
        if value != self._price:
            self._price = value
            for observer in self._observers:
                observer.update(self)


class Alert:
    def __init__(self, limit: float):
        self.limit = limit
        self.fired: list[str] = []

    def update(self, subject: Stock) -> None:
        if subject.price > self.limit:
            self.fired.append(f"{subject.symbol} above {self.limit:g}")


class History:
    def __init__(self):
        self.prices: list[float] = []

    def update(self, subject):
        self.prices.append(subject.price)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.prices.clear()


stock, alert = Stock("ACME", 10.0), Alert(12)
with History() as history:
    stock.attach(alert, history)
    for p in (11, 11, 12.5, 9):
        stock.price = p
    assert history.prices == [11, 12.5, 9]
    stock.detach(history)
    stock.price = 20
    assert len(history.prices) == 3
assert history.prices == [] and alert.fired == ["ACME above 12"] * 2
"ok"
