import asyncio

async def main():
    products = tools.shop.products().unwrap()
    results = await asyncio.gather(*(tools.shop.stock.start(sku=sku) for sku in products))
    names = []
    for product, result in zip(products.values(), results):
        match result:
            case Ok(0):
                names.append(product["name"])
            case Ok(_):
                pass
            case Err(error):
                print(f"{product['sku']}: {error.code} {error.message}")
    return names

await main()
