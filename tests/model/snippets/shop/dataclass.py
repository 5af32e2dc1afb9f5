from dataclasses import dataclass
from decimal import Decimal

@dataclass
class Summary:
    customer: str
    number: int = 0
    total: Decimal = Decimal("0")

    def add(self, order):
        self.number += 1
        self.total += order["total"]

summaries: dict[str, Summary] = {}
for order in tools.shop.orders().unwrap():
    name = order["customer"]
    summaries.setdefault(name, Summary(name)).add(order)

ranked = sorted(summaries.values(), key=lambda s: s.total, reverse=True)
[[s.customer, s.number, s.total] for s in ranked]
