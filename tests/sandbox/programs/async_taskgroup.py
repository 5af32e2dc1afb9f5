import asyncio


class FetchError(Exception):
    def __init__(self, url, status):
        super().__init__(f"{url}: HTTP {status}")
        self.status = status


async def get(url, attempts):
    attempts[url] = attempts.get(url, 0) + 1
    await asyncio.sleep(0.001)
    if url.endswith("flaky") and attempts[url] < 3:
        raise FetchError(url, 503)
    if url.endswith("missing"):
        raise FetchError(url, 404)
    return {"url": url, "body": url.rsplit("/", 1)[-1]}


async def get_with_retry(url, attempts, tries=3):
    for attempt in range(tries):
        try:
            return await get(url, attempts)
        except FetchError as e:
            if e.status < 500 or attempt == tries - 1:
                raise
            await asyncio.sleep(0.001 * 2**attempt)


async def main():
    attempts = {}
    async with asyncio.TaskGroup() as tg:
        tasks = {u: tg.create_task(get_with_retry(u, attempts)) for u in ("api/one", "api/flaky")}
    assert {u: t.result()["body"] for u, t in tasks.items()} == {"api/one": "one", "api/flaky": "flaky"}
    assert attempts == {"api/one": 1, "api/flaky": 3}
    statuses = []
    try:
        async with asyncio.TaskGroup() as tg:
            tg.create_task(get_with_retry("api/missing", attempts))
            tg.create_task(asyncio.sleep(1))
    except* FetchError as group:
        statuses = [e.status for e in group.exceptions]
    assert statuses == [404]
    return "done"


assert asyncio.run(main()) == "done"
try:
    raise ExceptionGroup("several", [ValueError("v"), TypeError("t")])
except* ValueError as eg:
    assert len(eg.exceptions) == 1
except* TypeError as eg:
    assert str(eg.exceptions[0]) == "t"
"ok"
