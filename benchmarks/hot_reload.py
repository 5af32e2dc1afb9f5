"""From saving a tool file to calling what it says: `python benchmarks/hot_reload.py [--edits 200] [--tools 100]`.

Three ways in one run, alternating: the watch of this project, loading the whole workspace again in the same process,
and starting a new process that loads it, which is what programs do that restart themselves when a file changes.
Writes a table to stdout and `hot_reload.json` to `benchmarks/results`.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from suite.record import machine

from coilclaw.app import CoilClaw
from coilclaw.workspace_tools import load_workspace

_FOLDER: Final = Path(__file__).resolve().parent

_TOOL: Final = '''\
"""Tool number {number}."""

from pydantic import BaseModel

from coilclaw.sdk import ToolContext, define_tool


class Answer{number}(BaseModel):
    value: int
    words: list[str]


@define_tool(id="group{group}.tool{number}", risk="read", examples=[{{"name": "x", "count": 2}}])
def tool{number}(ctx: ToolContext, name: str, count: int = 1) -> Answer{number}:
    """Say a name a number of times."""
    return Answer{number}(value={value}, words=[name] * count)
'''

_FRESH_PROCESS: Final = """
import sys
from pathlib import Path
from coilclaw.workspace_tools import load_workspace
tools = {tool.id: tool for tool in load_workspace(Path(sys.argv[1])).tools}
print(tools[sys.argv[2]](None, "x").value)
"""


class _Bench:
    def __init__(self, workspace: Path, tools: int) -> None:
        self.workspace = workspace
        self.tools = tools
        self._values = random.Random(1)
        for number in range(tools):
            self.save(number, 0, atomic=False)

    def name(self, number: int) -> str:
        return f"group{number % 10}.tool{number}"

    def save(self, number: int, value: int, *, atomic: bool) -> None:
        file = self.workspace / "tools" / f"group{number % 10}" / f"tool{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = _TOOL.format(number=number, group=number % 10, value=value)
        if atomic:
            fresh = file.with_suffix(".tmp")
            fresh.write_text(text)
            fresh.replace(file)
        else:
            file.write_text(text)

    def edit(self, callable_now: Callable[[str, int], bool]) -> float:
        """Seconds from before the save until the tool answers with what was saved."""
        number, value = self._values.randrange(self.tools), self._values.randrange(1, 10**9)
        atomic = bool(self._values.randrange(2))
        began = time.perf_counter()
        self.save(number, value, atomic=atomic)
        while not callable_now(self.name(number), value):
            time.sleep(0.0002)
        return time.perf_counter() - began


def _measure(edits: int, tools: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"watch": [], "whole workspace again": [], "new process": []}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=".work-", dir=_FOLDER)))
        (folder / "workspace").mkdir()
        bench = _Bench(folder / "workspace", tools)
        claw = stack.enter_context(CoilClaw.open(folder / "home", workspace=folder / "workspace", watch=True))

        def watched(name: str, value: int) -> bool:
            done = claw.call(name, {"name": "x"})
            return done.ok and bool(done.value["value"] == value)

        def again(name: str, value: int) -> bool:
            loaded = {tool.id: tool for tool in load_workspace(bench.workspace).tools}
            return bool(loaded[name](None, "x").value == value)

        def process(name: str, value: int) -> bool:
            command = [sys.executable, "-c", _FRESH_PROCESS, str(bench.workspace), name]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == str(value)

        bench.edit(watched)
        for number in range(edits):
            found["watch"].append(bench.edit(watched))
            if number % 10 == 0:
                found["whole workspace again"].append(bench.edit(again))
                found["new process"].append(bench.edit(process))
            if sys.stderr.isatty():
                print(f"\r  {number + 1} of {edits} edits", end="", file=sys.stderr, flush=True)
    return found


def _quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the time from saving a tool to calling it.")
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--tools", type=int, default=100)
    chosen = parser.parse_args()
    found = _measure(chosen.edits, chosen.tools)
    ours = statistics.median(found["watch"])
    record = {
        name: {
            "edits": len(seconds),
            "median_ms": round(statistics.median(seconds) * 1000, 2),
            "p95_ms": round(_quantile(seconds, 0.95) * 1000, 2),
            "worst_ms": round(max(seconds) * 1000, 2),
            "times_ours": round(statistics.median(seconds) / ours, 2),
        }
        for name, seconds in found.items()
    }
    print(f"\n{chosen.tools} tools, {chosen.edits} edits")
    print(f"{'':24} {'median':>9} {'p95':>9} {'worst':>9} {'ratio':>7}")
    for name, row in record.items():
        times = " ".join(f"{row[key]:7.1f}ms" for key in ("median_ms", "p95_ms", "worst_ms"))
        print(f"{name:24} {times} {row['times_ours']:6.1f}x")
    result = {"machine": machine(), "tools": chosen.tools, "ways": record}
    (_FOLDER / "results" / "hot_reload.json").write_text(json.dumps(result, indent=2) + "\n")
    sys.exit(0 if record["watch"]["p95_ms"] < 100 else 1)


if __name__ == "__main__":
    main()
