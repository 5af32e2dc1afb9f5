orders = tools.shop.orders().unwrap()

sum(
    line["quantity"]
    for order in orders
    for line in order["lines"]
    if line["sku"] == "MUG"
)
