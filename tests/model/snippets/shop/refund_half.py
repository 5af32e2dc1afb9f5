from decimal import Decimal, ROUND_HALF_UP

order = next((o for o in tools.shop.orders().unwrap() if o["id"] == "o03"), None)
if order is None:
    raise LookupError("There is no order o03")

half = (order["total"] / 2).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
tools.shop.refund(order_id="o03", amount=half, reason="Half of the total").unwrap()
