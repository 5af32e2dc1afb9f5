"""`coilclaw resume` and `--wait`: runs that wait go on, in this process or in another one."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import apsw
import pytest
from tests.cli.conftest import Command
from tests.cli.test_approvals import LEDGER, lines, on_terminal, trail, waits
from tests.cli.test_run import KEYS


@pytest.fixture
def ready(coilclaw: Command) -> Command:
    coilclaw.tool("ledger/tools.py", LEDGER)
    return coilclaw


class Staying:
    """A command with `--wait`, and what it has said so far."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.said = ""

    def hears(self, pattern: str) -> str:
        """What it says on stderr, up to a match."""
        assert self.process.stderr is not None
        descriptor = self.process.stderr.fileno()
        while not (found := re.search(pattern, self.said)):
            ready, _, _ = select.select([descriptor], [], [], 30)
            assert ready, self.said
            chunk = os.read(descriptor, 65536)
            assert chunk, self.said
            self.said += chunk.decode()
        return found.group(found.lastindex or 0)

    def ends(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=60)
        self.said += err.decode()
        return self.process.returncode, out.decode()


@contextmanager
def staying(command: Command, *args: str, source: str | None = None) -> Iterator[Staying]:
    if source is not None:
        (command.folder / "x.py").write_text(source)
    process = subprocess.Popen(
        [*command.line, *args],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=command.environment,
        cwd=command.folder,
    )
    try:
        yield Staying(process)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.req("R32", "R139")
def test_a_destructive_call_pauses_is_approved_elsewhere_and_leaves_the_whole_trail(ready: Command) -> None:
    with staying(ready, "run", "x.py", "--wait", source="tools.ledger.wipe(pages=2).unwrap()") as first:
        run_id = first.hears(r"(run-\w+) waits here")
        first.process.kill()
        first.ends()
    assert lines(ready) == []
    (asked,) = ready("approval", "list", "--json").json
    assert asked["run_id"] == run_id
    assert ready("approval", "approve", asked["id"]).code == 0
    done = ready("resume", run_id, "--json")
    assert (done.code, done.json["value"]) == (0, 2)
    assert lines(ready) == ["wiped 2"]
    steps = trail(ready, run_id)
    calls = [each for each in steps if not each.startswith("run.")]
    assert calls == ["requested", "pending", "approved", "started", "succeeded"]
    assert (steps[0], steps[-1], steps.count("run.resumed")) == ("run.started", "run.finished", 1)
    assert ready("receipt", "verify").code == 0


def test_resume_prints_the_same_object_as_run(ready: Command) -> None:
    facts = waits(ready, "print('hi')\ntools.ledger.add(line='a').unwrap()")
    assert set(facts) == KEYS
    ready("approval", "approve", facts["approvals"][0]["id"])
    done = ready("resume", facts["run_id"], "--json")
    assert done.code == 0
    assert set(done.json) == KEYS
    assert (done.json["run_id"], done.json["status"], done.json["engine"]) == (facts["run_id"], "completed", "wasm")
    assert (done.json["stdout"], done.json["value"], done.json["approvals"]) == ("hi\n", 1, [])


def test_resume_prints_output_and_value_as_run_does(ready: Command) -> None:
    facts = waits(ready, "print('hi')\ntools.ledger.add(line='a').unwrap()")
    done = ready("approval", "approve", facts["approvals"][0]["id"], "--resume")
    assert (done.code, done.out) == (0, "hi\n1\n")
    assert "completed in" in done.err


def test_resuming_without_a_decision_waits_on(ready: Command) -> None:
    facts = waits(ready, "tools.ledger.add(line='a').unwrap()")
    done = ready("resume", facts["run_id"], "--json")
    assert (done.code, done.json["approvals"]) == (3, facts["approvals"])
    assert "coilclaw approval approve" in done.err


def test_parallel_calls_wait_together_and_each_is_done_once(ready: Command) -> None:
    source = """
import asyncio
rs = await asyncio.gather(tools.ledger.add.start(line='a'), tools.time.now.start(), tools.ledger.add.start(line='b'))
[r.ok for r in rs]
"""
    facts = waits(ready, source)
    first, second = facts["approvals"]
    assert ready("approval", "approve", first["id"]).code == 0
    assert ready("approval", "deny", second["id"]).code == 0
    done = ready("resume", facts["run_id"], "--json")
    assert done.json["value"] == [True, True, False]
    assert lines(ready) == ["a"]
    assert trail(ready, facts["run_id"]).count("started") == 2


def test_yes_approves_what_waits_but_not_what_was_denied(ready: Command) -> None:
    facts = waits(ready, "ps = [tools.ledger.add.start(line=n) for n in 'ab']\n[p.result().ok for p in ps]")
    ready("approval", "deny", facts["approvals"][0]["id"])
    done = ready("resume", facts["run_id"], "--yes", "--json")
    assert done.json["value"] == [False, True]
    assert lines(ready) == ["b"]


def test_a_direct_call_waits_and_is_resumed(ready: Command) -> None:
    done = ready("tool", "run", "ledger.add", "line=direct")
    assert (done.code, done.out) == (3, "")
    (approval_id,) = re.findall(r"coilclaw approval approve (approval-\w+) --resume", done.err)
    done = ready("approval", "approve", approval_id, "--resume")
    assert (done.code, done.out) == (0, "1\n")
    assert lines(ready) == ["direct"]


def test_a_workspace_that_was_named_is_part_of_the_commands(ready: Command) -> None:
    place = ready.folder / "other place"
    (place / "tools/ledger").mkdir(parents=True)
    (place / "tools/ledger/tools.py").write_text(LEDGER)
    done = ready("run", "-", "--workspace", place, stdin="tools.ledger.add(line='a').unwrap()")
    (command,) = re.findall(r"(approval approve .*)", done.err)
    line = f"{ready.line[0]} {command}"
    done_again = subprocess.run(["bash", "-c", line], env=ready.environment, cwd=ready.folder, capture_output=True)
    assert done_again.returncode == 0, done_again.stderr
    assert (place / "ledger").read_text() == "a\n"


@pytest.mark.parametrize(
    ("run_id", "words"), [("run-nothing", "there is no run"), ("\x1b[2J", "there is no run"), ("", "there is no run")]
)
def test_an_unknown_run_is_one_clear_line(ready: Command, run_id: str, words: str) -> None:
    done = ready("resume", run_id)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert "\x1b" not in done.err


def test_a_finished_run_is_not_resumed(ready: Command) -> None:
    run_id = ready("run", "-", "--json", stdin="1").json["run_id"]
    done = ready("resume", run_id)
    assert done.code == 2
    assert f"{run_id} is completed" in done.err
    assert "only a suspended or orphaned run can be resumed" in done.err


def test_of_two_that_resume_at_once_one_does_and_the_other_says_why(ready: Command) -> None:
    facts = waits(ready, "import time\nr = tools.ledger.add(line='a').unwrap()\ntime.sleep(0.5)\nr")
    ready("approval", "approve", facts["approvals"][0]["id"])
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: ready("resume", facts["run_id"], "--json"), range(2)))
    loser, winner = sorted(done, key=lambda each: each.code, reverse=True)
    assert (winner.code, winner.json["value"], loser.code) == (0, 1, 2)
    assert re.search("another process|is completed", loser.err)
    assert lines(ready) == ["a"]


def test_a_changed_tool_is_asked_about_again(ready: Command) -> None:
    facts = waits(ready, "tools.ledger.add(line='a').unwrap()")
    ready.tool("ledger/tools.py", LEDGER.replace("{line}", "changed {line}"))
    done = ready("approval", "approve", facts["approvals"][0]["id"], "--resume", "--json")
    assert (done.code, done.json["status"]) == (3, "suspended")
    assert done.json["approvals"][0]["id"] != facts["approvals"][0]["id"]
    assert lines(ready) == []


def test_a_run_that_diverges_names_the_first_difference(ready: Command) -> None:
    tool = "from coilclaw.sdk import ToolContext, define_tool\n@define_tool(id='a.look', risk='read')\ndef look(ctx: ToolContext) -> int:\n    return {}\n"
    ready.tool("a/x.py", tool.format(1))
    facts = waits(ready, "n = tools.a.look().unwrap()\ntools.ledger.add(line=str(n)).unwrap()")
    ready.tool("a/x.py", tool.format(2))
    done = ready("approval", "approve", facts["approvals"][0]["id"], "--resume")
    assert done.code == 1
    assert "in version" in done.err
    assert lines(ready) == []


STUCK = '''
import time
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="stuck.add", risk="write", timeout=600)
def add(ctx: ToolContext, line: str) -> int:
    """Write, and then hang unless this is a second try."""
    file = ctx.workspace / "ledger"
    again = file.exists()
    with file.open("a") as handle:
        handle.write(f"{line}\\n")
    ctx.progress("written")
    while not again:
        time.sleep(0.01)
    return 1
'''


@pytest.fixture
def unknown(ready: Command) -> str:
    """A run whose process was killed while a write was under way."""
    ready.tool("stuck/tools.py", STUCK)
    source = "r = tools.stuck.add(line='a')\n[r.ok, r.code if not r.ok else r.value]"
    with staying(ready, "run", "x.py", "--yes", source=source) as process:
        process.hears("stuck.add: written")
        process.process.kill()
        process.ends()
    connection = apsw.Connection(str(ready.home / "coilclaw.db"))
    ((run_id,),) = list(connection.execute("SELECT run_id FROM runs"))
    connection.close()
    return str(run_id)


def test_a_write_of_unknown_outcome_is_left_to_a_person(ready: Command, unknown: str) -> None:
    done = ready("resume", unknown)
    assert done.code == 3
    assert "stuck.add" in done.err
    for choice in ("retry", "failed"):
        assert re.search(rf"coilclaw resume {unknown} --unknown {choice}\b", done.err)
    assert lines(ready) == ["a"]
    assert ready("resume", unknown, "--yes").code == 3  # A yes to calls says nothing about this.


@pytest.mark.parametrize(
    ("choice", "value", "written"), [("retry", [True, 1], ["a", "a"]), ("failed", [False, "unknown_outcome"], ["a"])]
)
def test_a_person_decides_about_an_unknown_outcome(
    ready: Command, unknown: str, choice: str, value: list[object], written: list[str]
) -> None:
    done = ready("resume", unknown, "--unknown", choice, "--json")
    assert (done.code, done.json["value"]) == (0, value)
    assert lines(ready) == written


@pytest.mark.parametrize(("answer", "code", "written"), [(b"retry\n", 0, 2), (b"failed\n", 0, 1), (b"\n", 3, 1)])
def test_on_a_terminal_the_person_is_asked_about_an_unknown_outcome(
    ready: Command, unknown: str, answer: bytes, code: int, written: int
) -> None:
    ended, _ = on_terminal(ready, "resume", unknown, answers={b"[leave]": answer})
    assert ended == code
    assert lines(ready) == ["a"] * written


def test_a_call_of_unknown_outcome_is_never_shown_as_pending_and_fails_when_its_run_is_cancelled(
    ready: Command, unknown: str
) -> None:
    def shown() -> tuple[str, str | None]:
        (item,) = ready("run", "show", unknown, "--json").json["activity"]
        return item["status"], item["code"]

    assert shown() == ("unknown", None)
    assert ready("resume", unknown).code == 3
    assert shown() == ("unknown", None)
    assert ready("cancel", unknown).code == 0
    assert shown() == ("failed", "unknown_outcome")
    assert [each for each in trail(ready, unknown) if each in ("succeeded", "failed", "denied")] == ["failed"]
    replayed = ready("replay", unknown)
    assert replayed.code == 0  # No snippet was left to receive that end.
    assert replayed.err.startswith("Note: the run was cancelled, which a replay cannot repeat; compared as far as")
    again = ready("run", "x.py", "--yes", "--retry-of", unknown, "--json")
    assert again.json["warnings"][0]["message"].startswith("stuck.add was called although"), again


def test_an_orphaned_run_is_shown_as_orphaned_and_says_how_to_continue(ready: Command, unknown: str) -> None:
    told = ready("run", "show", unknown).err
    assert f"orphaned, 1 call, {unknown}\n" in told
    assert f"The process of this run ended first. To continue: coilclaw resume {unknown}\n" in told
    assert "running" not in told


def test_the_time_of_a_resumed_run_can_be_limited(ready: Command) -> None:
    facts = waits(ready, "tools.ledger.add(line='a').unwrap()\nwhile True: pass")
    ready("approval", "approve", facts["approvals"][0]["id"])
    done = ready("resume", facts["run_id"], "--timeout", "5", "--json")
    assert (done.code, done.json["status"]) == (1, "timed_out")
    assert lines(ready) == ["a"]


def test_wait_goes_on_when_the_decision_is_made_elsewhere(ready: Command) -> None:
    with staying(ready, "run", "x.py", "--wait", source="print('x')\ntools.ledger.add(line='a').unwrap()") as process:
        approval_id = process.hears(r"coilclaw approval approve (approval-\w+)")
        process.hears("Ctrl-C leaves it suspended")
        done = ready("approval", "approve", approval_id, "--resume")
        assert done.code == 0
        assert "continues in the process that waits for it" in done.err
        assert process.ends() == (0, "x\n1\n")
    assert "coilclaw resume" not in process.said
    assert process.said.count(f"Waiting for approval: {approval_id}") == 1
    assert lines(ready) == ["a"]


def test_wait_goes_on_after_a_no(ready: Command) -> None:
    with staying(ready, "tool", "run", "ledger.add", "line=a", "--wait") as process:
        ready("approval", "deny", process.hears(r"coilclaw approval approve (approval-\w+)"))
        code, _ = process.ends()
    assert code == 1
    assert "approval_denied" in process.said
    assert lines(ready) == []


def test_wait_reacts_to_each_of_parallel_questions(ready: Command) -> None:
    source = "ps = [tools.ledger.add.start(line=n) for n in 'ab']\n[p.result().ok for p in ps]"
    with staying(ready, "run", "x.py", "--wait", "--json", source=source) as process:
        process.hears(r"(?s)approve approval-\w+.*approve approval-\w+")
        first, second = re.findall(r"approve (approval-\w+)", process.said)
        assert ready("approval", "approve", first).code == 0
        assert ready("approval", "deny", second).code == 0
        code, out = process.ends()
    assert code == 0
    assert '"value": [true, false]' in out
    assert lines(ready) == ["a"]


def test_wait_goes_on_when_a_window_covers_the_call(ready: Command) -> None:
    with staying(ready, "run", "x.py", "--wait", source="tools.ledger.add(line='a').unwrap()") as process:
        process.hears("Ctrl-C")
        other = waits(ready, "tools.ledger.add(line='b').unwrap()")["approvals"][0]["id"]
        assert ready("approval", "approve", other, "--window", "1m").code == 0
        assert process.ends() == (0, "1\n")


def test_an_interrupt_while_waiting_leaves_the_run_to_be_resumed(ready: Command) -> None:
    with staying(ready, "run", "x.py", "--wait", source="tools.ledger.add(line='a').unwrap()") as process:
        approval_id = process.hears(r"coilclaw approval approve (approval-\w+)")
        process.hears("Ctrl-C leaves")
        process.process.send_signal(signal.SIGINT)
        code, _ = process.ends()
    assert code == 3
    assert "left suspended" in process.said
    (asked,) = ready("approval", "list", "--json").json
    assert trail(ready, asked["run_id"])[-1] == "run.suspended"
    assert ready("approval", "approve", approval_id, "--resume").out == "1\n"


def test_an_interrupt_while_parallel_calls_wait_leaves_the_run_to_be_resumed(ready: Command) -> None:
    source = "ps = [tools.ledger.add.start(line=n) for n in 'ab']\n[p.result().ok for p in ps]"
    with staying(ready, "run", "x.py", "--wait", source=source) as process:
        run_id = process.hears(r"(?s)approve approval-\w+.*approve approval-\w+.*(run-\w+) waits here")
        process.hears("Ctrl-C leaves")
        process.process.send_signal(signal.SIGINT)
        assert process.ends()[0] == 3
    assert ready("resume", run_id, "--yes").code == 0
    assert sorted(lines(ready)) == ["a", "b"]


def test_an_interrupt_when_nothing_waits_still_cancels(ready: Command) -> None:
    with staying(
        ready, "run", "x.py", "--wait", source="import sys\nprint('go', file=sys.stderr)\nwhile True: pass"
    ) as it:
        it.hears("go")
        it.process.send_signal(signal.SIGINT)
        assert it.ends()[0] == 130


def test_a_decision_about_a_run_that_is_waited_for_asks_nobody_to_resume_it(ready: Command) -> None:
    source = "tools.ledger.add(line='a').unwrap()"
    with staying(ready, "run", "x.py", "--wait", source=source) as process:
        decided = ready("approval", "approve", process.hears(r"coilclaw approval approve (approval-\w+)"))
        assert process.ends()[0] == 0
    assert "continues in the process that waits for it" in decided.err
    assert "coilclaw resume" not in decided.err


def test_a_run_that_is_waited_for_is_not_resumed_elsewhere(ready: Command) -> None:
    with staying(ready, "run", "x.py", "--wait", source="tools.ledger.add(line='a').unwrap()") as process:
        run_id = process.hears(r"(run-\w+) waits here")
        done = ready("resume", run_id)
    assert done.code == 2
    assert "under way in another process" in done.err


def test_a_resumed_run_can_be_waited_for_too(ready: Command) -> None:
    facts = waits(ready, "[tools.ledger.add(line=n).unwrap() for n in 'ab']")
    ready("approval", "approve", facts["approvals"][0]["id"])
    with staying(ready, "resume", facts["run_id"], "--wait", "--json") as process:
        ready("approval", "approve", process.hears(r"coilclaw approval approve (approval-\w+)"))
        code, out = process.ends()
    assert code == 0
    assert '"value": [1, 2]' in out
    assert lines(ready) == ["a", "b"]


def test_the_restricted_engine_waits_and_is_resumed_on_the_same_engine(ready: Command) -> None:
    facts = waits(ready, "tools.ledger.add(line='a').unwrap()", "--engine", "restricted")
    done = ready("approval", "approve", facts["approvals"][0]["id"], "--resume", "--json")
    assert (done.code, done.json["engine"], done.json["value"]) == (0, "restricted", 1)


def test_a_decision_reaches_a_waiting_process_soon(ready: Command) -> None:
    """The benchmarks measure how soon; here it is soon enough to be seen, on a machine however busy."""
    from coilclaw.policy import ApprovalStore
    from coilclaw.receipts import ReceiptLog, found_log
    from coilclaw.runs import MIGRATIONS
    from coilclaw.store import Database

    source = "[tools.ledger.add(line=str(n)).unwrap() for n in range(5)]"
    with (
        staying(ready, "run", "x.py", "--wait", source=source) as process,
        Database(ready.home / "coilclaw.db", MIGRATIONS) as database,
        ReceiptLog(database, found_log(database, ready.home / "keys/receipts.key")) as log,
    ):
        book = ApprovalStore(database, log)
        process.hears("Ctrl-C")
        took = []
        for done in range(5):
            while not (pending := book.list("pending")):
                time.sleep(0.002)
            began = time.perf_counter()
            book.decide(pending[0].id, approved=True, decided_by="me")
            while len(lines(ready)) == done:
                time.sleep(0.002)
            took.append(time.perf_counter() - began)
        assert process.ends()[0] == 0
    assert min(took) < 2
