import asyncio
import time


class AsyncCounter:
    def __init__(self, limit):
        self.limit = limit
        self.n = 0

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.n >= self.limit:
            raise StopAsyncIteration
        self.n += 1
        await asyncio.sleep(0)
        return self.n


class Connection:
    def __init__(self, log):
        self.log = log

    async def __aenter__(self):
        await asyncio.sleep(0)
        self.log.append("open")
        return self

    async def __aexit__(self, exc_type, exc, tb):
        self.log.append("close")
        return False


async def ticker(n):
    for i in range(n):
        yield i
        await asyncio.sleep(0)


async def main():
    log = []
    async with Connection(log) as conn:
        log.append(type(conn).__name__)
    assert log == ["open", "Connection", "close"]
    assert [x async for x in AsyncCounter(3)] == [1, 2, 3]
    assert sum([i async for i in ticker(5) if i % 2]) == 4

    event, lock, shared = asyncio.Event(), asyncio.Lock(), []

    async def waiter(name):
        await event.wait()
        async with lock:
            shared.append(name)

    tasks = [asyncio.create_task(waiter(n), name=n) for n in "ab"]
    await asyncio.sleep(0)
    assert shared == []
    event.set()
    done, pending = await asyncio.wait(tasks)
    assert shared == ["a", "b"] and not pending and len(done) == 2

    order = []
    for future in asyncio.as_completed([asyncio.sleep(0.2, "slow"), asyncio.sleep(0.001, "fast")]):
        order.append(await future)
    assert order == ["fast", "slow"]

    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(10)
    except TimeoutError:
        order.append("timeout")
    assert order[-1] == "timeout"

    task = asyncio.create_task(asyncio.sleep(10))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        assert task.cancelled()
    loop = asyncio.get_running_loop()
    assert loop.time() > 0


start = time.perf_counter()
asyncio.run(main())
assert time.perf_counter() - start < 60
"ok"
