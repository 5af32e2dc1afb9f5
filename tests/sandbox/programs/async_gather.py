import asyncio
from typing import List


async def fetch(name: str, delay: float) -> str:
    await asyncio.sleep(delay)
    if name == "bad":
        raise ConnectionError(f"{name} failed")
    return name.upper()


async def worker(queue: asyncio.Queue, results: List[str]) -> None:
    while True:
        item = await queue.get()
        try:
            results.append(await fetch(item, 0.001))
        finally:
            queue.task_done()


async def main() -> None:
    values = await asyncio.gather(*(fetch(n, 0.001 * i) for i, n in enumerate(["c", "b", "a"])))
    assert values == ["C", "B", "A"]

    mixed = await asyncio.gather(fetch("x", 0), fetch("bad", 0), return_exceptions=True)
    assert mixed[0] == "X" and isinstance(mixed[1], ConnectionError)

    try:
        await asyncio.wait_for(fetch("slow", 5), timeout=0.01)
    except asyncio.TimeoutError:
        timed_out = True
    assert timed_out

    queue: asyncio.Queue = asyncio.Queue()
    for n in "pqrs":
        queue.put_nowait(n)
    results: List[str] = []
    tasks = [asyncio.create_task(worker(queue, results)) for _ in range(2)]
    await queue.join()
    for t in tasks:
        t.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert sorted(results) == ["P", "Q", "R", "S"]

    sem = asyncio.Semaphore(2)
    active = peak = 0

    async def limited(i):
        nonlocal active, peak
        async with sem:
            active += 1
            peak = max(peak, active)
            await asyncio.sleep(0.001)
            active -= 1
            return i * i

    assert await asyncio.gather(*[limited(i) for i in range(5)]) == [0, 1, 4, 9, 16]
    assert peak == 2


asyncio.run(main())
"ok"
