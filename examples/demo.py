"""`make demo`: one script in the sandbox, what it did, and the proof of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WAITS = 3
"""The exit code of a run that waits for a person."""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="coilclaw-") as home:  # Each demo starts with an empty log.
        os.environ["COILCLAW_HOME"] = home
        return show()


def show() -> int:
    say("1. A script nobody here has checked. It runs in WebAssembly and can reach `tools`, nothing else.")
    code = coilclaw("run", "examples/quickstart/restock.py", "--workspace", "examples/quickstart")
    if code != WAITS:
        return code or 1
    say("2. Its order is a write, and nobody was there to say yes. The run waits now, in no process at all.")
    waiting = json.loads(coilclaw_output("approval", "list", "--json"))
    code = coilclaw("approval", "list")
    say("3. Someone approves exactly that call, and the run goes on where it was. No call is made twice.")
    code |= coilclaw("approval", "approve", waiting[0]["id"], "--resume", "--workspace", "examples/quickstart")
    say("4. What it did, from the receipts. They form a sealed chain; a changed, missing or added one is named here:")
    code |= coilclaw("receipt", "list", "--limit", "7")
    code |= coilclaw("receipt", "verify")
    say("Next:  write your own tool  .venv/bin/coilclaw init")
    print("       and see it live      .venv/bin/coilclaw dev")
    return code


def say(text: str) -> None:
    text = textwrap.fill(text, 80, subsequent_indent="   ")
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


def coilclaw(*args: str) -> int:
    print("$ coilclaw", *args, flush=True)
    return _started(args, None).returncode


def coilclaw_output(*args: str) -> str:
    return str(_started(args, subprocess.PIPE).stdout)


def _started(args: tuple[str, ...], stdout: int | None) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("coilclaw")), *args]
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=stdout, text=True)


if __name__ == "__main__":
    sys.exit(main())
