"""The gateway under load, beside a bare Starlette server on the same machine in the same run.

    python benchmarks/gateway.py [--runs 200] [--readers 500] [--more 2000] [--json]

Measured are: how long `GET /health` takes, alone and while `--runs` runs that were sent at once are executed and
`--readers` idle clients follow the events; how long those runs take, and whether one is lost; and how much memory the
server has before and after `--more` further runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

BARE = """
import socket, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def health(request):
    return JSONResponse({"status": "ok"})

bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
bound.bind(("127.0.0.1", 0))
bound.listen(2048)
print(bound.getsockname()[1], "", flush=True)
uvicorn.Server(uvicorn.Config(Starlette(routes=[Route("/health", health)]), log_level="warning")).run([bound])
"""
READERS = """
import asyncio, sys
port, token, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])

async def follow(ready):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /api/events HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n"
                 f"Authorization: Bearer {token}\\r\\n\\r\\n".encode())
    await reader.readuntil(b"ready")
    ready.release()
    while await reader.read(65536):
        pass

async def main():
    ready = asyncio.Semaphore(0)
    tasks = [asyncio.create_task(follow(ready)) for _ in range(count)]
    for _ in tasks:
        await ready.acquire()
    print(0, flush=True)
    await asyncio.gather(*tasks)

asyncio.run(main())
"""
OURS = Path(__file__).parent.parent / "tests/gateway/endpoints/api_server.py"


def started(stack: ExitStack, *command: str) -> tuple[str, str, int]:
    """Start a server that prints its port and a token; returns its address, the token and its process."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
    stack.callback(process.wait)
    stack.callback(process.kill)
    assert process.stdout is not None
    port, _, token = process.stdout.readline().strip().partition(" ")
    return f"http://127.0.0.1:{port}", token, process.pid


def resident(pid: int) -> float:
    """Memory of a process in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


def share(seconds: list[float], part: float) -> float:
    """The time in milliseconds that this part of the requests did not exceed."""
    return round(sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * part))] * 1000, 2)


async def health(http: httpx.AsyncClient, until: asyncio.Event | None, count: int = 500) -> dict[str, Any]:
    """Ask again and again, 100 times a second, `count` times or until something is over."""
    took: list[float] = []
    while (len(took) < count) if until is None else (not until.is_set() or len(took) < 50):
        began = time.perf_counter()
        (await http.get("/health")).raise_for_status()
        took.append(time.perf_counter() - began)
        await asyncio.sleep(0.01)
    return {"requests": len(took), "p50_ms": share(took, 0.5), "p99_ms": share(took, 0.99), "max_ms": share(took, 1)}


async def ended(http: httpx.AsyncClient, count: int) -> None:
    """Wait until nothing is queued or running."""
    while True:
        counts = (await http.get("/status")).json()["counts"]
        if counts["queued"] == counts["running"] == 0:
            return
        await asyncio.sleep(0.05)


async def accepted(http: httpx.AsyncClient, count: int) -> list[str]:
    """Send so many runs at once; returns those that were accepted."""

    async def one(number: int) -> str:
        answer = await http.post("/api/runs", json={"code": "n * 2", "inputs": {"n": number}})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["run_id"])

    return list(await asyncio.gather(*map(one, range(count))))


async def measured(url: str, token: str, pid: int, wanted: argparse.Namespace) -> dict[str, Any]:
    """Load the gateway, and return what it took."""
    options: dict[str, Any] = {"base_url": url, "headers": {"Authorization": f"Bearer {token}"}, "timeout": 600}
    async with (
        httpx.AsyncClient(**options, limits=httpx.Limits(max_connections=50), trust_env=False) as http,
        httpx.AsyncClient(**options, trust_env=False) as alone,
    ):
        await http.post("/api/runs", json={"code": "1", "wait": True})
        found: dict[str, Any] = {"health_alone": await health(alone, None), "memory_mib_at_first": resident(pid)}
        readers = ExitStack()
        port = url.rpartition(":")[2]
        await asyncio.to_thread(started, readers, "-c", READERS, port, token, str(wanted.readers))
        found["memory_mib_with_readers"] = resident(pid)
        found["health_with_readers"] = await health(alone, None)
        done = asyncio.Event()
        asking = asyncio.create_task(health(alone, done))
        began = time.perf_counter()
        runs = await accepted(http, wanted.runs)
        found["seconds_to_accept"] = round(time.perf_counter() - began, 2)
        await ended(http, wanted.runs)
        found["seconds_to_execute"] = round(time.perf_counter() - began, 2)
        done.set()
        found["health_meanwhile"] = await asking
        reports = [(await http.get(f"/api/runs/{run}")).json() for run in runs]
        found["runs_lost"] = sum(each["value"] != number * 2 for number, each in enumerate(reports))
        readers.close()
        memory = [resident(pid)]
        for _ in range(wanted.more // 500):
            await accepted(http, 500)
            await ended(http, 500)
            memory.append(resident(pid))
        found["memory_mib_every_500_runs"] = memory
    return found


async def bare(url: str) -> dict[str, Any]:
    """The same question to a server that does nothing else."""
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        return await health(http, None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--readers", type=int, default=500)
    parser.add_argument("--more", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="coilclaw-bench-")))
        (folder / "workspace").mkdir()
        cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "coilclaw"
        theirs, _, _ = started(stack, "-c", BARE)
        places = (folder / "home", folder / "workspace", cache, 4)
        ours, token, pid = started(stack, str(OURS), *map(str, places))
        found = {"bare_starlette_health": asyncio.run(bare(theirs)), **asyncio.run(measured(ours, token, pid, wanted))}
        found["ratio_of_health_to_bare_p50"] = round(
            found["health_alone"]["p50_ms"] / found["bare_starlette_health"]["p50_ms"], 2
        )
    for name, value in () if wanted.json else found.items():
        print(f"{name:<28} {value}")
    if wanted.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
