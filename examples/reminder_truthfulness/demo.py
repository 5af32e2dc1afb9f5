""" "Remind me tomorrow at 9": what an assistant may say when the call succeeded, failed, was denied, or waits.

    .venv/bin/python examples/reminder_truthfulness/demo.py

The model is scripted, and it always says that the reminder is set, whatever happened: each file in `fixtures/` has its
replies. What becomes of that sentence depends on the receipt of the call alone. Where a person approves or denies,
this script does it in their place. Any tool could be the one that reminds: this one is the calendar that is built in.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Final

from coilclaw.agent import Answer, open_agent
from coilclaw.app import Caller, CoilClaw

HERE = Path(__file__).resolve().parent
MESSAGE: Final = "Remind me tomorrow at 9 to call Ana."
CASES: Final = {
    "succeeded": ("A person approves the call, and it succeeds.", True),
    "failed": ("A person approves the call, and the calendar refuses it.", True),
    "denied": ("A person says no.", False),
    "pending": ("Nobody has decided yet.", None),
}


async def answered(folder: Path, case: str, approves: bool | None) -> Answer:
    """Have the message answered in a home of its own, by a model with the replies of this case."""
    workspace = folder / case / "workspace"
    workspace.mkdir(parents=True)
    config = {"providers.models.local": {"kind": "mock", "fixture": str(HERE / "fixtures" / f"{case}.json")}}
    with CoilClaw.open(folder / case / "home", workspace=workspace, config=config, environment=os.environ) as claw:
        async with open_agent(claw) as agent:
            caller = Caller(channel="demo")
            answer = await agent.answer(MESSAGE, caller=caller)
            if approves is None:
                return answer
            for request in answer.approvals:
                decide = claw.approvals.approve if approves else claw.approvals.deny
                decide(request.id, by="a person")
            return await agent.resume(answer.conversation_id, caller=caller)


def show(answer: Answer) -> None:
    print(textwrap.fill(answer.text, 80))
    for item in answer.activity:
        print(f"  {item.status:<9} {item.tool_id}  {item.receipt_ref}")


def as_told(case: str, answer: Answer) -> bool:
    """Whether the receipt and the answer say the same."""
    claims_success = "scheduled" in answer.text and "could not verify completion" not in answer.text
    return [item.status for item in answer.activity] == [case] and claims_success is (case == "succeeded")


def main() -> int:
    good = True
    with tempfile.TemporaryDirectory(prefix="coilclaw-") as folder:
        for case, (story, approves) in CASES.items():
            print(f"\n{case}: {story}")
            answer = asyncio.run(answered(Path(folder), case, approves))
            show(answer)
            good = good and as_told(case, answer)
    if not good:
        print("\nThis did not go as told above.", file=sys.stderr)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
