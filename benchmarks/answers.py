"""Calls by the kind of their answers: `python benchmarks/answers.py --before CHECKOUT [--rounds 3]`.

Another checkout, with a virtual environment of its own in `.venv`, is measured in the same rounds: what typed values
and records cost a call, and what they cost a run. Writes a table to stdout and `answers.json` to `benchmarks/results`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from suite.record import machine

_FOLDER: Final = Path(__file__).resolve().parent


def _measure(root: Path) -> dict[str, float]:
    cache = root / "benchmarks" / ".cache" / "coilclaw"
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    python = root / ".venv" / "bin" / "python"
    done = subprocess.run(
        [str(python if python.exists() else sys.executable), str(_FOLDER / "suite" / "answers.py"), str(cache)],
        env={**os.environ, "PYTHONPATH": str(root / "benchmarks"), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    for _ in range(given.rounds):
        for root, found in ((given.before, before), (_FOLDER.parent, after)):
            for name, taken in _measure(root).items():
                found[name] = min(found.get(name, taken), taken)
    rows: list[dict[str, Any]] = []
    print(f"{'microseconds, the best of all rounds':<66}{'before':>10}{'now':>10}")
    for name, taken in after.items():
        print(f"  {name:<64}{before[name]:>10.1f}{taken:>10.1f}{taken / before[name] - 1:>+9.1%}")
        rows.append({"name": name, "before": round(before[name], 1), "now": round(taken, 1)})
    record = {"machine": machine(), "rows": rows}
    (_FOLDER / "results" / "answers.json").write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
