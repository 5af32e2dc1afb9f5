"""Lives of a conversation: processes that work on it, one of which is killed at a commit.

Run as a program, this reads plans from stdin, one JSON object in a line, and answers each with what came of it. The
processes are forked by one that has loaded everything and has no threads.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.agent.scripted import Scripted, call, code, say

from coilclaw.agent import Agent, NothingToResume
from coilclaw.app import CoilClaw
from coilclaw.providers import ChatRequest, ChatResponse
from coilclaw.sdk import ToolContext, define_tool
from coilclaw.store import Database

MOST_LIVES = 8


@define_tool(id="shelf.look", risk="read")
def look(ctx: ToolContext) -> str:
    """Look."""
    return "a shelf"


@define_tool(id="shelf.note", risk="write")
def note(ctx: ToolContext, line: str) -> str:
    """Every execution shows."""
    place = os.open(ctx.workspace / "done", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    os.write(place, f"{line}\n".encode())
    os.close(place)
    return "noted"


def model(request: ChatRequest) -> ChatResponse:
    """Notes one line with a snippet and one directly, whatever comes of that; knows no more than what it is told."""
    results = sum(message.role == "tool" for message in request.messages)
    replies = {0: code("tools.shelf.look()\ntools.shelf.note(line='one').ok"), 1: call("shelf__note", line="two")}
    return replies.get(results) or say("That is all.")


def live(home: Path, workspace: Path, cache: str, kill: tuple[int, bool] | None) -> str:
    """Work on the conversation once: begin it, or decide what it waits for and resume it."""
    if kill is not None:
        _kill_at(*kill)
    with CoilClaw.open(home, workspace=workspace, tools=[look, note], cache=cache, pool=0) as claw:
        agent = Agent(claw, Scripted(model))
        known = list(claw.memory.list())
        if not known or not known[0].turns:
            named = known[0].conversation_id if known else None
            return asyncio.run(agent.answer("Note two lines", conversation=named)).status
        for record in claw.runs.of_conversation(known[0].conversation_id):
            for asked in claw.approvals.pending(record.run_id):
                claw.approvals.approve(asked.id, by="ada")
        try:
            answer = asyncio.run(agent.resume(known[0].conversation_id))
        except NothingToResume:
            return "answered"
        for each in answer.unknown:
            run_id = str(claw.receipts.find(each.receipt_ref).run_id)
            claw.resume(run_id, unknown="failed")
        return answer.status


def _kill_at(number: int, before: bool) -> None:
    """Kill this process at its commit of a number, before it or after it."""
    commits, transaction = iter(range(1, 10_000)), Database.transaction

    @contextmanager
    def counted(self: Database, **options: Any) -> Iterator[Any]:
        last = next(commits) == number
        with transaction(self, **options) as connection:
            yield connection
            if last and before:
                os.kill(os.getpid(), signal.SIGKILL)
        if last:
            os.kill(os.getpid(), signal.SIGKILL)

    Database.transaction = counted  # type: ignore[method-assign]


def forked(folder: Path, cache: str, kill: tuple[int, bool] | None) -> str:
    """One life in a process of its own; how it ended."""
    home, workspace, said = folder / "home", folder / "workspace", folder / "said"
    said.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        status = "failed"
        try:
            status = live(home, workspace, cache, kill)
        finally:
            said.write_text(status)
            os._exit(0)
    os.waitpid(child, 0)
    return said.read_text() if said.exists() else "killed"


def tried(plan: dict[str, Any]) -> dict[str, Any]:
    """Let a conversation live until it is answered; one of its lives is killed."""
    with tempfile.TemporaryDirectory(prefix="lives-") as name:
        folder = Path(name)
        (folder / "workspace").mkdir()
        lives: list[str] = []
        while len(lives) < MOST_LIVES and lives[-1:] != ["answered"]:
            kill = (plan["commit"], plan["before"]) if len(lives) == plan["life"] else None
            lives.append(forked(folder, plan["cache"], kill))
        return {"lives": lives, **_found(folder, plan["cache"])}


def _found(folder: Path, cache: str) -> dict[str, Any]:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        with CoilClaw.open(folder / "home", workspace=folder / "workspace", tools=[look, note], cache=cache) as claw:
            (known,) = claw.memory.list()
            turns = list(claw.memory.turns(known.conversation_id))
            runs = claw.runs.of_conversation(known.conversation_id)
            place = folder / "workspace" / "done"
            found = {
                "done": place.read_text().split() if place.exists() else [],
                "roles": [turn.role for turn in turns],
                "activity": [[item.tool_id, item.status] for run in runs for item in claw.runs.activity(run.run_id)],
                "runs": len(runs),
                "is_waiting": known.is_waiting,
                "verified": claw.verify().ok,
            }
        os.write(write, json.dumps(found).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        said = stream.read()
    os.waitpid(child, 0)
    result: dict[str, Any] = json.loads(said)
    return result


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(tried(json.loads(line))) + "\n")
        sys.stdout.flush()
