totals = [o["total"] for o in tools.shop.orders().unwrap()]
round(sum(totals) / len(totals), 2)
