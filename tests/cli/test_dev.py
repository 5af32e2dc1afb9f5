"""`coilclaw dev` as a person uses it: real files are saved, and what it says about them is read."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import queue
import select
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command

PATIENCE = 30.0
HOSTILE = "\\x1b[2J\\x1b]0;owned\\x07\\n00:00:00 ready: 0 tools, 0 errors [bold red]x[/]\\u202e"

TOOL = """\
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="{id}", risk="{risk}")
def do(ctx: ToolContext) -> str:
    '''Says something.'''
    return "{answer}"
"""

MAKER = f"""\
from pathlib import Path

from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="maker.make", risk="write")
def make(ctx: ToolContext) -> None:
    file = Path(ctx.workspace) / "tools/mine/tools.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text({TOOL.format(id="mine.say", risk="read", answer="mine")!r})
"""


def tool(id: str, *, answer: str = "first", risk: str = "read") -> str:
    return TOOL.format(id=id, answer=answer, risk=risk)


def save(file: Path, text: str) -> None:
    """As editors do it: a new file takes the place of the old one."""
    beside = file.with_name(f".{file.name}.new")
    beside.write_text(text)
    beside.replace(file)


def add(coilclaw: Command, path: str, text: str) -> None:
    """A new tool file that is never seen half written."""
    file = coilclaw.workspace / "tools" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    save(file, text)


class Dev:
    """The running command, and the lines it has printed so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.heard: list[str] = []
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def line(self, *words: str) -> str:
        """Wait for the next line that contains all of these words."""
        return self._next(lambda line: all(each in line for each in words), words)

    def event(self, kind: str, **facts: Any) -> dict[str, Any]:
        """Wait for the next event of this kind that says this."""

        def fits(line: str) -> bool:
            event = json.loads(line)
            return event["event"] == kind and all(event[name] == value for name, value in facts.items())

        found: dict[str, Any] = json.loads(self._next(fits, (kind, facts)))
        return found

    def _next(self, fits: Callable[[str], bool], wanted: object) -> str:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"never said {wanted}; it said {self.heard}") from None
            self.heard.append(line)
            if fits(line):
                return line

    def interrupt(self) -> str:
        """End it as a person does, and return what went to stderr."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(PATIENCE) == 0
        self._reader.join(PATIENCE)
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        assert "Traceback" not in said
        return said


@contextlib.contextmanager
def dev(coilclaw: Command, *args: object) -> Iterator[Dev]:
    with subprocess.Popen(
        [*coilclaw.line, "dev", *map(str, args)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=coilclaw.environment,
        cwd=coilclaw.folder,
    ) as process:
        try:
            yield Dev(process)
        finally:
            if process.poll() is None:
                process.kill()


# Tools ---------------------------------------------------------------------------------------------------


@pytest.mark.req("R5", "R11", "R128")
def test_each_edit_of_a_tool_is_told_as_it_happens(coilclaw: Command) -> None:
    file = coilclaw.tool("notes/tools.py", tool("notes.say"))
    with dev(coilclaw, "--json") as running:
        ready = running.event("ready")
        assert (ready["workspace_tools"], ready["errors"], ready["hint"]) == (1, 0, None)

        save(file, "import os\ndef broken(:\n")
        failed = running.event("failed", file="tools/notes/tools.py")
        assert (failed["line"], failed["excerpt"], failed["column"]) == (2, "def broken(:", 12)
        assert "not valid Python" in failed["message"]
        save(file, tool("notes.say", answer="second"))
        mended = running.event("reloaded", file="tools/notes/tools.py")
        assert mended["tools"] == ["notes.say"]
        assert mended["milliseconds"] > 0

        file.rename(file.with_name("moved.py"))
        moved = [running.event("reloaded", file="tools/notes/moved.py"), running.event("removed")]
        assert moved[0]["tools"] == ["notes.say"]
        assert moved[1]["file"] == "tools/notes/tools.py"

        add(coilclaw, "other/tools.py", tool("other.say"))
        assert running.event("reloaded")["tools"] == ["other.say"]

        add(coilclaw, "twin/tools.py", tool("other.say"))
        clash = running.event("failed", file="tools/other/tools.py")
        assert clash["excerpt"].startswith("@define_tool")  # Shown even where the loader quotes nothing.
        (coilclaw.workspace / "tools/twin/tools.py").unlink()
        running.event("removed", file="tools/twin/tools.py")

        assert coilclaw("tool", "reload").code == 0
        again = {running.event("reloaded")["file"], running.event("reloaded")["file"]}
        assert again == {"tools/notes/moved.py", "tools/other/tools.py"}
        running.interrupt()


def test_lines_cannot_be_forged_by_what_a_file_says(coilclaw: Command) -> None:
    file = coilclaw.tool("notes/tools.py", tool("notes.say"))
    with dev(coilclaw) as running:
        running.line("ready: ", " 0 errors")
        save(file, f'raise ValueError("{HOSTILE}")\n')
        line = running.line("error tools/notes/tools.py:1 ValueError")
        assert line.partition(" (every command")[0].endswith(
            "\\u001b[2J\\u001b]0;owned\\u0007\\n00:00:00 ready: 0 tools, 0 errors [bold red]x[/]\\u202e"
        )
        save(file, f'print("{HOSTILE}")\n' + tool("notes.say"))
        assert running.line("reloaded tools/notes/tools.py in ").endswith(" ms (1 tool)")
        file.unlink()
        running.line("removed tools/notes/tools.py")
        said = running.interrupt()
    assert "\x1b" not in "".join(running.heard)
    assert "owned" in said  # What files print goes to stderr, not between the events.


@pytest.mark.req("R128")
def test_a_tools_folder_may_disappear_and_come_back(coilclaw: Command) -> None:
    file = coilclaw.tool("notes/tools.py", tool("notes.say"))
    with dev(coilclaw, "--json") as running:
        running.event("ready")
        shutil.rmtree(coilclaw.workspace / "tools")
        running.event("removed", file="tools/notes/tools.py")
        add(coilclaw, "notes/tools.py", tool("notes.say", answer="again"))
        running.event("reloaded", file="tools/notes/tools.py")
        save(file, tool("notes.shout"))
        assert running.event("reloaded")["tools"] == ["notes.shout"]
        running.interrupt()


def test_a_workspace_without_tools_says_how_to_make_one(coilclaw: Command) -> None:
    done = coilclaw("dev", "--once")
    assert done.code == 0
    assert "coilclaw tool new example.hello.say" in done.out


@pytest.mark.parametrize(
    ("text", "script", "code"),
    [
        (tool("notes.say"), "tools.notes.say().unwrap()", 0),
        (tool("notes.say"), "1 / 0", 1),
        ("import nothing_of_this_name", "1", 1),
    ],
    ids=["sound", "failing script", "broken tool"],
)
def test_once_loads_and_runs_and_tells_by_its_exit_code(coilclaw: Command, text: str, script: str, code: int) -> None:
    coilclaw.tool("notes/tools.py", text)
    (coilclaw.folder / "s.py").write_text(script)
    done = coilclaw("dev", "--once", "--json", "--run", "s.py")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == code
    assert [each["event"] for each in events if each["event"] == "failed"] == (["failed"] if "import n" in text else [])
    assert events[-1]["event"] == "run.finished"
    if code == 0:
        assert [each["event"] for each in events[-3:]] == ["run.started", "call", "run.finished"]
        assert events[-1]["value"] == "first"


@pytest.mark.parametrize(
    "args", [("--yes",), ("--engine", "wasm"), ("--run", "missing.py"), ("--run", ".")], ids=lambda args: args[-1]
)
def test_wrong_usage_is_said_at_once(coilclaw: Command, args: tuple[str, ...]) -> None:
    done = coilclaw("dev", *args)
    assert done.code == 2
    assert done.out == ""


# Calls and trust -----------------------------------------------------------------------------------------


def test_what_other_processes_call_and_write_is_told_too(coilclaw: Command) -> None:
    coilclaw.tool("notes/tools.py", tool("notes.say"))
    coilclaw.tool("maker/tools.py", MAKER)
    assert coilclaw("tool", "run", "notes.say").code == 0  # Before: not told.
    with dev(coilclaw, "--json") as running:
        running.event("ready")
        assert coilclaw("tool", "run", "time.now").code == 0
        called = running.event("call")
        assert (called["tool"], called["status"]) == ("time.now", "succeeded")
        assert called["milliseconds"] >= 0

        assert coilclaw("tool", "run", "maker.make", "--yes").code == 0
        held = running.event("quarantined", file="tools/mine/tools.py")
        assert held["command"] == "coilclaw tool trust tools/mine/tools.py"
        assert coilclaw("tool", "trust", "tools/mine/tools.py", "--yes").code == 0
        assert running.event("reloaded", file="tools/mine/tools.py")["tools"] == ["mine.say"]
        running.interrupt()


# Scripts -------------------------------------------------------------------------------------------------


@pytest.mark.req("R11", "R100")
def test_a_script_runs_again_when_a_tool_or_the_script_changes(coilclaw: Command) -> None:
    file = coilclaw.tool("notes/tools.py", tool("notes.say"))
    script = coilclaw.folder / "script.py"
    script.write_text("print('hello')\ntools.notes.say().unwrap()\n")
    with dev(coilclaw, "--json", "--run", script) as running:
        assert running.event("run.started")["reason"] == "start"
        assert running.event("run.output")["text"] == "hello"
        assert running.event("call")["tool"] == "notes.say"
        assert running.event("run.finished")["value"] == "first"

        save(file, tool("notes.say", answer="second"))
        assert running.event("run.started")["reason"] == "a tool changed"
        done = running.event("run.finished")
        assert done["value"] == "second"
        assert [item["status"] for item in done["activity"]] == ["succeeded"]

        save(script, "tools.files.write(path='a.txt', text='x').code")
        assert running.event("run.started")["reason"] == "the script changed"
        assert running.event("run.finished")["value"] == "approval_required"  # Nobody is asked here.

        script.unlink()
        script.write_text("x = 1\nraise KeyError('gone')\n")
        error = running.event("run.finished", status="failed")["error"]
        assert (error["type"], error["line"], error["excerpt"]) == ("KeyError", 2, "raise KeyError('gone')")

        script.write_bytes(b"\xff\xfe not text")
        assert "not UTF-8" in running.event("problem")["message"]
        running.interrupt()
    assert not (coilclaw.workspace / "a.txt").exists()


def test_a_run_keeps_its_tools_while_they_change_and_an_interrupt_cancels_it(coilclaw: Command) -> None:
    file = coilclaw.tool("notes/tools.py", tool("notes.say"))
    script = coilclaw.folder / "script.py"
    script.write_text(
        "import time\ntools.files.write(path='a.txt', text='x').unwrap()\nprint('waits')\n"
        "while not tools.files.read(path='go.txt').ok: time.sleep(0.1)\n"
        "print(tools.notes.say().unwrap())\n"
        "while True: pass\n"
    )
    with dev(coilclaw, "--run", script, "--yes") as running:
        running.line("output waits")
        save(file, tool("notes.say", answer="second"))
        running.line("reloaded tools/notes/tools.py")
        (coilclaw.workspace / "go.txt").write_text("")
        running.line("output first")  # From the registry the run began with.
        running.interrupt()
    assert any("run script.py cancelled" in line for line in [*running.heard, *rest(running)])
    last = coilclaw("receipt", "list", "--limit", "1", "--json").json[0]
    assert (last["type"], last["status"]) == ("run.finished", "cancelled")
    assert (coilclaw.workspace / "a.txt").exists()  # --yes approved it.


def rest(running: Dev) -> list[str]:
    found = []
    with contextlib.suppress(queue.Empty):
        while True:
            found.append(running._lines.get_nowait())
    return found


def test_a_reader_that_goes_away_ends_it(coilclaw: Command) -> None:
    file = coilclaw.tool("notes/tools.py", tool("notes.say"))
    with subprocess.Popen(
        [*coilclaw.line, "dev"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=coilclaw.environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"ready" in process.stdout.readline()
        process.stdout.close()
        save(file, tool("notes.say", answer="second"))
        assert process.wait(PATIENCE) == 1
        assert process.stderr.read() == b""


# On a terminal -------------------------------------------------------------------------------------------


class Terminal:
    """A terminal with the command on it."""

    def __init__(self, coilclaw: Command, *args: str, rows: int = 40, columns: int = 120) -> None:
        self.master, slave = pty.openpty()
        self.resize(rows, columns)
        environment = {**coilclaw.environment, "TERM": "xterm"}
        self.process = subprocess.Popen(
            [*coilclaw.line, "dev", *args],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            process_group=0,  # As a shell does it; otherwise it could not be stopped.
        )
        self.slave = slave
        self.drawn = b""
        self._from = 0

    def forget(self) -> None:
        """What was drawn so far is not what is waited for."""
        self._from = len(self.drawn)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, *words: bytes) -> bytes:
        """Read until one drawing shows all of these words; returns that drawing."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            frame = self.drawn[self._from :].rsplit(b"\x1b[H", 1)[-1]
            if all(each in frame for each in words):
                return frame
            if select.select([self.master], [], [], 0.1)[0]:
                self.drawn += os.read(self.master, 65536)
        raise AssertionError(f"{words} never appeared; the last drawing: {self.drawn[-4000:]!r}")

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)


@pytest.fixture
def terminal(coilclaw: Command) -> Iterator[Callable[..., Terminal]]:
    made: list[Terminal] = []

    def make(*args: str, **size: int) -> Terminal:
        made.append(Terminal(coilclaw, *args, **size))
        return made[-1]

    yield make
    for each in made:
        if each.process.poll() is None:
            each.process.kill()
        each.process.wait(PATIENCE)
        os.close(each.master)
        os.close(each.slave)


def test_the_live_view_shows_tools_errors_and_runs_and_gives_the_terminal_back(
    coilclaw: Command, terminal: Callable[..., Terminal]
) -> None:
    file = coilclaw.tool("notes/tools.py", tool("notes.say", risk="write"))
    (coilclaw.folder / "script.py").write_text("tools.time.now().ok")
    screen = terminal("--run", str(coilclaw.folder / "script.py"))
    screen.until(b"notes.say", b"write", b"ask", b"built-in tool", b"script.py: completed", b"time.now", b"true")
    assert not screen.echoes
    save(file, f"print('{HOSTILE}')\ndef broken(:\n")
    screen.until(b"1 error", b"tools/notes/tools.py:2", b"2 | def broken(:", b"| " + b" " * 11 + b"^", b"Fix: ")
    save(file, f"print('{HOSTILE}')\nraise ValueError('{HOSTILE}')\n")
    screen.until(b"ValueError: \\u001b[2J\\u001b]0;owned\\u0007\\n00:00:00 ready", b"[bold red]x[/]", b"Notes")
    save(file, tool("notes.say", answer="second"))
    screen.until(b"0 errors", b"reloaded", b"run 2, a tool changed")
    screen.resize(16, 60)
    os.kill(screen.process.pid, signal.SIGWINCH)
    frame = screen.until(b"0 errors", b"Ctrl-C ends this.")
    while frame.count(b"\r\n") != 15:
        screen.drawn += os.read(screen.master, 65536)
        frame = screen.until(b"0 errors", b"Ctrl-C ends this.")
    screen.process.send_signal(signal.SIGINT)
    screen.until(b"\x1b[?25h", b"\x1b[?1049l", b"coilclaw dev ended: ")
    assert screen.process.wait(PATIENCE) == 0
    assert screen.echoes
    for raw in (b"\x1b]0;owned", b"\x07", b"\x1b[2J", b"Traceback", "\u202e".encode()):
        assert raw not in screen.drawn


def test_the_live_view_survives_the_loss_of_its_folder_and_names_what_waits_for_trust(
    coilclaw: Command, terminal: Callable[..., Terminal]
) -> None:
    coilclaw.tool("notes/tools.py", tool("notes.say"))
    screen = terminal()
    screen.until(b"notes.say")
    shutil.rmtree(coilclaw.workspace / "tools")
    screen.until(b"None yet. Make one: coilclaw tool new", b"removed")
    add(coilclaw, "maker/tools.py", MAKER)
    screen.until(b"maker.make")
    assert coilclaw("tool", "run", "maker.make", "--yes").code == 0
    screen.until(b"1 file quarantined", b"coilclaw tool trust tools/mine/tools.py", b"maker.make", b"succeeded")
    assert b"mine.say" not in screen.drawn

    screen.process.send_signal(signal.SIGTSTP)
    screen.until(b"\x1b[?1049l")
    _, status = os.waitpid(screen.process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    assert screen.echoes
    screen.forget()
    screen.process.send_signal(signal.SIGCONT)
    screen.until(b"1 file quarantined", b"maker.make")
    assert not screen.echoes
    screen.process.send_signal(signal.SIGTERM)
    screen.until(b"\x1b[?1049l")
    assert screen.process.wait(PATIENCE) == 143


def test_a_failed_call_has_its_hint_once_and_a_refused_one_names_the_option_that_approves(coilclaw: Command) -> None:
    add(coilclaw, "b/tools.py", tool("b.c", risk="write"))
    script = coilclaw.folder / "x.py"
    script.write_text("tools.files.read(path='../x').unwrap()")
    facts = coilclaw("run", script, "--json").json["error"]
    assert facts["hint"] in facts["message"]
    assert coilclaw("dev", "--once", "--run", script).out.count(facts["hint"]) == 1
    script.write_text("tools.b.c()")
    assert "--yes" in coilclaw("dev", "--once", "--run", script).out
    script.write_text("tools.b.c().unwrap()")
    ended = coilclaw("dev", "--once", "--run", script).out.splitlines()[-1]
    assert "ToolCallError: approval_required" in ended
    assert "--yes" in ended
