import asyncio

products = tools.shop.products().unwrap()
tasks = [tools.shop.reorder.start(sku=sku, quantity=10) for sku in products]
await asyncio.gather(*tasks)
print("ordered")
