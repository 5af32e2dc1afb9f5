"""A server of the API in a process of its own, that can be killed; everybody who asks is the operator."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path

import uvicorn

from coilclaw.app import CoilClaw
from coilclaw.gateway import Gateway, Principal, Scope, guard, make_application
from coilclaw.sdk import ToolContext, define_tool


@define_tool(id="notes.add", risk="write")
def add(ctx: ToolContext, text: str) -> int:
    """Append a line to a file."""
    with (ctx.workspace / "notes.txt").open("a") as file:
        file.write(f"{text}\n")
    return 1


@define_tool(id="crm.lookup", risk="read")
def lookup(ctx: ToolContext, email: str) -> dict[str, str]:
    """Find a customer."""
    return {"email": email}


async def serve(home: Path, workspace: Path, cache: Path, port: int, workers: int) -> None:
    def admit(self: object, endpoint: object) -> Principal:
        return Principal(kind="token", name="ada", scope=Scope.OPERATOR)

    guard.Guard._admit = admit  # type: ignore[assignment,method-assign]
    claw = CoilClaw.open(home, workspace=workspace, tools=[add, lookup], cache=cache, workers=workers, pool=2)
    listening = socket.create_server(("127.0.0.1", port))
    config = uvicorn.Config(make_application(Gateway(claw)), log_level="warning", lifespan="on")
    server = uvicorn.Server(config)
    print(listening.getsockname()[1], flush=True)  # noqa: T201
    try:
        await server.serve(sockets=[listening])
    finally:
        await asyncio.to_thread(claw.close)


if __name__ == "__main__":
    home, workspace, cache, port, workers = sys.argv[1:]
    asyncio.run(serve(Path(home), Path(workspace), Path(cache), int(port), int(workers)))
