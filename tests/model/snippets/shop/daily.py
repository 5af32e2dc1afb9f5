from datetime import timezone
from decimal import Decimal

days = {}
for order in tools.shop.orders().unwrap():
    day = order["placed_at"].astimezone(timezone.utc).date()
    if day.month == 11:
        key = day.isoformat()
        days[key] = days.get(key, Decimal("0")) + order["total"]

days
