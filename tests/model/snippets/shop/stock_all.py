import asyncio

products = tools.shop.products().unwrap()
skus = list(products)
results = await asyncio.gather(*[tools.shop.stock.start(sku=sku) for sku in skus])
{sku: result.unwrap() for sku, result in zip(skus, results)}
