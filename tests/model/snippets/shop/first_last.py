orders = tools.shop.orders().unwrap()
times = [o["placed_at"] for o in orders]
span = max(times) - min(times)
[span.days, span.seconds // 3600]
