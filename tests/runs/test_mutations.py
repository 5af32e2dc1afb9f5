"""A run that waits is changed behind its back, in one place at a time: it ends before it has an effect.

Seeded changes of everything a repetition is made from: rows of the journal and their order, the header, the source, the
inputs and the results, receipts with and without their hashes, and the versions of tools. Changes that change nothing are
not made: keys of a table that nothing reads, the space between the values of a header. What a process that died
had been told after its last receipt stands by itself (see `runs/history.py`) and is left out too.
`python tests/runs/test_mutations.py` makes 2,000 of them.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from tests.conftest import KEY, cache_folder
from tests.sampling import sample

from coilclaw.bridge import Handlers, Services, build_registry
from coilclaw.policy import ApprovalStore, Autonomy, Policy, Rule
from coilclaw.receipts import ReceiptLog, digest
from coilclaw.runs import MIGRATIONS, RunReport, Runtime
from coilclaw.sandbox import Limits, Snippet
from coilclaw.sandbox.wasm import WasmEngine
from coilclaw.sdk import Decision, EvidenceUnavailable, OperatorError, Tool, ToolContext, ToolFailure, define_tool
from coilclaw.store import Database

SOURCE: Final = """
import asyncio, random, time
print("begun", start)
a = tools.shelf.look(of="a").unwrap()
missing = tools.shelf.look(of="nothing")
calls = [tools.shelf.look.start(of=str(n)) for n in range(3)]
done = await asyncio.gather(*calls)
b = tools.shelf.look(of=f"{a} {missing.error.code} {random.random()} {time.time()}").unwrap()
late = tools.shelf.look.start(of="late")
given_up = tools.shelf.drop.start()
given_up.cancel()
left = tools.shelf.look.start(of="left")
sent = tools.shelf.send(line=a + b)
[a, b, sent.ok, late.result().ok]
"""


@define_tool(id="shelf.look", risk="read")
def look(ctx: ToolContext, of: str) -> str:
    """Look."""
    if of == "nothing":
        raise ToolFailure("there is nothing", code="not_found", hint="look elsewhere")
    return f"saw {of}"


@define_tool(id="shelf.look", risk="read", timeout=9)
def look_changed(ctx: ToolContext, of: str) -> str:
    """Look again."""
    return "changed"


@define_tool(id="shelf.send", risk="write")
def send(ctx: ToolContext, line: str) -> str:
    """Every execution shows."""
    (ctx.workspace / "done").write_text(line)
    return line


@define_tool(id="shelf.send", risk="write", timeout=9)
def send_changed(ctx: ToolContext, line: str) -> str:
    """Every execution shows."""
    (ctx.workspace / "done").write_text(line)
    return line


@define_tool(id="shelf.drop", risk="write")
def drop(ctx: ToolContext) -> None:
    """Is never called: the snippet gives it up."""
    (ctx.workspace / "done").touch()


@dataclass
class Shelf:
    """A folder with a run in it that waits, and what is needed to go on."""

    home: Path
    engine: WasmEngine
    tools: tuple[Tool, ...] = (look, send, drop)
    run_id: str = ""
    workspace: Path = Path()

    def copy(self, home: Path) -> Shelf:
        """The same run in another database, for the same workspace: elsewhere it could not go on at all."""
        home.mkdir()
        for name in ("coilclaw.db", "coilclaw.db-wal"):
            if (self.home / name).exists():
                shutil.copy(self.home / name, home / name)
        return Shelf(home, self.engine, run_id=self.run_id, workspace=self.workspace)

    def do(self, work: Callable[[Runtime, ApprovalStore, Any], RunReport]) -> RunReport:
        with Database(self.home / "coilclaw.db", MIGRATIONS) as database, ReceiptLog(database, KEY) as log:
            handlers = Handlers()
            book = ApprovalStore(database, log)
            around = Services(
                log=log,
                policy=Policy(
                    Autonomy.FULL, [Rule(tool=f"shelf.{name}", decision=Decision.ASK) for name in ("send", "drop")]
                ),
                handlers=handlers,
                workspace=self.workspace,
                secret=lambda name: None,
                database=database,
                approvals=book,
            )
            try:
                return work(Runtime(around), book, build_registry([(self.tools, ())]))
            finally:
                handlers.close()

    def begin(self) -> None:
        self.workspace = self.home / "workspace"
        self.workspace.mkdir(parents=True)

        def work(runtime: Runtime, book: ApprovalStore, registry: Any) -> RunReport:
            snippet = Snippet(source=SOURCE, inputs={"start": [1, 2, 3]})
            report = runtime.run(snippet, self.engine, registry, Limits())
            (asked,) = book.list("pending")
            book.decide(asked.id, approved=True, decided_by="me")
            return report

        report = self.do(work)
        assert report.status == "suspended", report
        self.run_id = report.run_id

    def resume(self) -> RunReport:
        return self.do(lambda runtime, book, registry: runtime.resume(self.run_id, lambda name: self.engine, registry))

    @property
    def effect(self) -> bool:
        return (self.workspace / "done").exists()


Change = Callable[[Any, random.Random], tuple[Tool, ...] | None]


def _rows(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    return list(connection.execute(sql))


def _nudged(text: str, chance: random.Random) -> str:
    """One letter or digit that means something is another."""
    places = [at for at, letter in enumerate(text) if letter.isalnum()]
    at = chance.choice(places)
    letter = chance.choice([each for each in "0123456789abcdefx" if each != text[at]])
    return text[:at] + letter + text[at + 1 :]


def _journal_body(connection: Any, chance: random.Random) -> None:
    kind, key, body = chance.choice(_rows(connection, "SELECT kind, key, body FROM journal"))
    changed = _nudged(body, chance)
    connection.execute("UPDATE journal SET body = ? WHERE kind = ? AND key = ?", (changed, kind, key))


def _journal_clock(connection: Any, chance: random.Random) -> None:
    key, body = chance.choice(_rows(connection, "SELECT key, body FROM journal WHERE kind = 'delivery'"))
    fields = json.loads(body)
    fields[-1] += chance.choice([1, -1, 10**9, -fields[-1]]) or 1
    connection.execute("UPDATE journal SET body = ? WHERE kind = 'delivery' AND key = ?", (json.dumps(fields), key))


def _journal_lost(connection: Any, chance: random.Random) -> None:
    kind, key = chance.choice(_rows(connection, "SELECT kind, key FROM journal"))
    connection.execute("DELETE FROM journal WHERE kind = ? AND key = ?", (kind, key))


def _journal_end_lost(connection: Any, chance: random.Random) -> None:
    ((last,),) = _rows(connection, "SELECT max(key) FROM journal WHERE kind = 'delivery'")
    connection.execute("DELETE FROM journal WHERE kind = 'delivery' AND key >= ?", (chance.randrange(1, last + 1),))


def _journal_swapped(connection: Any, chance: random.Random) -> None:
    rows = _rows(connection, "SELECT key, body FROM journal WHERE kind = 'delivery'")
    (one, first), (other, second) = chance.sample(rows, 2)
    for key, body in ((one, second), (other, first)):
        connection.execute("UPDATE journal SET body = ? WHERE kind = 'delivery' AND key = ?", (body, key))


def _journal_longer(connection: Any, chance: random.Random) -> None:
    ((run_id, last),) = _rows(connection, "SELECT run_id, max(key) FROM journal WHERE kind = 'delivery'")
    body = chance.choice(["[[],5]", "[1]", "[[8],99999999999]", '[9,null,"{}",5]', "[[1],5]"])
    connection.execute("INSERT INTO journal VALUES (?, 'delivery', ?, ?)", (run_id, last + 1, body))


def _header(connection: Any, chance: random.Random) -> None:
    ((text,),) = _rows(connection, "SELECT header FROM runs")
    header = json.loads(text)
    names = sorted(set(header) - {"conversation_id", "limits"})
    name = chance.choice(names)
    header[name] = header[name] + 1 if isinstance(header[name], int) else _nudged(header[name], chance)
    connection.execute("UPDATE runs SET header = ?", (json.dumps(header),))


def _limits(connection: Any, chance: random.Random) -> None:
    ((text,),) = _rows(connection, "SELECT header FROM runs")
    header = json.loads(text)
    header["limits"][chance.choice(sorted(header["limits"]))] += chance.randrange(1, 9)
    connection.execute("UPDATE runs SET header = ?", (json.dumps(header),))


def _source(connection: Any, chance: random.Random) -> None:
    """Another program under another hash, which the header names."""
    ((text,),) = _rows(connection, "SELECT header FROM runs")
    header = json.loads(text)
    name = chance.choice(["code_hash", "inputs_hash"])
    ((body,),) = connection.execute("SELECT body FROM contents WHERE hash = ?", (header[name],)).fetchall()
    changed = _nudged(bytes(body).decode(), chance).encode()
    header[name] = digest(changed)
    connection.execute("INSERT OR IGNORE INTO contents VALUES (?, ?)", (digest(changed), changed))
    connection.execute("UPDATE runs SET header = ?", (json.dumps(header),))


def _contents(connection: Any, chance: random.Random) -> None:
    """Another program, other inputs or another result, under the same hash."""
    ((text,),) = _rows(connection, "SELECT header FROM runs")
    header = json.loads(text)
    used = [header["code_hash"], header["inputs_hash"]]
    for (body,) in _rows(connection, "SELECT body FROM journal WHERE kind = 'answer' OR body LIKE '[%,null,%'"):
        used.extend(each for each in json.loads(body) if isinstance(each, str) and len(each) == 64)
    name = chance.choice(used)
    ((body,),) = connection.execute("SELECT body FROM contents WHERE hash = ?", (name,)).fetchall()
    changed = _nudged(bytes(body).decode(), chance).encode()
    if chance.random() < 0.2:
        connection.execute("DELETE FROM contents WHERE hash = ?", (name,))
    else:
        connection.execute("UPDATE contents SET body = ? WHERE hash = ?", (changed, name))


def _receipt(connection: Any, chance: random.Random) -> None:
    seq, body = chance.choice(_rows(connection, "SELECT seq, CAST(body AS BLOB) FROM receipts"))
    changed = _nudged(bytes(body).decode(), chance).encode()
    connection.execute("UPDATE receipts SET body = ? WHERE seq = ?", (changed, seq))
    if chance.random() < 0.6:  # By someone who knows what the hash is for.
        connection.execute("UPDATE receipts SET receipt_hash = ? WHERE seq = ?", (digest(changed), seq))


def _receipt_lost(connection: Any, chance: random.Random) -> None:
    seq = chance.choice(_rows(connection, "SELECT seq FROM receipts"))[0]
    connection.execute("DELETE FROM receipts WHERE seq = ?", (seq,))


def _receipts_and_journal_lost(connection: Any, chance: random.Random) -> None:
    """As if the run had not come so far: what it did would be done again."""
    ((first, last),) = _rows(connection, "SELECT min(seq) + 1, max(seq) FROM receipts")
    seq = chance.randrange(first, last)
    connection.execute("DELETE FROM receipts WHERE seq BETWEEN ? AND ?", (seq, last - 1))
    connection.execute("DELETE FROM journal WHERE key >= ?", (chance.randrange(1, 4),))


def _beginning(connection: Any, chance: random.Random) -> None:
    """The receipts of the run begin later, so that fewer are looked at."""
    ((last,),) = _rows(connection, "SELECT max(seq) FROM receipts")
    connection.execute("UPDATE runs SET first_seq = ?", (chance.randrange(2, last + 10),))
    if chance.random() < 0.5:
        connection.execute("DELETE FROM journal")


def _versions(connection: Any, chance: random.Random) -> tuple[Tool, ...]:
    return chance.choice(
        [(look_changed, send, drop), (look, send_changed, drop), (send, drop), (look, drop), (look, send)]
    )


CHANGES: Final[dict[str, Change]] = {
    change.__name__.strip("_"): change
    for change in (
        _journal_body,
        _journal_clock,
        _journal_lost,
        _journal_end_lost,
        _journal_swapped,
        _journal_longer,
        _header,
        _limits,
        _source,
        _contents,
        _receipt,
        _receipt_lost,
        _receipts_and_journal_lost,
        _beginning,
        _versions,
    )
}


_NOT_EVEN_TAKEN_OVER: Final = ("header", "source", "contents", "versions", "limits")


def ended(original: Shelf, folder: Path, kind: str, seed: int) -> str:
    """Change a copy of the waiting run and go on with it; says how that ended, without an effect."""
    home = folder / f"{kind}-{seed}"
    shelf = original.copy(home)
    with Database(home / "coilclaw.db", ()) as database, database.transaction() as connection:
        tools = CHANGES[kind](connection, random.Random(f"{kind} {seed}"))
    if tools is not None:
        shelf.tools = tools
    try:
        status: str = shelf.resume().status
    except (OperatorError, EvidenceUnavailable) as error:
        status = type(error).__name__
    assert not shelf.effect, f"{kind} {seed}: an effect, and {status}"
    expected = {"diverged", "LogUnwritable"}
    if kind in _NOT_EVEN_TAKEN_OVER:
        expected |= {"NotResumable", "DamagedReceipt"}
    if tools == (look, send_changed, drop):
        expected = {"suspended"}  # Asked again.
    assert status in expected, f"{kind} {seed}: {status}"
    shutil.rmtree(home)
    return status


@pytest.fixture(scope="module")
def original(engine: WasmEngine, tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    shelf = Shelf(tmp_path_factory.mktemp("original"), engine)
    shelf.begin()
    return shelf


def test_without_a_change_it_goes_on(original: Shelf, tmp_path: Path) -> None:
    """Or all the others would hold for nothing."""
    unchanged(original, tmp_path)


def unchanged(original: Shelf, folder: Path) -> None:
    copy = original.copy(folder / "unchanged")
    report = copy.resume()
    assert report.status == "completed", report.error
    assert report.value[2:] == [True, True]
    assert copy.effect
    (copy.workspace / "done").unlink()


@pytest.mark.parametrize("kind", list(CHANGES))
def test_a_changed_run_ends_before_it_has_an_effect(original: Shelf, tmp_path: Path, kind: str) -> None:
    for seed in sample(range(68), 12):
        ended(original, tmp_path, kind, seed)


def main() -> None:
    engine = WasmEngine(cache_folder(), pool=2)
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder) / "original", engine)
        shelf.begin()
        unchanged(shelf, Path(folder))
        ends: Counter[str] = Counter()
        for seed in range(2010 // len(CHANGES)):
            for kind in CHANGES:
                ends[ended(shelf, Path(folder), kind, seed)] += 1
            sys.stdout.write(f"\r{sum(ends.values())} changes, no effect: {dict(ends)}")
            sys.stdout.flush()
    sys.stdout.write("\n")
    engine.close()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main()
