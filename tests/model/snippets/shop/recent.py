from datetime import datetime, timezone

orders = tools.shop.orders(status="paid", after=datetime(2026, 10, 30, 23, 59, 59, tzinfo=timezone.utc)).unwrap()
[order["id"] for order in orders]
