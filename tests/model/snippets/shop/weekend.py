orders = tools.shop.orders().unwrap()
[o["id"] for o in orders if o["placed_at"].weekday() >= 5]
