"""How long a command of the greatest length keeps its judge busy: `.venv/bin/python benchmarks/shell_grammar.py`.

The commands are made so that a careless parser or search takes long over them. Exits with 1 if one takes more
than 50 ms of processor time.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.integrations.shell.adversarial import commands, deep_tree

from coilclaw.integrations.shell import run
from coilclaw.policy import classify
from coilclaw.sdk import Bounds, ToolContext

_LONGEST: Final = 32_700
_MOST_SECONDS: Final = 0.05


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="coilclaw-grammar-") as folder:
        workspace = Path(folder)
        deep_tree(workspace)
        allowed = ("ls", "cat", "echo", "find", "env", "sed", "awk")
        bounds = Bounds(autonomy="full", shell_allow=allowed, forbidden_paths=(workspace / "secret",))
        context = ToolContext(workspace=workspace, bounds=bounds)
        measured: list[tuple[float, str]] = []
        for name, command in commands(_LONGEST).items():
            tries: list[float] = []
            for _ in range(5):
                began = time.thread_time()
                classify(run, run.input(command=command), context)
                tries.append(time.thread_time() - began)
            measured.append((min(tries), name))
    for seconds, name in sorted(measured, reverse=True):
        print(f"{seconds * 1000:8.2f} ms  {name}")
    return int(max(measured)[0] > _MOST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
