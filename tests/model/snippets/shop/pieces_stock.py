import asyncio

products = tools.shop.products().unwrap()

async def pieces(sku, product):
    packages = (await tools.shop.stock.start(sku=sku)).unwrap()
    return sku, packages * product["items"]

async with asyncio.TaskGroup() as group:
    tasks = [group.create_task(pieces(sku, product)) for sku, product in products.items()]

dict(task.result() for task in tasks)
