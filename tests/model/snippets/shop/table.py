products = tools.shop.products().unwrap()

width = max(len(p["name"]) for p in products.values())
print(f"{'SKU':<8} {'Name':<{width}} {'Price':>10} {'Items':>6}")
print("-" * (width + 27))
for sku, p in sorted(products.items()):
    print(f"{sku:<8} {p['name']:<{width}} {p['price']:>10.2f} {p['items']:>6}")

len(products)
