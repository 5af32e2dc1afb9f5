from collections import defaultdict
from decimal import Decimal

sums = defaultdict(Decimal)
for order in tools.shop.orders().unwrap():
    sums[order["customer"]] += order["total"]

dict(sums)
