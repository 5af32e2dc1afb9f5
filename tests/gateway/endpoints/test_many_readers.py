"""Many readers of `GET /api/events` at once: each sees each event once and in order, and none holds up the others."""

from __future__ import annotations

import asyncio
import re
import socket

from tests.gateway.endpoints.conftest import ApiServer, Serve

READERS, RUNS = 60, 40


def _request(server: ApiServer, cursor: str | None = None) -> bytes:
    host = server.url.rpartition("/")[2]
    more = f"Last-Event-ID: {cursor}\r\n" if cursor else ""
    return (
        f"GET /api/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: {server.headers['Authorization']}\r\n{more}\r\n"
    ).encode()


async def _ids(server: ApiServer, ready: asyncio.Semaphore, cursor: str | None = None) -> list[str]:
    """The ids of all events until every run has finished."""
    port = int(server.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    writer.write(_request(server, cursor))
    await reader.readuntil(b"ready")
    ready.release()
    text = f"id: {cursor}\r\n" if cursor else (await reader.readuntil(b"\r\n\r\n")).decode()
    while text.count("event: run.finished") < RUNS or not text.endswith("\r\n\r\n"):
        text += (await reader.read(65536)).decode()
    writer.close()
    return re.findall(r"^id: (\S+)\r?$", text, re.MULTILINE)


def test_each_reader_sees_each_event_once_and_in_order_beside_one_that_takes_nothing(serve: Serve) -> None:
    server = serve()

    async def main() -> list[list[str]]:
        ready = asyncio.Semaphore(0)
        tasks = [asyncio.create_task(_ids(server, ready)) for _ in range(READERS)]
        for _ in tasks:
            await ready.acquire()
        await asyncio.gather(*(asyncio.to_thread(server.run, str(number)) for number in range(RUNS)))
        return await asyncio.wait_for(asyncio.gather(*tasks), 120)

    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as stuck:
        stuck.sendall(_request(server))
        seen = asyncio.run(main())
        late = asyncio.run(_ids(server, asyncio.Semaphore(0), seen[0][0]))
    assert len(set(seen[0])) == len(seen[0])
    assert all(each == seen[0] for each in (*seen, late))
