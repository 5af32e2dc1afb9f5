from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Callable, Iterable

Discount = Callable[["Cart"], Decimal]


@dataclass(frozen=True)
class Product:
    sku: str
    price: Decimal


@dataclass
class Line:
    product: Product
    quantity: int = 1

    @property
    def subtotal(self) -> Decimal:
        return self.product.price * self.quantity


@dataclass
class Cart:
    lines: dict[str, Line] = field(default_factory=dict)
    discounts: list[Discount] = field(default_factory=list)

    def add(self, product: Product, quantity: int = 1) -> Cart:
        if (line := self.lines.get(product.sku)) is None:
            self.lines[product.sku] = Line(product, quantity)
        else:
            line.quantity += quantity
        return self

    def __iter__(self) -> Iterable[Line]:
        return iter(self.lines.values())

    def __len__(self) -> int:
        return sum(line.quantity for line in self)

    @property
    def subtotal(self) -> Decimal:
        return sum((line.subtotal for line in self), Decimal("0"))

    @property
    def total(self) -> Decimal:
        off = sum((d(self) for d in self.discounts), Decimal(0))
        return max(Decimal(0), self.subtotal - off).quantize(Decimal("0.01"))


def percent(rate: int, minimum: str) -> Discount:
    return lambda cart: cart.subtotal * rate / 100 if cart.subtotal >= Decimal(minimum) else Decimal(0)


def three_for_two(sku: str) -> Discount:
    def discount(cart: Cart) -> Decimal:
        line = cart.lines.get(sku)
        return line.product.price * (line.quantity // 3) if line else Decimal(0)

    return discount


tea, cup = Product("tea", Decimal("4.50")), Product("cup", Decimal("12.00"))
cart = Cart(discounts=[percent(10, "40"), three_for_two("tea")])
cart.add(tea, 2).add(cup, 2)
assert cart.total == Decimal("33.00") and len(cart) == 4
cart.add(tea, 2)
assert cart.subtotal == Decimal("42.00") and cart.total == Decimal("33.30")
assert f"{cart.total:>10}" == "     33.30"
"ok"
