orders = tools.shop.orders().unwrap()
max(orders, key=lambda o: o["total"])["id"]
