"""Commands in a workspace whose tool files misbehave while they are loaded."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import Command
from tests.cli.test_approvals import lines, waits

GOOD = "from coilclaw.sdk import ToolContext, define_tool\n@define_tool(id='b.n', risk='read')\ndef n(ctx: ToolContext) -> int:\n    return 1\n"


@pytest.mark.parametrize("args", [("tool", "list", "--json"), ("run", "-", "--json"), ("doctor", "--json")])
def test_a_file_that_hangs_is_named_and_the_command_goes_on(coilclaw: Command, args: tuple[str, ...]) -> None:
    file = coilclaw.tool("x/m.py", "import time\n\ntime.sleep(1000)\n")
    coilclaw.tool("b/n.py", GOOD)
    done = coilclaw(*args, stdin="tools.b.n().unwrap()")
    assert "Loading tools/x/m.py takes long" in done.err
    json.loads(done.out)
    assert f"{file}:3: tools/x/m.py did not finish loading" in done.err + done.out
    if args[0] == "run":
        assert done.json["value"] == 1


HOSTILE = {
    "text": "class E(Exception):\n    def __str__(self): raise ValueError\nraise E\n",
    "long": "raise ValueError('line\\n' * 100_000)\n",
    "prints": "import sys, warnings\nprint('x\\n' * 100_000)\nsys.stderr.write('\\x1b[2J')\nwarnings.warn('w' * 99_999)\n",
    "reads": "input('password? ')\n",
    "exits": "import sys\nsys.exit(0)\n",
    "interrupts": "raise KeyboardInterrupt\n",
    "thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\n",
    "streams": "import io, sys\nsys.stdout = sys.stderr = io.StringIO()\n",
}


@pytest.mark.parametrize("how", HOSTILE)
def test_whatever_a_file_does_costs_a_command_a_few_lines(coilclaw: Command, how: str) -> None:
    coilclaw.tool("x/m.py", HOSTILE[how])
    coilclaw.tool("b/n.py", GOOD)
    done = coilclaw("tool", "list", "--json", stdin="for somebody else")
    assert done.code == 0
    assert "b.n" in [each["id"] for each in done.json]
    assert "Traceback" not in done.err
    assert "\x1b[2J" not in done.err
    assert len(done.err) < 5_000
    assert len(done.err.splitlines()) < 6


HELPED = """
import importlib
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="ledger.add", risk="write")
def add(ctx: ToolContext, line: str) -> int:
    helper = importlib.import_module(".helper", __package__)
    with (ctx.workspace / "ledger").open("a") as handle:
        handle.write(helper.written(line))
    return 1
"""


def test_an_approval_does_not_cover_a_helper_that_changed_since(coilclaw: Command) -> None:
    coilclaw.tool("ledger/tools.py", HELPED)
    coilclaw.tool("ledger/helper.py", "def written(line): return line + '\\n'\n")
    facts = waits(coilclaw, "tools.ledger.add(line='a').unwrap()")
    coilclaw.tool("ledger/helper.py", "def written(line): return 'something else\\n'\n")
    done = coilclaw("approval", "approve", facts["approvals"][0]["id"], "--resume", "--json")
    assert (done.code, done.json["status"]) == (3, "suspended")
    assert done.json["approvals"][0]["id"] != facts["approvals"][0]["id"]
    assert lines(coilclaw) == []
