"""A server of the API in a process of its own, that can be killed; it prints its port and an operator's token."""

from __future__ import annotations

import sys
from pathlib import Path

from coilclaw.access import Scope
from coilclaw.app import CoilClaw
from coilclaw.gateway import Address, Gateway, Server, bound_socket
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


def serve(home: str, workspace: str, cache: str, workers: int) -> None:
    with (
        CoilClaw.open(
            home, workspace=workspace, tools=[add, lookup], cache=Path(cache), workers=workers, pool=2
        ) as claw,
        bound_socket("127.0.0.1", 0) as bound,
    ):
        port = bound.getsockname()[1]
        token = claw.access.tokens.create(Scope.OPERATOR, name="ada").text

        def say() -> None:
            print(port, token, flush=True)  # noqa: T201

        Server(Gateway(claw, Address(port=port)), bound, started=say).run()


if __name__ == "__main__":
    home, workspace, cache, workers = sys.argv[1:]
    serve(home, workspace, cache, int(workers))
