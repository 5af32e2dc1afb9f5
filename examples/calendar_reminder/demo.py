"""A reminder in a calendar, and how one knows that it is there.

    .venv/bin/python examples/calendar_reminder/demo.py

`snippet.py` is what a model would write for "remind me tomorrow at 9". It runs once in the sandbox, on a
copy of `calendars/personal.ics` in a folder of its own. Nobody is there to approve its write, so the run
waits; then a person says yes (here this script, in their place), and it goes on. What this script says about
the calendar is not taken from what the snippet printed. It comes from the receipts, and so it is also right
when a snippet claims too much.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CREATE = "calendar.events.create"


class Stage:
    """A home and a workspace that last as long as the demo."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "workspace"
        self.home = folder / "home"
        shutil.copytree(HERE / "calendars", self.workspace / "calendars")
        self.home.mkdir(mode=0o700)

    def coilclaw(self, *args: str) -> subprocess.CompletedProcess[str]:
        print("$ coilclaw", *(arg.replace(str(self.workspace), "WORKSPACE") for arg in args), flush=True)
        return subprocess.run(
            [str(Path(sys.executable).with_name("coilclaw")), *args],
            cwd=HERE,
            env={**os.environ, "COILCLAW_HOME": str(self.home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *command: str) -> dict[str, Any]:
        """Begin a run or go on with one; show what it printed and the calls that its receipts tell of."""
        done = self.coilclaw(*command, "--workspace", str(self.workspace), "--json")
        report: dict[str, Any] = json.loads(done.stdout)
        print(report["stdout"], end="")
        for item in report["activity"]:
            approval = f"  ({item['approval']})" if item["approval"] else ""
            print(f"  {item['status']:<9}  {item['tool_id']:<24} {item['receipt_ref']}{approval}")
        return report

    def receipt(self, reference: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.coilclaw("receipt", "show", reference, "--json").stdout)
        return found


def calendar_says(stage: Stage, report: dict[str, Any]) -> str:
    """One sentence about the reminder, from the receipt of the call that was to make it."""
    call = next((item for item in report["activity"] if item["tool_id"] == CREATE), None)
    if call is None:
        return "Nothing was asked of the calendar."
    receipt = stage.receipt(call["receipt_ref"])
    if receipt["type"] == "tool.call.pending":
        return f"The reminder is not made yet: its call waits for a person ({receipt['id']})"
    if receipt["type"] != "tool.call.succeeded":
        return f"The reminder was not made: {receipt['payload'].get('message', call['status'])}"
    made = receipt["result"]
    return f"The calendar {made['calendar']!r} has {made['title']!r} at {made['start']} ({receipt['id']})"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="coilclaw-") as folder:
        stage = Stage(Path(folder))
        say("1. The reminder is a write, and nobody is there to approve it. The run waits.")
        waiting = stage.run("run", "snippet.py")
        print(calendar_says(stage, waiting))
        if waiting["status"] != "suspended":
            return 1
        say("2. A person approves exactly that call, and the run goes on. What it did before keeps its receipts.")
        done = stage.run("approval", "approve", waiting["approvals"][0]["id"], "--resume")
        print(calendar_says(stage, done))
        say("3. The receipts form a sealed chain.")
        verified = stage.coilclaw("receipt", "verify")
        print(verified.stdout, end="")
        say("4. The file itself, as any calendar program would read it:")
        lines = (stage.workspace / "calendars/personal.ics").read_text().splitlines()
        print("\n".join(lines[lines.index("BEGIN:VEVENT", lines.index("END:VEVENT")) :]))
        return int(done["status"] != "completed" or verified.returncode != 0)


def say(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
