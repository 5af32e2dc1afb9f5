from collections import Counter

spent = Counter()
match tools.shop.orders():
    case Ok(orders):
        for order in orders:
            if order["status"] != "returned":
                spent[order["customer"]] += order["total"]
    case Err(error):
        print(f"Could not read the orders: {error.code}: {error.message}")

for customer, total in spent.most_common():
    print(f"{customer:<20} {total:>10.2f} EUR")

spent.most_common(1)[0][0]
