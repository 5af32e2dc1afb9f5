# What is running out? Counts all products at once, then orders what is missing most, if a person agrees.
import asyncio
from dataclasses import dataclass


@dataclass
class Shortage:
    product: str
    name: str
    missing: int


products = tools.shop.products.list().unwrap()
counts = await asyncio.gather(*(tools.shop.stock.count.start(product=p["id"]) for p in products))

shortages = []
for product, stock in zip(products, counts):
    on_shelf = stock.unwrap()["on_shelf"]
    print(
        f"{product['name']:<12} {on_shelf:>3} of {product['wanted']:>3}  {'#' * (20 * on_shelf // product['wanted'])}"
    )
    if on_shelf < product["wanted"]:
        shortages.append(Shortage(product["id"], product["name"], product["wanted"] - on_shelf))

worst = max(shortages, key=lambda each: each.missing)
match tools.shop.orders.place(product=worst.product, quantity=worst.missing):
    case Ok(order):
        print(f"ordered {worst.missing} x {worst.name}: {order['reference']}")
    case Err(code, message):
        print(f"not ordered: {code}")

shortages
