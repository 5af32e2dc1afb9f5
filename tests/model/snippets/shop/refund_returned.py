from decimal import Decimal

refunded = Decimal(0)
for order in tools.shop.orders(status="returned").unwrap():
    try:
        refund = tools.shop.refund(order_id=order["id"], amount=order["total"], reason="Order returned").unwrap()
    except ToolCallError as e:
        print(f"Refund of {order['id']} failed: {e}")
    else:
        refunded += refund["amount"]
        print(f"{refund['order_id']}: {refund['amount']} EUR, booked on {refund['booked_on']:%Y-%m-%d}")

refunded
