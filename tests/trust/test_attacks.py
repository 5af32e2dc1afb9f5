"""Ways to have something run, or be believed, that nobody trusts. Each of them worked once."""

from __future__ import annotations

import asyncio
import json
import mmap
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.conftest import World
from tests.trust.test_quarantine import EVIL, MINE, Place, acting, place_of, put

from coilclaw.receipts import Draft, now
from coilclaw.sdk import ToolFailure
from coilclaw.store import Database
from coilclaw.trust import MIGRATIONS, is_running, this_process
from coilclaw.workspace_tools import Sources, TooManyFiles, Workspace

CODE = EVIL.format(value=1)


@pytest.fixture
def place(world: World, database: Database) -> Place:
    return place_of(world, database)


# What is not admitted does not run, whoever imports it ------------------------------------------------------


def test_a_package_beside_a_persons_file_does_not_run_in_its_place(place: Place) -> None:
    place.write("tools/mine/tools.py", MINE)
    place.call(acting(put("tools/mine/tools/__init__.py")), text=CODE)
    assert place.names() == ["mine.tool"]
    assert not place.ran


def test_a_file_whose_name_spells_another_module_does_not_run_in_its_place(place: Place) -> None:
    place.write("tools/mine/tools.py", MINE + "\nfrom .part import client\n")
    place.write("tools/mine/part/client.py", "X = 1\n")
    place.call(acting(put("tools/mine/part.client.py")), text=CODE)
    assert place.names() == ["mine.tool"]
    assert not place.ran


def test_a_package_that_imports_a_persons_file_does_not_run_with_it(place: Place) -> None:
    place.write("tools/mine/tools.py", MINE)
    place.call(acting(put("tools/mine/__init__.py")), text="from . import tools\n" + CODE)
    place.names()
    assert place.held() == ["tools/mine/__init__.py"]
    assert not place.ran


def test_files_that_import_each_other_do_not_run_each_other(place: Place) -> None:
    place.write("tools/mine/tools.py", MINE + "\nfrom . import alpha\n")
    place.call(acting(put("tools/mine/alpha.py")), text="from . import tools\n" + CODE)
    place.names()
    assert place.held() == ["tools/mine/alpha.py"]
    assert not place.ran


@pytest.mark.parametrize(
    "line", ["importlib.import_module('.zeta', __package__)", "__import__('zeta', globals(), None, ['x'], 1)"]
)
def test_an_import_nobody_can_see_in_the_source_runs_nothing_that_is_held(place: Place, line: str) -> None:
    place.write("tools/mine/tools.py", f"import importlib\n{MINE}\n{line}\n")
    place.call(acting(put("tools/mine/zeta.py")), text=CODE)
    assert place.names() == []
    assert not place.ran


def test_a_run_that_kept_an_old_version_never_falls_through_to_a_held_one(place: Place) -> None:
    """The module it kept is gone by then, and the name leads to the file as it was read later."""
    by_name = "import importlib\nget = lambda: importlib.import_module('._part', __package__).VALUE\n"
    place.write("tools/mine/_part.py", "VALUE = 1\n")
    place.write("tools/mine/tools.py", MINE.replace("return 1", "return get()") + by_name)
    place.workspace.refresh()
    assert place.workspace.tools[0](None) == 1
    place.call(acting(put("tools/mine/_part.py")), text="VALUE = 2\n" + CODE)
    place.workspace.refresh(force=True)
    (kept,) = place.workspace.tools
    assert kept(None) == 1, "what was in force stays in force"
    place.write("tools/mine/_part.py", "VALUE = 3\n")
    place.workspace.refresh(force=True)
    assert kept(None) == 1
    assert place.workspace.tools[0](None) == 3
    assert not place.ran


def test_the_version_of_a_tool_is_that_of_the_code_that_runs(place: Place) -> None:
    place.write("tools/mine/client.py", "VALUE = 1\n")
    place.write("tools/mine/tools.py", MINE + "\nfrom .client import VALUE\n")
    place.workspace.refresh()
    (before,) = place.workspace.tools
    place.call(acting(put("tools/mine/client.py")), text="VALUE = 2\n")
    assert place.held() == ["tools/mine/client.py"]
    assert place.workspace.tools[0].version == before.version
    place.ledger.trust("mine/client.py", b"VALUE = 2\n", "me")
    place.workspace.refresh()
    assert place.workspace.tools[0].version != before.version


def test_a_held_file_is_not_even_parsed(place: Place, recwarn: pytest.WarningsRecorder) -> None:
    place.call(acting(put("tools/evil/tools.py")), text="x = '\\d'\n" + CODE)
    place.names()
    assert place.held() == ["tools/evil/tools.py"]
    assert not [each for each in recwarn if issubclass(each.category, SyntaxWarning | DeprecationWarning)]


# Content that is there for a moment -----------------------------------------------------------------------


def test_what_one_call_shows_another_does_not_become_what_was_there_before(place: Place) -> None:
    """The first writes it, the second begins, the first takes it away and ends, the second writes it again."""
    written, begun, gone = threading.Event(), threading.Event(), threading.Event()
    file = place.root / "tools/evil/tools.py"

    def first(workspace: Path, text: str) -> None:
        put("tools/evil/tools.py")(workspace, text)
        written.set()
        assert begun.wait(60)
        file.unlink()

    def second(workspace: Path, text: str) -> None:
        begun.set()
        assert gone.wait(60)
        put("tools/evil/tools.py")(workspace, text)

    caller = threading.Thread(target=lambda: place.call(acting(first), text=CODE))
    caller.start()
    assert written.wait(60)
    later = acting(second)
    bridge = place.world.bridge(later)
    bridge.issue()  # The number of the first call, which came over another bridge.
    other = threading.Thread(target=lambda: bridge.call(later.id, json.dumps({"text": CODE}).encode(), 1))
    other.start()
    caller.join()
    gone.set()
    other.join()
    assert place.names() == []
    assert not place.ran


@pytest.mark.parametrize("begins", ["before", "while"])
def test_what_was_read_during_a_call_is_not_judged_by_what_is_known_after_it(place: Place, begins: str) -> None:
    """A content that is put there and taken away again by one call leaves no trace; the loader had read it."""
    wrote, go_on = threading.Event(), threading.Event()
    file = place.root / "tools/evil/tools.py"

    def flash(workspace: Path, text: str) -> None:
        put("tools/evil/tools.py")(workspace, text)
        wrote.set()
        assert go_on.wait(60)
        file.unlink()

    caller = threading.Thread(target=lambda: place.call(acting(flash), text=CODE))
    sources = Sources(place.root / "tools")
    reads = 0

    def read() -> dict[str, str]:
        nonlocal reads
        reads += 1
        if reads == 1:
            if begins == "while":
                caller.start()
                assert wrote.wait(60)
            found = {name: source.digest for name, source in sources.read().items()}
            go_on.set()
            caller.join()
            return found
        return {name: source.digest for name, source in sources.read().items()}

    if begins == "before":
        caller.start()
        assert wrote.wait(60)
    tree, judge = place.ledger.examine(read)
    assert set(judge(tree)) == set(tree), "held, or read again when it was gone"
    assert tree or reads > 1


def test_calls_that_never_stop_coming_hold_back_what_nobody_knows(place: Place) -> None:
    place.write("tools/mine/tools.py", MINE)
    act = acting(put("notes/x.txt"))

    def read() -> dict[str, str]:
        place.call(act, text="x")
        return place.workspace.sources.digests()

    tree, judge = place.ledger.examine(read)
    assert set(judge(tree)) == {"mine/tools.py"}
    assert place.names() == ["mine.tool"], "the next look is luckier"


def test_a_file_changed_through_a_mapping_is_seen_although_its_times_stay(place: Place) -> None:
    quiet = MINE.ljust(len(CODE) + 10)
    file = place.write("tools/mine/tools.py", quiet)
    os.utime(file)

    def through_a_mapping(workspace: Path, text: str) -> None:
        with file.open("r+b") as handle, mmap.mmap(handle.fileno(), 0) as mapped:
            mapped[0:1] = mapped[0:1]
            before = file.stat()
            settled = threading.Event()
            settled.wait(0.1)  # Old enough to be remembered by its times.
            place.workspace.sources.digests()
            place.workspace.sources.read()
            mapped[: len(text)] = text.encode()
            if file.stat().st_ctime_ns != before.st_ctime_ns:
                pytest.skip("this file system notices")

    place.call(acting(through_a_mapping), text=CODE.ljust(len(quiet)))
    assert place.names() == []
    assert not place.ran


def test_a_handler_whose_turn_comes_after_its_call_was_given_up_does_not_run(place: Place) -> None:
    ran: list[str] = []
    origin = Draft(type="tool.call.started", status="allowed", timestamp=now())

    async def handler() -> None:
        ran.append("async")

    for number in (1, 2):
        guarded = place.guard.begin(f"call-{number}", origin)
        place.world.log.append(rows=guarded.rows, contents=guarded.contents)
        drafts, rows = guarded.settle()
        place.world.log.append(*drafts, rows=rows)
        with pytest.raises(ToolFailure, match="given up"):
            if number == 1:
                guarded.run(lambda: ran.append("plain"))
            else:
                asyncio.run(guarded.run_async(handler()))
    assert ran == []


def test_a_second_attempt_at_a_call_is_guarded_beside_the_first(place: Place) -> None:
    origin = Draft(type="tool.call.started", status="allowed", timestamp=now())
    first, second = place.guard.begin("call-1", origin), place.guard.begin("call-1", origin)
    for each in (first, second):
        place.world.log.append(rows=each.rows, contents=each.contents)
    first.run(lambda: None)
    drafts, rows = first.settle()
    place.world.log.append(*drafts, rows=rows)
    place.write("tools/evil/tools.py", CODE)
    assert place.held() == ["tools/evil/tools.py"], "the second is still under way"
    second.run(lambda: None)
    drafts, rows = second.settle()
    place.world.log.append(*drafts, rows=rows)
    assert [each.type for each in drafts] == ["tool.module.written"]
    assert place.names() == []


# Files that are not tool files yet ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["evil.py", "evil-tools/tools.py", "evil/tools.new.py", "evil/too ls.py"])
def test_a_file_we_tell_a_person_to_rename_is_held_afterwards(place: Place, name: str) -> None:
    place.call(acting(put(f"tools/{name}")), text=CODE)
    place.workspace.refresh()
    assert place.workspace.diagnostics
    place.write("tools/evil/good.py", (place.root / "tools" / name).read_text())
    assert place.names() == []
    assert not place.ran


def test_a_name_that_is_no_text_does_not_stop_the_log(place: Place) -> None:
    folder = os.fsencode(place.root / "tools/mine")
    place.write("tools/mine/tools.py", MINE)
    with open(folder + b"/\xff.py", "wb") as file:
        file.write(b"")
    change = place.workspace.refresh()
    place.ledger.record_loaded([(source.name, source.data) for source in change.loaded])
    assert [tool.id for tool in place.workspace.tools] == ["mine.tool"]
    assert len(place.workspace.diagnostics) == 1
    place.call(acting(put("notes/x.txt")), text="x")
    assert place.world.log.verify().ok


def test_a_link_to_everything_is_refused_instead_of_followed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coilclaw.workspace_tools.sources._MOST_ENTRIES", 50)
    far = place.root / "far"
    for number in range(60):
        (far / f"d{number}").mkdir(parents=True)
    place.write("tools/mine/tools.py", MINE)
    (place.root / "tools/zfar").symlink_to(far)
    place.workspace.refresh()
    assert any("more than 50 files" in each.message for each in place.workspace.diagnostics)
    with pytest.raises(TooManyFiles):
        place.workspace.sources.digests()


def test_a_chain_of_imports_longer_than_the_stack_is_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "tools/mine"
    folder.mkdir(parents=True)
    for number in range(1500):
        (folder / f"_m{number:04}.py").write_text(f"def late():\n    from . import _m{number + 1:04}\n")
    (folder / "tools.py").write_text(MINE + "\nfrom . import _m0000\n")
    workspace = Workspace(tmp_path)
    workspace.refresh()
    assert [tool.id for tool in workspace.tools] == ["mine.tool"]


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", b"\x0c\x0b\n"])
def test_what_holds_nothing_but_blanks_needs_no_trust(place: Place, data: bytes) -> None:
    place.call(acting(lambda workspace, text: put("tools/mine/__init__.py")(workspace, data.decode())), text="")
    place.write("tools/mine/tools.py", MINE)
    assert place.held() == []


@pytest.mark.parametrize(
    "data",
    [
        "\ufeff".encode() + CODE.encode(),
        b"# -*- coding: utf-7 -*-\n# +AAo-" + CODE.encode("utf-7"),
        b"# coding: unicode_escape\n# \\u000a" + CODE.encode(),
        b"\x0c" + CODE.encode(),
        CODE.replace("\n", "\r").encode(),
    ],
    ids=["byte order mark", "utf-7", "unicode_escape", "form feed", "carriage returns"],
)
def test_however_it_is_encoded_it_is_held(place: Place, data: bytes) -> None:
    def write(workspace: Path, text: str) -> None:
        put("tools/evil/tools.py")(workspace, "")
        (workspace / "tools/evil/tools.py").write_bytes(data)

    place.call(acting(write), text="")
    assert place.names() == []
    assert place.held() == ["tools/evil/tools.py"]
    assert not place.ran


# A person's own work is not held against them --------------------------------------------------------------


def test_a_copy_of_a_persons_file_that_was_never_imported_is_not_held_against_it(place: Place) -> None:
    place.write("tools/mine/tools.py", MINE)
    part = place.write("tools/mine/_part.py", "VALUE = 1\n")
    place.call(acting(put("notes/copy.txt"), announce=True), text=part.read_text())
    assert place.held() == []


def test_trust_counts_at_once_even_while_a_call_hangs(place: Place) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def hang(workspace: Path, text: str) -> None:
        begun.set()
        assert go_on.wait(60)

    caller = threading.Thread(target=lambda: place.call(acting(hang), text=""))
    caller.start()
    assert begun.wait(60)
    place.write("tools/mine/tools.py", MINE)
    assert place.held() == ["tools/mine/tools.py"]
    place.ledger.trust("mine/tools.py", MINE.encode(), "me")
    assert place.held() == []
    assert place.names() == ["mine.tool"]
    go_on.set()
    caller.join()
    assert place.names() == ["mine.tool"]


def test_a_quarantined_file_gets_one_receipt_however_many_calls_follow(place: Place) -> None:
    place.call(acting(put("tools/evil/tools.py"), announce=True), text=CODE)
    for _ in range(3):
        place.call(acting(put("notes/x.txt")), text="x")
    assert place.world.types().count("tool.module.written") == 1


def test_edits_between_calls_and_a_checkout_load_at_once(place: Place) -> None:
    versions = [MINE.replace("return 1", f"return {number}") for number in range(3)]
    for text in [*versions, *versions]:
        place.write("tools/mine/tools.py", text)
        place.write("tools/mine/tools.py", text + "\n# formatted\n")
        assert place.held() == []
        place.call(acting(put("notes/x.txt"), announce=True), text="x")


def test_rows_of_before_a_restart_are_of_a_process_that_is_gone() -> None:
    number, started, boot = this_process().split(":")
    assert is_running(this_process())
    assert is_running(f"{number}:{started}"), "as earlier versions wrote it"
    assert not is_running(f"{number}:{started}:{'0' * len(boot)}") or not boot
    assert not is_running(f"{number}:1:{boot}")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells the state of a process here")
def test_a_process_that_ended_and_was_not_waited_for_is_not_running() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "from coilclaw.trust import this_process; print(this_process(), flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        name = child.stdout.readline().strip()
        assert is_running(name)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # Ended, and still a zombie.
        assert Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        assert not is_running(name)


def test_calls_that_were_under_way_before_an_update_are_still_known(tmp_path: Path) -> None:
    with Database(tmp_path / "x.db", MIGRATIONS[:1]) as database, database.transaction() as connection:
        connection.execute("INSERT INTO guarded_calls VALUES ('call-1', '1:2', '/w/tools', 'abc')")
    with Database(tmp_path / "x.db", MIGRATIONS) as database:
        assert database.read("SELECT call_id, process, root, tree FROM guarded_calls") == [
            ("call-1", "1:2", "/w/tools", "abc")
        ]


def test_a_write_with_more_tool_files_than_can_be_watched_is_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coilclaw.workspace_tools.sources._MOST_ENTRIES", 50)
    for number in range(60):
        place.write(f"tools/mine/m{number}.py", "X = 1\n")
    bridge = place.world.bridge(acting(put("notes/x.txt")))
    for begins in (False, True):
        if begins:
            bridge.begin("hand.act", b'{"text":"x"}', 1)
            ((_, text),) = json.loads(bridge.wait(None))
            answer = json.loads(text)
        else:
            answer = json.loads(bridge.call("hand.act", b'{"text":"x"}', 1))
        assert answer["code"] == "too_many_files"
        assert "more than 50 files" in answer["message"]
        assert answer["hint"]
    bridge.close()
    assert not (place.root / "notes/x.txt").exists()
    assert place.world.types() == ["tool.call.requested", "tool.call.failed"] * 2
