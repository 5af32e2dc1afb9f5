"""The gateway under load, beside a bare Starlette server on the same machine at the same moments.

    python benchmarks/gateway.py [--runs 200] [--readers 500] [--rounds 3] [--more 10000] [--write]

In every round, `--runs` runs are sent at once while `--readers` clients follow the events. Another process asks both
servers for `/health` 50 times a second, whether or not the earlier answers have come: before, while the readers are
connected, and until the last run has ended. Also measured are how long the runs take and whether one is lost, how
long it takes until the last reader has every event, and the server's memory during `--more` further runs.

With `--write`, the numbers go to `benchmarks/results/gateway.json`.
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
from statistics import median
from typing import Any, Final

import httpx
from suite.record import machine

_BARE: Final = """
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
_READERS: Final = """
import asyncio, sys, time
port, token, count, runs = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

async def follow(ready):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    writer.write(f"GET /api/events HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n"
                 f"Authorization: Bearer {token}\\r\\n\\r\\n".encode())
    await reader.readuntil(b"ready")
    ready.release()
    rest, seen = b"", 0
    while seen < runs:
        data = await reader.read(65536)
        assert data, "the stream has ended"
        lines = (rest + data).split(b"\\n")
        rest = lines.pop()
        seen += sum(line.startswith(b"event: run.finished") for line in lines)
    return seen, reader, writer

async def main():
    ready = asyncio.Semaphore(0)
    tasks = [asyncio.create_task(follow(ready)) for _ in range(count)]
    for _ in tasks:
        await ready.acquire()
    print("ready", flush=True)
    done = await asyncio.gather(*tasks)
    print(time.monotonic(), sum(seen == runs for seen, _, _ in done), flush=True)

asyncio.run(main())
"""
_PROBE: Final = """
import asyncio, json, sys, time

class Client:
    def __init__(self, port):
        self.port, self.free, self.took = port, [], []
        self.request = f"GET /health HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\n".encode()

    async def ask(self):
        began = time.perf_counter()
        reader, writer = self.free.pop() if self.free else await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(self.request)
        head = await reader.readuntil(b"\\r\\n\\r\\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = next(row for row in head.lower().split(b"\\r\\n") if row.startswith(b"content-length:"))
        await reader.readexactly(int(length.split(b":")[1]))
        self.took.append(time.perf_counter() - began)
        self.free.append((reader, writer))

async def main():
    clients, tasks = [Client(int(port)) for port in sys.argv[1:]], []
    for client in clients:
        await client.ask()
        client.took.clear()
    print("ready", flush=True)
    over = asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    due = time.perf_counter()
    while not over.done():
        tasks += [asyncio.create_task(client.ask()) for client in clients]
        due = max(due + 0.02, time.perf_counter())
        await asyncio.sleep(due - time.perf_counter())
    await asyncio.gather(*tasks)
    print(json.dumps([client.took for client in clients]), flush=True)

asyncio.run(main())
"""
_FOLDER: Final = Path(__file__).resolve().parent
_OURS: Final = _FOLDER.parent / "tests/gateway/endpoints/api_server.py"
_BATCH: Final = 500


class Process:
    """A process that prints a line when it is ready."""

    def __init__(self, stack: ExitStack, *command: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        stack.push(self._process)
        stack.callback(self._process.kill)
        self.pid = self._process.pid
        self.said = self.line()

    def line(self) -> str:
        """The next line that it prints."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, "the process has ended"
        return line

    def end(self) -> None:
        """Let it see the end of its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()


class Servers:
    """The gateway and a bare server beside it."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        (folder / "workspace").mkdir()
        cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "coilclaw"
        self._bare = Process(stack, "-c", _BARE).said.strip()
        ours = Process(stack, str(_OURS), *map(str, (folder / "home", folder / "workspace", cache, 4)))
        self.pid = ours.pid
        self.port, _, self.token = ours.said.partition(" ")

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=600,
            limits=httpx.Limits(max_connections=200),
            trust_env=False,
        )

    def probe(self, stack: ExitStack) -> Process:
        """Ask both for their health from now on."""
        return Process(stack, "-c", _PROBE, self.port, self._bare)

    def memory(self) -> float:
        """Memory of the gateway in MiB."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


def answered(probe: Process) -> dict[str, Any]:
    """End a probe, and return how long each server took to answer."""
    probe.end()
    ours, bare = (_summary(took) for took in json.loads(probe.line()))
    ratio = {f"{name}_ratio": round(ours[f"{name}_ms"] / bare[f"{name}_ms"], 2) for name in ("p50", "p99")}
    return {"gateway": ours, "bare_starlette": bare, **ratio}


def _summary(seconds: list[float]) -> dict[str, Any]:
    ordered = sorted(seconds)

    def part(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000, 2)

    return {"requests": len(ordered), "p50_ms": part(0.5), "p99_ms": part(0.99), "max_ms": part(1)}


async def ended(http: httpx.AsyncClient) -> None:
    """Wait until nothing is queued or running."""
    while True:
        counts = (await http.get("/status")).json()["counts"]
        if counts["queued"] == counts["running"] == 0:
            return
        await asyncio.sleep(0.1)


async def accepted(http: httpx.AsyncClient, count: int) -> list[str]:
    """Send so many runs at once; returns those that were accepted."""

    async def one(number: int) -> str:
        answer = await http.post("/api/runs", json={"code": "n * 2", "inputs": {"n": number}})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["run_id"])

    return list(await asyncio.gather(*map(one, range(count))))


async def one_round(servers: Servers, runs: int, readers: int) -> dict[str, Any]:
    """Load the gateway once, and return what it took."""
    found: dict[str, Any] = {"load_average": os.getloadavg()[0]}
    with ExitStack() as stack:
        probe = servers.probe(stack)
        await asyncio.sleep(5)
        found["alone"] = answered(probe)
        following = Process(stack, "-c", _READERS, servers.port, servers.token, str(readers), str(runs))
        probe = servers.probe(stack)
        await asyncio.sleep(5)
        found["with_readers"] = answered(probe)
        found["memory_mib_with_readers"] = servers.memory()
        async with servers.client() as http:
            probe = servers.probe(stack)
            began = time.monotonic()
            ids = await accepted(http, runs)
            found["seconds_to_accept"] = round(time.monotonic() - began, 2)
            await ended(http)
            over = time.monotonic()
            found["seconds_to_execute"] = round(over - began, 2)
            when, complete = (await asyncio.to_thread(following.line)).split()
            found["meanwhile"] = await asyncio.to_thread(answered, probe)
            found["seconds_until_all_readers_had_all_events"] = round(max(0.0, float(when) - over), 2)
            found["readers_with_all_events"] = int(complete)
            reports = [(await http.get(f"/api/runs/{run}")).json() for run in ids]
            found["runs_lost"] = sum(each["value"] != number * 2 for number, each in enumerate(reports))
    return found


async def memory(servers: Servers, runs: int) -> list[float]:
    """The gateway's memory while it executes so many runs."""
    found = [servers.memory()]
    async with servers.client() as http:
        for _ in range(runs // _BATCH):
            await accepted(http, _BATCH)
            await ended(http)
            found.append(servers.memory())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--readers", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--more", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    wanted = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="coilclaw-bench-")))
        servers = Servers(stack, folder)
        asyncio.run(_warm(servers))
        found: dict[str, Any] = {"machine": machine(), "runs": wanted.runs, "readers": wanted.readers, "rounds": []}
        for _ in range(wanted.rounds):
            found["rounds"].append(asyncio.run(one_round(servers, wanted.runs, wanted.readers)))
            print(json.dumps(found["rounds"][-1]), flush=True)
        for name in ("alone", "with_readers", "meanwhile"):
            of_rounds = [each[name] for each in found["rounds"]]
            for server in ("gateway", "bare_starlette"):
                found[f"median_p99_ms_{name}_{server}"] = median(each[server]["p99_ms"] for each in of_rounds)
        if wanted.more:
            found["memory_mib_every_500_runs"] = asyncio.run(memory(servers, wanted.more))
    if wanted.write:
        (_FOLDER / "results" / "gateway.json").write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps({name: value for name, value in found.items() if name != "rounds"}, indent=2))


async def _warm(servers: Servers) -> None:
    async with servers.client() as http:
        for _ in range(4):
            await http.post("/api/runs", json={"code": "1", "wait": True})


if __name__ == "__main__":
    main()
