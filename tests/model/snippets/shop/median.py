import statistics

statistics.median(o["total"] for o in tools.shop.orders().unwrap())
