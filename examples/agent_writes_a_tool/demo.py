"""An agent that writes its own tool, has it trusted, and uses it in the next exchange.

    .venv/bin/python examples/agent_writes_a_tool/demo.py

The model is scripted: `replies.json` has what it says, in order. Everything else is real. The file that it writes is
quarantined: nothing of it runs outside the sandbox until a person has read exactly this content and trusts it. Where a
person approves, reads and trusts, this script does it in their place.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import textwrap
from pathlib import Path

from coilclaw.agent import Agent, Answer, open_agent
from coilclaw.app import Caller, CoilClaw

HERE = Path(__file__).resolve().parent
FILE = "tools/units/tools.py"
PERSON = Caller(channel="demo")


async def say(agent: Agent, message: str, conversation: str | None = None) -> Answer:
    print(f"\n> {message}")
    return show(await agent.answer(message, conversation=conversation, caller=PERSON))


def show(answer: Answer) -> Answer:
    print(textwrap.fill(answer.text, 80))
    for item in answer.activity:
        print(f"  {item.status:<9} {item.tool_id}  {item.receipt_ref}")
    return answer


async def talk(claw: CoilClaw) -> bool:
    """One conversation of three messages; True if it went as told."""
    async with open_agent(claw) as agent:
        asked = await say(agent, "I often convert miles to kilometres. Write a tool for that.")
        print("\n(A person approves the write.)")
        claw.approvals.approve(asked.approvals[0].id, by="a person")
        wrote = show(await agent.resume(asked.conversation_id, caller=PERSON))

        early = await say(agent, "How far is a marathon, 26.2 miles?", wrote.conversation_id)

        held = claw.quarantine.held()[FILE]
        print(f"\n(A person reads {FILE}, {held.entry.reason}, and trusts it.)")
        print(textwrap.indent(held.source.data.decode(), "  | "), end="")
        claw.quarantine.trust(held, by="a person")
        claw.tools.reload(force=False)

        used = await say(agent, "And now?", wrote.conversation_id)
        return (
            [item.status for answer in (asked, wrote) for item in answer.activity] == ["pending", "succeeded"]
            and [item.tool_id for item in used.activity] == ["units.to_kilometres"]
            and not early.activity
            and used.grounded
            and claw.verify().ok
        )


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="coilclaw-") as folder:
        workspace = Path(folder) / "workspace"
        workspace.mkdir()
        config = {"providers.models.local": {"kind": "mock", "fixture": str(HERE / "replies.json")}}
        with CoilClaw.open(Path(folder) / "home", workspace=workspace, config=config, environment=os.environ) as claw:
            if asyncio.run(talk(claw)):
                return 0
    print("\nThis did not go as told above.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
