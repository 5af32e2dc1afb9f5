import asyncio


async def produce(queue: asyncio.Queue[int | None], count: int) -> None:
    for number in range(count):
        await queue.put(number)
        await asyncio.sleep(0)
    await queue.put(None)


async def square(source: asyncio.Queue[int | None], sink: asyncio.Queue[int | None]) -> None:
    while (number := await source.get()) is not None:
        await sink.put(number * number)
    await sink.put(None)


async def collect(queue: asyncio.Queue[int | None]) -> list[int]:
    return [number async for number in drain(queue)]


async def drain(queue: asyncio.Queue[int | None]):
    while (number := await queue.get()) is not None:
        yield number


async def main() -> list[int]:
    first: asyncio.Queue[int | None] = asyncio.Queue(maxsize=2)
    second: asyncio.Queue[int | None] = asyncio.Queue(maxsize=2)
    async with asyncio.TaskGroup() as group:
        group.create_task(produce(first, 6))
        group.create_task(square(first, second))
        result = group.create_task(collect(second))
    return result.result()


assert asyncio.run(main()) == [0, 1, 4, 9, 16, 25]

"ok"
