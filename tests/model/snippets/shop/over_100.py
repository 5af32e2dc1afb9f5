[o["id"] for o in tools.shop.orders().unwrap() if o["total"] > 100]
