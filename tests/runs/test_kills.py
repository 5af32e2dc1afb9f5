"""Runs whose process is killed at every commit, and that others go on with: nothing is done twice, nothing is lost.

A life is a process of its own: it begins the run, or answers what the run asks and resumes it. A file system that
counts kills it (SIGKILL) before a commit is written, between its last write and its sync, and right after the sync,
before anyone has heard of it. The next life goes on. The processes are forked by one that has loaded everything.

`python tests/runs/test_kills.py` kills every program at every one of its boundaries; the suite does so for the richest
one and takes samples of the others.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import Any, Final

import pytest
from pydantic_core import to_json
from tests.sampling import EVERYTHING, repetitions, sample

from coilclaw.receipts import digest

LIVES: Final = '''
import json, os, signal, sys
from pathlib import Path
import apsw
from coilclaw.bridge import Handlers, Services, build_registry
from coilclaw.policy import ApprovalStore, Autonomy, NobodyToAsk, Policy, Rule
from coilclaw.receipts import ReceiptLog
from coilclaw.runs import MIGRATIONS, Runtime
from coilclaw.sandbox import Limits, Snippet
from coilclaw.sandbox.wasm import WasmEngine
from coilclaw.sdk import Decision, ToolContext, ToolFailure, define_tool
from coilclaw.store import Database


def done(ctx, name):
    place = os.open(ctx.workspace / "done", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    os.write(place, f"{name} {ctx.call_id.rsplit('-', 1)[1]}\\n".encode())
    os.close(place)


@define_tool(id="shelf.look", risk="read")
def look(ctx: ToolContext, of: str) -> str:
    """Look."""
    if of == "nothing":
        raise ToolFailure("there is nothing", code="not_found")
    return of


@define_tool(id="shelf.put", risk="write", idempotent=True)
def put(ctx: ToolContext, line: str) -> str:
    """The same key again changes nothing. Key and effect are one file: a death between two would lose one of them."""
    number = ctx.call_id.rsplit("-", 1)[1]
    try:
        os.close(os.open(ctx.workspace / f"put {number} {ctx.idempotency_key}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        pass
    return "put"


@define_tool(id="shelf.note", risk="write")
def note(ctx: ToolContext, line: str) -> str:
    """Every execution shows."""
    done(ctx, "note")
    return "noted"


@define_tool(id="shelf.send", risk="destructive")
def send(ctx: ToolContext, line: str) -> str:
    """Asked about, and every execution shows."""
    done(ctx, "send")
    return "sent"


class Mortal(apsw.VFS):
    """Knows three boundaries of each commit, and dies at the given one."""

    def __init__(self, die_at):
        super().__init__("mortal", "unix", makedefault=True)
        self.die_at, self.count, self.synced = die_at, 0, True

    def xOpen(self, name, flags):
        return MortalFile(self, name, flags)

    def step(self):
        self.count += 1
        if self.count == self.die_at:
            os.kill(os.getpid(), signal.SIGKILL)


class MortalFile(apsw.VFSFile):
    def __init__(self, vfs, name, flags):
        super().__init__("unix", name, flags)
        self.vfs = vfs

    def xWrite(self, data, offset):
        if self.vfs.synced:
            self.vfs.synced = False
            self.vfs.step()
        super().xWrite(data, offset)

    def xSync(self, flags):
        self.vfs.step()
        super().xSync(flags)
        self.vfs.step()
        self.vfs.synced = True


def runtime_of(home, database, log):
    return Runtime(Services(
        log=log, policy=Policy(Autonomy.FULL, [Rule(tool="shelf.send", decision=Decision.ASK)]),
        handlers=Handlers(), workspace=home / "workspace", secret=lambda name: None,
        database=database, approvals=ApprovalStore(database, log),
    ))


def life(home, source, die_at, unknown):
    (home / "workspace").mkdir(exist_ok=True)
    engine, registry = WasmEngine(Path(sys.argv[1])), build_registry([([look, put, note, send], ())])
    before, _, source = source.rpartition("# Corrected:")
    with Database(home / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, b"k" * 32) as log:
        if before and not database.read("SELECT 1 FROM runs"):
            runtime_of(home, database, log).run(Snippet(source=before), engine, registry, Limits())
    vfs = Mortal(die_at)
    with Database(home / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, b"k" * 32) as log:
        book, runtime = ApprovalStore(database, log), runtime_of(home, database, log)
        known = database.read("SELECT run_id, status FROM runs ORDER BY run_id")
        retry_of = known.pop(0)[0] if before else None
        if known and known[0][1] == "completed":
            # It died after it had ended and before anyone was told; what it ended with is in its last receipt.
            return {"status": "ended", **log.of_run(known[0][0])[-1].payload}
        if not known:
            report = runtime.run(Snippet(source=source), engine, registry, Limits(), retry_of=retry_of)
        else:
            for each in book.list("pending", run_id=known[0][0]):
                book.decide(each.id, approved="refused" not in str(log.contents(each.args_hash)), decided_by="me")
            report = runtime.resume(known[0][0], lambda name: engine, registry, unknown=unknown)
    error = report.error.message if report.error else None
    return {
        "status": report.status, "value": report.value, "stdout": report.stdout, "error": error,
        "unknown": report.unknown, "number": report.unknown and unknown_number(home), "steps": vfs.count,
    }


def unknown_number(home):
    """The person looks which call was started and has no end."""
    with Database(home / "coilclaw.db", ()) as database, ReceiptLog(database, b"k" * 32) as log:
        open_ones = {}
        for receipt in log.latest(10**6):
            if receipt.type == "tool.call.started" and receipt.risk != "read" and receipt.tool != "shelf.put":
                open_ones[receipt.tool_call_id] = True
            elif receipt.type in ("tool.call.succeeded", "tool.call.failed"):
                open_ones.pop(receipt.tool_call_id, None)
    return sorted(int(each.rsplit("-", 1)[1]) for each in open_ones)[0]


for line in sys.stdin:
    order = json.loads(line)
    answer, said = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(answer)
        try:
            told = life(Path(order["home"]), order["source"], order["die_at"], order["unknown"])
        except BaseException as error:
            told = {"status": type(error).__name__, "error": str(error)}
        os.write(said, json.dumps(told).encode())
        os._exit(0)
    os.close(said)
    with os.fdopen(answer, "rb") as handle:
        told = handle.read()
    os.waitpid(child, 0)
    print(told.decode() or "{}", flush=True)
'''

PROGRAMS: Final = {
    "rich": """
import asyncio, random
print("begun")
first = tools.shelf.look(of="a").unwrap()
reads = [tools.shelf.look.start(of=str(n)) for n in range(2)]
put = tools.shelf.put(line=f"{first} {random.random()}").unwrap()
note = tools.shelf.note(line="alone")
sent = tools.shelf.send(line=f"one {random.random()}")
print("half", len(reads))
both = await asyncio.gather(
    tools.shelf.send.start(line="two"), tools.shelf.note.start(line="beside"), tools.shelf.put.start(line="x"), *reads
)
no = tools.shelf.send(line="refused")
last = tools.shelf.note(line="last")
def told(result):
    return result.value if result.ok else result.error.code
[first, put, told(note), told(sent), [told(each) for each in both], told(no), told(last)]
""",
    "two in a row": """
a = tools.shelf.send(line="1")
b = tools.shelf.look(of="nothing")
c = tools.shelf.send(line="2")
[each.value if each.ok else each.error.code for each in (a, b, c)]
""",
    "left": """
import asyncio, atexit
atexit.register(lambda: tools.shelf.note(line="at exit"))
async def opened():
    try:
        yield 1
    finally:
        await tools.shelf.put.start(line="closed")
generator = opened()
await anext(generator)
async def later(n):
    await asyncio.sleep(0)
    tools.shelf.note.start(line=f"task {n}")
tools.shelf.send.start(line="left")
given_up = tools.shelf.send.start(line="given up")
given_up.cancel()
tools.shelf.note.start(line="left")
tasks = [asyncio.create_task(later(n)) for n in range(2)]
print("ended")
"value"
""",
    "polling": """
import asyncio
calls = [tools.shelf.note.start(line=str(n)) for n in range(3)]
while not all(call.done for call in calls):
    await asyncio.sleep(0)
sends = [tools.shelf.send.start(line=str(n)) for n in range(2)]
ends = await asyncio.gather(*sends)
[each.value if each.ok else each.error.code for each in [*[call.result() for call in calls], *ends]]
""",
    "retry": """
tools.shelf.note(line="a"); tools.shelf.put(line="b"); tools.shelf.note(line="d"); 1/0
# Corrected:
first = [tools.shelf.look(of=each).unwrap() for each in "abc"]
a = tools.shelf.note(line="a")
b = tools.shelf.put.start(line="b")
sent = tools.shelf.send(line="x")
c = tools.shelf.note(line="c")
d = await tools.shelf.note.start(line="d")
again = tools.shelf.note(line="a")
[each.value if each.ok else each.error.code for each in (a, b.result(), sent, c, d, again)]
""",
}


@dataclass
class Ending:
    """How a run ended after all its lives."""

    value: Any
    stdout: str
    done: Counter[str]
    steps: int
    failed: set[int] = field(default_factory=set)
    retried: set[int] = field(default_factory=set)
    deaths: int = 0


class Lives:
    """Two processes that fork the others."""

    def __init__(self, cache: Path) -> None:
        command = [sys.executable, "-c", LIVES, str(cache)]
        self._parents: Queue[subprocess.Popen[str]] = Queue()
        for _ in range(2):
            self._parents.put(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))

    def live(self, home: Path, source: str, die_at: int, unknown: str | None) -> dict[str, Any]:
        parent = self._parents.get()
        try:
            assert parent.stdin is not None
            assert parent.stdout is not None
            order = {"home": str(home), "source": source, "die_at": die_at, "unknown": unknown}
            parent.stdin.write(json.dumps(order) + "\n")
            parent.stdin.flush()
            told: dict[str, Any] = json.loads(parent.stdout.readline())
            return told
        finally:
            self._parents.put(parent)

    def at_each(self, folder: Path, source: str, steps: Sequence[int]) -> Iterator[tuple[int, Ending]]:
        """How the run ends that dies at each of these boundaries."""
        with ThreadPoolExecutor(2) as pool:
            yield from zip(
                steps, pool.map(lambda step: self.to_the_end(folder / str(step), source, step), steps), strict=True
            )

    def to_the_end(self, home: Path, source: str, die_at: int = 0, *, again: int = 0) -> Ending:
        """Live until the run is over, dying at this boundary, and at `again` of the life after that."""
        home.mkdir(parents=True, exist_ok=True)
        unknown: str | None = None
        steps, deaths = 0, 0
        failed: set[int] = set()
        retried: set[int] = set()
        for _ in range(40):
            told = self.live(home, source, die_at - steps if die_at > steps else 0, unknown)
            unknown = None
            if not told:
                deaths += 1
                die_at, again = (steps + again, 0) if again else (0, 0)
                continue
            steps += told.get("steps", 0)
            if told["status"] == "ended":
                return Ending(told["value_hash"], told["stdout_hash"], _done(home), steps, failed, retried, deaths)
            if told["status"] == "completed":
                return Ending(told["value"], told["stdout"], _done(home), steps, failed, retried, deaths)
            assert told["status"] == "suspended", told
            if told["unknown"]:
                # A person looks at what was done, and says so.
                happened = any(line.endswith(f" {told['number']}") for line in _done(home))
                unknown = "failed" if happened else "retry"
                (failed if happened else retried).add(told["number"])
        raise AssertionError("it never ends")

    def close(self) -> None:
        while not self._parents.empty():
            with self._parents.get() as parent:
                parent.communicate()


def _done(home: Path) -> Counter[str]:
    file = home / "workspace" / "done"
    puts = [each.name.rpartition(" ")[0] for each in file.parent.glob("put *")]
    return Counter([*(file.read_text().splitlines() if file.exists() else []), *puts])


def check(undisturbed: Ending, ending: Ending, where: str) -> None:
    """Each effect once, none missing, and the value it would have had."""
    assert set(ending.done.values()) == {1}, f"{where}: done twice: {ending.done}"
    assert set(ending.done) == set(undisturbed.done), f"{where}: lost {set(undisturbed.done) - set(ending.done)}"
    check_value(undisturbed, ending, where)


def check_value(undisturbed: Ending, ending: Ending, where: str) -> None:
    if isinstance(ending.value, str):
        assert ending.value == digest(to_json(undisturbed.value)), where
        assert ending.stdout == digest(undisturbed.stdout.encode()), where
        return
    if not ending.failed:
        assert ending.value == undisturbed.value, where
    else:
        # What a person called failed is told as such; nothing else differs.
        told, then = json.dumps(ending.value), json.dumps(undisturbed.value)
        assert told.count("unknown_outcome") == len(ending.failed), where
        parts = zip(told.replace("[", " ").split(), then.replace("[", " ").split(), strict=True)
        assert sum(a != b for a, b in parts) == len(ending.failed), where
    assert ending.stdout == undisturbed.stdout, where


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    from tests.conftest import cache_folder

    started = Lives(cache_folder())
    yield started
    started.close()


@pytest.mark.req("R32", "R139")
@pytest.mark.timeout(1800)  # For every boundary, on a busy machine.
def test_death_at_every_boundary_of_a_run_does_nothing_twice_and_loses_nothing(lives: Lives, tmp_path: Path) -> None:
    undisturbed = lives.to_the_end(tmp_path / "undisturbed", PROGRAMS["rich"])
    assert undisturbed.value == [
        "a",
        "put",
        "noted",
        "sent",
        ["sent", "noted", "put", "0", "1"],
        "approval_denied",
        "noted",
    ]
    assert sorted(undisturbed.done) == ["note 11", "note 5", "note 8", "put 4", "put 9", "send 6", "send 7"]
    died = unknown = 0
    steps = sample(range(1, undisturbed.steps + 1), 16)
    for step, ending in lives.at_each(tmp_path, PROGRAMS["rich"], steps):
        check(undisturbed, ending, f"death at boundary {step}")
        died += ending.deaths
        unknown += bool(ending.failed or ending.retried)
    assert died > 0.7 * len(steps), "how many commits the reads share depends on time, but not by that much"
    if EVERYTHING:  # A sample may miss the few boundaries between a call and its outcome.
        assert unknown > 0


@pytest.mark.parametrize("program", ["two in a row", "polling", "retry"])
def test_death_at_some_boundaries_of_other_runs(lives: Lives, tmp_path: Path, program: str) -> None:
    undisturbed = lives.to_the_end(tmp_path / "undisturbed", PROGRAMS[program])
    for step, ending in lives.at_each(tmp_path, PROGRAMS[program], sample(range(1, undisturbed.steps + 1, 6), 8)):
        check(undisturbed, ending, f"death at boundary {step}")


def test_a_retry_does_what_was_not_done_and_nothing_else(lives: Lives, tmp_path: Path) -> None:
    ending = lives.to_the_end(tmp_path, PROGRAMS["retry"])
    assert ending.value == ["noted", "put", "sent", "noted", "noted", "noted"]
    assert sorted(ending.done) == ["note 1", "note 3", "note 7", "note 9", "put 2", "send 6"]


def test_death_at_any_boundary_loses_no_call_that_was_left_and_none_of_the_clean_up(
    lives: Lives, tmp_path: Path
) -> None:
    undisturbed = lives.to_the_end(tmp_path / "undisturbed", PROGRAMS["left"])
    assert sorted(undisturbed.done) == ["note 3", "note 4", "note 5", "note 7", "put 6", "send 1"]
    for step, ending in lives.at_each(tmp_path, PROGRAMS["left"], sample(range(1, undisturbed.steps + 1), 16)):
        check_left(undisturbed, ending, f"death at boundary {step}")


def check_left(undisturbed: Ending, ending: Ending, where: str) -> None:
    """Like `check`. If the process died before the call was given up, a person may have approved it meanwhile."""
    done = Counter({each: count for each, count in ending.done.items() if each != "send 2"})
    assert set(ending.done.values()) == {1}, f"{where}: done twice: {ending.done}"
    assert set(done) == set(undisturbed.done), f"{where}: lost {set(undisturbed.done) - set(done)}"
    if isinstance(ending.value, str) and ending.value != "value":
        assert ending.value == digest(to_json("value")), where
    else:
        assert (ending.value, ending.stdout) == ("value", "ended\n"), where


def test_dying_again_while_going_on_does_no_harm(lives: Lives, tmp_path: Path) -> None:
    source = PROGRAMS["two in a row"]
    undisturbed = lives.to_the_end(tmp_path / "undisturbed", source)
    for step in range(2, undisturbed.steps + 1, repetitions(40, 20)):
        for again in (5, 9):
            ending = lives.to_the_end(tmp_path / f"{step}-{again}", source, step, again=again)
            check(undisturbed, ending, f"deaths at {step} and {again}")


def main() -> None:
    """Every boundary of every program."""
    from tests.conftest import cache_folder

    lives = Lives(cache_folder())
    for name, source in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            undisturbed = lives.to_the_end(Path(folder) / "undisturbed", source)
            died = 0
            for step, ending in lives.at_each(Path(folder), source, range(1, undisturbed.steps + 1)):
                checked = check_left if name == "left" else check
                checked(undisturbed, ending, f"{name}: death at boundary {step}")
                died += ending.deaths
                sys.stdout.write(f"\r{name}: {step} of {undisturbed.steps} boundaries, {died} deaths")
                sys.stdout.flush()
        sys.stdout.write("\n")
    lives.close()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main()
