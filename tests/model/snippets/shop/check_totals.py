def line_sum(order):
    return sum(line["quantity"] * line["price"] for line in order["lines"])

orders = tools.shop.orders().unwrap()
wrong = [o for o in orders if line_sum(o) != o["total"]]
for o in wrong:
    print(f"{o['id']}: total {o['total']}, lines {line_sum(o)}")

not wrong
