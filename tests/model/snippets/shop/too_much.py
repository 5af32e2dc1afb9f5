from decimal import Decimal

code = None
try:
    tools.shop.refund(order_id="o01", amount=Decimal("10000")).unwrap()
except ToolCallError as e:
    code = e.code
code
