from collections import defaultdict
from decimal import Decimal

money: dict[str, Decimal] = defaultdict(lambda: Decimal("0"))

for order in tools.shop.orders().unwrap():
    for line in order["lines"]:
        money[line["sku"]] += line["quantity"] * line["price"]

sku, amount = max(money.items(), key=lambda item: item[1])
[sku, amount]
