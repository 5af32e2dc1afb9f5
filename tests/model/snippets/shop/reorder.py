import asyncio

skus = list(tools.shop.products().unwrap())
stocks = await asyncio.gather(*[tools.shop.stock.start(sku=s) for s in skus])
low = [s for s, r in zip(skus, stocks) if r.unwrap() < 5]
print("Low:", ", ".join(low))

references = await asyncio.gather(*[tools.shop.reorder.start(sku=s, quantity=20) for s in low])
sorted(r.unwrap() for r in references)
