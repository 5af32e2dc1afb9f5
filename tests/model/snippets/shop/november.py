orders = tools.shop.orders().unwrap()
count = 0
for order in orders:
    placed = order["placed_at"]
    if placed.year == 2026 and placed.month == 11:
        count += 1
count
