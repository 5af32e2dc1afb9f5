orders = tools.shop.orders().unwrap()
sum(o["total"] for o in orders if o["status"] != "returned")
