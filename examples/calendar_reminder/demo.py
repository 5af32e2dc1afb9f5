"""A reminder in a calendar, and how one knows that it is there.

    .venv/bin/python examples/calendar_reminder/demo.py

`snippet.py` is what a model would write for "remind me tomorrow at 9". It runs once in the sandbox, on a
copy of `calendars/personal.ics` in a folder of its own. Nobody is there to approve its write, so the run
waits; then a person says yes (here this script, in their place), and it goes on. What this script says about
the calendar is not taken from what the snippet printed. It comes from the receipts, and so it is also right
when a snippet claims too much.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import textwrap
from pathlib import Path

from coilclaw.app import CoilClaw, Report

HERE = Path(__file__).resolve().parent
CREATE = "calendar.events.create"


def shown(report: Report) -> Report:
    """Show what a run printed and the calls that its receipts tell of."""
    print(report.stdout, end="")
    for item in report.activity:
        approval = f"  ({item.approval} by {item.decided_by})" if item.decided_by else ""
        print(f"  {item.status:<9}  {item.tool_id:<24} {item.receipt_ref}{approval}")
    return report


def calendar_says(claw: CoilClaw, report: Report) -> str:
    """One sentence about the reminder, from the receipt of the call that was to make it."""
    call = next((item for item in report.activity if item.tool_id == CREATE), None)
    if call is None:
        return "Nothing was asked of the calendar."
    receipt = claw.receipts.find(call.receipt_ref)
    if receipt.type == "tool.call.pending":
        return f"The reminder is not made yet: its call waits for a person ({receipt.id})"
    if receipt.type != "tool.call.succeeded":
        return f"The reminder was not made: {receipt.payload.get('message', call.status)}"
    made = claw.receipts.contents(receipt)["result"]
    return f"The calendar {made['calendar']!r} has {made['title']!r} at {made['start']} ({receipt.id})"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="coilclaw-") as folder:
        workspace = Path(folder) / "workspace"
        shutil.copytree(HERE / "calendars", workspace / "calendars")
        with CoilClaw.open(Path(folder) / "home", workspace=workspace, environment=os.environ) as claw:
            return show(claw, workspace / "calendars/personal.ics")


def show(claw: CoilClaw, calendar: Path) -> int:
    say("1. The reminder is a write, and nobody is there to approve it. The run waits.")
    waiting = shown(claw.run((HERE / "snippet.py").read_text()))
    print(calendar_says(claw, waiting))
    if waiting.status != "suspended":
        return 1
    say("2. A person approves exactly that call, and the run goes on. What it did before keeps its receipts.")
    claw.approvals.approve(waiting.approvals[0].id, by="a person")
    done = shown(claw.resume(waiting.run_id))
    print(calendar_says(claw, done))
    say("3. The receipts form a sealed chain.")
    verified = claw.verify()
    print(f"Valid: {verified.count} receipts" if verified.ok else verified.problem)
    say("4. The file itself, as any calendar program would read it:")
    lines = calendar.read_text().splitlines()
    print("\n".join(lines[lines.index("BEGIN:VEVENT", lines.index("END:VEVENT")) :]))
    return int(done.status != "completed" or not verified.ok)


def say(text: str) -> None:
    text = textwrap.fill(text, 80, subsequent_indent="   ")
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
