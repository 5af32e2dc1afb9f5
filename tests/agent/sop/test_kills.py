"""SOPs whose process is killed at every commit, and that another one continues: nothing is lost or written twice.

A life is a process of its own, forked by one that has loaded everything. It is killed (SIGKILL) before a commit or
right after it; the next life decides what a person would, and resumes. `python tests/agent/sop/test_kills.py` kills at
every commit; the suite takes a sample.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from tests.conftest import cache_folder
from tests.sampling import repetitions

LIVES: Final = r'''
import json, os, signal, sys, tempfile
from contextlib import contextmanager
from pathlib import Path
from coilclaw.agent import open_agent
from coilclaw.agent.sop import AgentAnswers, SopRunner, read_sop
from coilclaw.app import Caller, CoilClaw
from coilclaw.sdk import ToolContext, define_tool
from coilclaw.store import Database
import coilclaw.agent.agent, coilclaw.agent.opening, coilclaw.agent.exchange_loop, coilclaw.app.runner, coilclaw.providers.mock
import coilclaw.runs.resume, coilclaw.runs.kept_end, coilclaw.integrations.sop, coilclaw.memory.memory
import coilclaw.sandbox.wasm.engine

SOP = b"""
name = "work"
description = "x"
[[steps]]
id = "mail"
kind = "tool"
tool = "desk.mail"
args = { to = "a" }
on_failure = "continue"
[[steps]]
id = "sum"
kind = "agent"
prompt = "Summarise."
[[steps]]
id = "ok"
kind = "approval"
prompt = "go?"
[[steps]]
id = "save"
kind = "tool"
tool = "desk.save"
args = { text_from = "sum" }
"""


def noted(ctx, line):
    place = os.open(ctx.workspace / "done", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    os.write(place, f"{line}\n".encode())
    os.close(place)


@define_tool(id="desk.mail", risk="write")
def mail(ctx: ToolContext, to: str) -> str:
    """Mail."""
    noted(ctx, "mail")
    return to


@define_tool(id="desk.save", risk="write", idempotent=True)
def save(ctx: ToolContext, text: str) -> str:
    """Save."""
    noted(ctx, f"save {ctx.idempotency_key} {len(text)}")
    return "saved"


def kill_at(number, after):
    real, count = Database.transaction, 0

    @contextmanager
    def counted(self, *args, **options):
        nonlocal count
        with real(self, *args, **options) as connection:
            yield connection
            count += 1
            if count == number and not after:
                os.kill(os.getpid(), signal.SIGKILL)
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)

    Database.transaction = counted


def live(place, cache):
    fixture = place / "replies.json"
    fixture.write_text(json.dumps({"replies": [{"code": "tools.desk.mail(to='b')"}, {"text": "All is well."}]}))
    config = {"security.autonomy": "full", "providers.models.local": {"kind": "mock", "fixture": str(fixture)}}
    with CoilClaw.open(place / "home", workspace=place / "ws", tools=[mail, save], cache=cache, pool=0, config=config) as claw:
        runs = claw.runs.sops
        runner = SopRunner(claw, runs, AgentAnswers(claw, lambda: open_agent(claw)))
        known = runs.list()
        for each in claw.approvals.pending():
            claw.approvals.approve(each.id, by="ada")
        if known and known[0].state not in ("suspended", "orphaned"):
            return known[0].state
        if not known:
            report = runner.start(read_sop("work", SOP, claw.tools.registry), Caller())
        else:
            report = runner.resume(known[0].run_id, Caller())
        if report.unknown:  # A person looks first.
            done = (place / "ws/done").read_text() if (place / "ws/done").exists() else ""
            was_sent = done.count("mail") == (2 if report.steps[-1].kind == "agent" else 1)
            report = runner.resume(report.run_id, Caller(), unknown="failed" if was_sent else "retry")
        if report.approvals:
            claw.approvals.approve(report.approvals[0].id, by="ada")
            report = runner.resume(report.run_id, Caller())
        return report.status


def forked(place, cache, kill):
    """Live in a process of its own; returns how the run stands, or None if the process was killed."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            if kill is not None:
                kill_at(*kill)
            os.write(write, live(place, cache).encode())
        except BaseException as error:
            import traceback
            os.write(write, ("error " + "".join(traceback.format_exception(error)))[-4000:].encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        said = stream.read().decode()
    os.waitpid(child, 0)
    return said or None


cache, every = Path(sys.argv[1]), int(sys.argv[2])
found = []
number = int(sys.argv[3])
while True:
    survived = True
    for after in (False, True):
        # In memory where there is such a place: it is processes that die here, and syncing takes most of the time.
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
            place = Path(folder)
            (place / "ws").mkdir()
            first = forked(place, cache, (number, after))
            survived = survived and first is not None
            last = first or forked(place, cache, None)
            done = (place / "ws/done").read_text().splitlines() if (place / "ws/done").exists() else []
            found.append({"kill": [number, after], "first": first, "last": last, "done": done})
    if survived:
        break
    number += every
print(json.dumps(found))
'''


def lives(every: int, first: int) -> list[dict[str, Any]]:
    line = [sys.executable, "-c", LIVES, str(cache_folder()), str(every), str(first)]
    done = subprocess.run(line, capture_output=True, text=True, cwd=Path(__file__).parent)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.req("R444")
def test_a_run_that_is_killed_at_any_commit_is_completed_with_each_write_made_once() -> None:
    found = lives(repetitions(9, 1), repetitions(3, 1))
    killed = [each for each in found if each["first"] is None]
    assert len(killed) >= 8
    for each in found:
        assert each["last"] == "completed", each
        assert each["done"].count("mail") == 2, each  # By the first step and by the agent.
        saved = {line for line in each["done"] if line.startswith("save")}
        assert len(saved) == 1, each  # What is idempotent may be repeated, with the same key.
        assert len(each["done"]) <= 4, each


if __name__ == "__main__":
    for each in lives(1, 1):
        print(each)  # noqa: T201
