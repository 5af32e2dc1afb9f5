"""How long commands take to start: `python benchmarks/start_up.py [--rounds 9]`.

CPU time of whole processes over that of `python -c pass`, all in one run, beside the targets.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from suite.names import COMMANDS
from suite.processes import ProcessProbe
from suite.record import machine
from suite.rounds import play
from suite.table import lines_of
from suite.targets import judge

_FOLDER: Final = Path(__file__).resolve().parent


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/start_up.py", description="Measure how long commands take.")
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    cache = _FOLDER / ".cache" / "coilclaw"
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(prefix=".work-", dir=_FOLDER) as folder:
        probe = ProcessProbe(Path(folder), cache)
        results = play((), {COMMANDS: probe.commands}, rounds, lambda message: print(f"  {message}", file=sys.stderr))
    here = machine()
    print(f"{here['processor']}, Python {here['python']}; medians of {rounds} rounds")
    for line in lines_of(results, [each for each in judge(results) if each.value is not None], {}):
        print(line)


if __name__ == "__main__":
    main()
