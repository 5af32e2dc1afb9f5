from decimal import Decimal, ROUND_HALF_UP

products = tools.shop.products().unwrap()
pot = next(p for p in products.values() if "pot" in p["name"].lower())
rate = tools.shop.rate(currency="USD").unwrap()
(pot["price"] * rate).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
