"""`make demo`: one script in the sandbox, what it did, and the proof of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
QUICKSTART = ROOT / "examples/quickstart"
HOME = Path(sys.prefix) / "demo-home"


def main() -> int:
    for old in HOME.glob("coilclaw.db*"):
        old.unlink()  # Each demo starts with an empty log; the compiled sandbox is kept.
    say("1. A script nobody here has checked. It runs in WebAssembly and can reach `tools`, nothing else.")
    code = coilclaw("run", "examples/quickstart/restock.py", "--workspace", "examples/quickstart")
    say("2. What it did, from the receipts. The order was a write, and nobody was there to approve it.")
    code |= coilclaw("receipt", "list", "--limit", "6")
    say("3. The receipts form a sealed chain. A changed, missing or added one is named here:")
    code |= coilclaw("receipt", "verify")
    say("Next:  approve the order    .venv/bin/coilclaw run examples/quickstart/restock.py \\")
    print("                              --workspace examples/quickstart --yes")
    print("       write your own tool  .venv/bin/coilclaw init")
    return code


def say(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


def coilclaw(*args: str) -> int:
    print("$ coilclaw", *args, flush=True)
    command = [str(Path(sys.executable).with_name("coilclaw")), *args]
    environment = {**os.environ, "COILCLAW_HOME": str(HOME)}
    return subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
