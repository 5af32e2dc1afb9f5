"""What a tool file may do while it is imported, and how little comes of it."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.processes import gone

from coilclaw.workspace_tools import Workspace

GOOD = """
from coilclaw.sdk import ToolContext, define_tool
{extra}
@define_tool(id="{id}", risk="read")
def tool(ctx: ToolContext) -> int:
    return {value}
"""

Write = Callable[[str, str], Path]


def good(id: str, value: str = "1", extra: str = "") -> str:
    return GOOD.format(id=id, value=value, extra=extra)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(path: str, text: str) -> Path:
        file = tmp_path / "tools" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return put


def values(workspace: Workspace) -> dict[str, object]:
    return {tool.id: tool(None) for tool in workspace.tools}


def import_threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "coilclaw-import"]


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    ends = time.monotonic() + seconds
    while not condition() and time.monotonic() < ends:
        time.sleep(0.01)
    return condition()


HANGING = {
    "sleeps": ("import time\ntime.sleep(1000)\n", 2),
    "loops": ("\n\nwhile True:\n    pass\n", 3),
    "loops in a function": ("def spin():\n    n = 0\n    while True: n += 1\n\nspin()\n", 3),
    "listens": ("import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0)); s.listen()\ns.accept()\n", 4),
    "waits for a lock": ("import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()\n", 4),
    "swallows": ("while True:\n    try:\n        while True: pass\n    except Exception: pass\n", 3),
}


@pytest.mark.parametrize("how", HANGING)
def test_a_file_that_hangs_is_given_up_at_its_line_and_the_others_load(tmp_path: Path, write: Write, how: str) -> None:
    text, line = HANGING[how]
    write("a/before.py", good("a.before"))
    file = write("a/m.py", text)
    write("z/after.py", good("z.after"))
    workspace = Workspace(tmp_path, import_seconds=0.5)
    change = workspace.refresh()
    assert change.failed == ("a/m.py",)
    assert values(workspace) == {"a.before": 1, "z.after": 1}
    (problem,) = workspace.diagnostics
    assert (problem.file, abs((problem.line or 0) - line) <= 1) == (str(file), True)
    assert "tools/a/m.py did not finish loading within 0.5 s" in problem.message
    assert not workspace.refresh(), "it is not tried again before it changes"


@pytest.mark.parametrize("how", ["loops", "loops in a function", "swallows"])
def test_python_that_loops_is_ended(tmp_path: Path, write: Write, how: str) -> None:
    before = import_threads()
    write("a/m.py", HANGING[how][0])
    Workspace(tmp_path, import_seconds=0.3).refresh()
    assert wait_until(lambda: set(import_threads()) <= set(before))


def test_a_file_that_begins_to_hang_keeps_its_last_good_version(tmp_path: Path, write: Write) -> None:
    write("a/m.py", good("a.m", "1"))
    workspace = Workspace(tmp_path, import_seconds=0.5)
    workspace.refresh()
    write("a/m.py", "import time\ntime.sleep(1000)\n" + good("a.m", "2"))
    workspace.refresh()
    assert values(workspace) == {"a.m": 1}
    assert len(workspace.diagnostics) == 1
    write("a/m.py", good("a.m", "3"))
    workspace.refresh()
    assert values(workspace) == {"a.m": 3}
    assert not workspace.diagnostics


def test_what_is_given_up_adds_no_tool_when_it_ends_after_all(tmp_path: Path, write: Write) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # Opening it waits in C for somebody to open the other end; what was sent meanwhile arrives there, and is ignored.
    stubborn = f"import os\ntry:\n    os.close(os.open({str(gate)!r}, os.O_RDONLY))\nexcept BaseException: pass\n"
    write("a/m.py", stubborn + good("a.late") + f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    workspace = Workspace(tmp_path, import_seconds=0.5)
    workspace.refresh()
    os.close(os.open(gate, os.O_WRONLY))
    assert wait_until(lambda: (tmp_path / "ran").exists())
    assert values(workspace) == {}
    write("b/n.py", good("b.n"))
    workspace.refresh()
    assert values(workspace) == {"b.n": 1}


def test_files_that_import_one_that_hangs_fail_at_once_and_the_rest_is_run_once(tmp_path: Path, write: Write) -> None:
    log = tmp_path / "log"
    note = f"with open({str(log)!r}, 'a') as log: log.write(__file__.rsplit('/', 1)[-1] + ' ')\n"
    write("a/_part.py", "import time\ntime.sleep(1000)\nX = 1\n")
    write("a/_shared.py", note + "STATE = []\n")
    write("a/first.py", note + good("a.first", "id(STATE)", "from ._shared import STATE"))
    write("a/hangs.py", note + good("a.hangs", "X", "from ._part import X"))
    write(
        "a/later.py",
        note
        + good(
            "a.later", "__import__('sys').maxsize and lazy()", "def lazy():\n    from ._part import X\n    return X"
        ),
    )
    write("a/uses.py", note + good("a.uses", "X", "from ._part import X"))
    write("z/last.py", note + good("z.last", "id(STATE)", "from ..a._shared import STATE"))
    workspace = Workspace(tmp_path, import_seconds=1)
    workspace.refresh()
    found = {tool.id: tool for tool in workspace.tools}
    assert sorted(found) == ["a.first", "a.later", "z.last"]
    assert found["a.first"](None) == found["z.last"](None), "both have the same module, though one hung in between"
    assert log.read_text().split().count("_shared.py") == 1
    assert log.read_text().split().count("first.py") == 1
    places = sorted((Path(each.file).name, each.line) for each in workspace.diagnostics)
    assert ("_part.py", 2) in places
    assert len(places) == 2
    with pytest.raises(ImportError, match="could not be loaded"):
        found["a.later"](None)


def test_many_files_that_hang_do_not_add_up(tmp_path: Path, write: Write) -> None:
    for number in range(12):
        write(f"a/m{number}.py", "import time\ntime.sleep(1000)\n")
    write("b/n.py", good("b.n"))
    workspace = Workspace(tmp_path, import_seconds=1)
    workspace.refresh()
    given = [re.search(r"within ([0-9.]+) s", each.message) for each in workspace.diagnostics]
    seconds = [float(found[1]) for found in given if found is not None]
    assert (len(seconds), seconds[0]) == (12, 1.0)
    assert sum(seconds) < 4, "each has less time than the one before"
    assert values(workspace) == {"b.n": 1}


def test_who_waits_is_told_which_file_takes_long(tmp_path: Path, write: Write) -> None:
    write("a/m.py", "import time\ntime.sleep(1000)\n")
    told: list[str] = []
    Workspace(tmp_path, import_seconds=1.2, progress=told.append).refresh()
    assert told == ["Loading tools/a/m.py takes long; it is given up after 1.2 s"]


def test_nobodys_input_is_taken(tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("for somebody else\n"))
    write("a/m.py", "import sys\nread = sys.stdin.read()\nassert read == ''\ninput('? ')\n")
    workspace = Workspace(tmp_path)
    workspace.refresh()
    (problem,) = workspace.diagnostics
    assert "EOFError" in problem.message
    assert problem.line == 4
    assert sys.stdin.read() == "for somebody else\n"


def test_a_process_that_a_file_forks_does_not_go_on_as_a_second_us(tmp_path: Path, write: Write) -> None:
    write(
        "a/m.py", f"import os\nif os.fork() == 0:\n    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    )
    Workspace(tmp_path).refresh()
    assert wait_until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text()))
    assert gone(int((tmp_path / "pid").read_text()))


HOSTILE = {
    "text raises": "class E(Exception):\n    def __str__(self): raise ValueError\nraise E\n",
    "text interrupts": "class E(Exception):\n    def __str__(self): raise KeyboardInterrupt\nraise E\n",
    "text exits": "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E\n",
    "text is no text": "class E(Exception):\n    def __str__(self): return 5\nraise E\n",
    "repr raises": "class E(Exception):\n    def __repr__(self): raise ValueError\nraise E(E())\n",
    "long": "raise ValueError('line\\n' * 100_000)\n",
    "surrogate": "raise ValueError('\\ud800')\n",
    "control": "raise ValueError('\\x1b[2J\\u202e')\n",
    "exit": "import sys\nsys.exit('bye')\n",
    "interrupt": "raise KeyboardInterrupt\n",
    "generator exit": "raise GeneratorExit\n",
    "base": "raise BaseException('x')\n",
    "name": "class M(type):\n    __name__ = property(lambda c: 1 / 0)\nclass E(Exception, metaclass=M): pass\nraise E\n",
    "long name": "raise type('E' * 100_000, (Exception,), {})('x')\n",
    "line name": "raise type('E\\nForged: ', (Exception,), {})('x')\n",
    "traceback": "class E(Exception):\n    __traceback__ = property(lambda s: 1 / 0)\nraise E\n",
    "class": "class E(Exception):\n    __class__ = property(lambda s: 1 / 0)\nraise E\n",
    "syntax": "raise SyntaxError('x', (object(), 'two', 3.5, b'text'))\n",
    "syntax attributes": "e = SyntaxError('x')\ne.lineno = 'x'; e.offset = -1; e.filename = 7; e.msg = []\nraise e\n",
    "syntax line": "e = SyntaxError('x')\ne.lineno = 10 ** 100\nraise e\n",
    "definition": "from coilclaw.sdk import ToolDefinitionError\n"
    "raise ToolDefinitionError(object(), field=5, file=b'x', line='x', hint=object())\n",
    "missing": "raise ModuleNotFoundError('x', name=5)\n",
    "recursion": "def f(): f()\nf()\n",
    "group": "raise BaseExceptionGroup('many', [ValueError('x' * 10_000)] * 1_000)\n",
    "replaced": "import sys\nsys.modules[__name__] = 5\n",
    "removed": "import sys\ndel sys.modules[__name__]\nraise ValueError\n",
    "warning": "import warnings\nwarnings.warn('w' * 5_000)\nraise ValueError\n",
    "names": "class N:\n    __class__ = property(lambda s: 1 / 0)\nn = N()\nraise ValueError\n",
}


@pytest.mark.parametrize("how", HOSTILE)
def test_whatever_a_file_raises_is_one_bounded_diagnostic(
    tmp_path: Path, write: Write, how: str, capfd: pytest.CaptureFixture[str]
) -> None:
    write("a/m.py", HOSTILE[how])
    write("b/n.py", good("b.n"))
    workspace = Workspace(tmp_path)
    workspace.refresh()
    assert values(workspace) == {"b.n": 1}
    (problem,) = workspace.diagnostics
    shown = str(problem)
    assert len(shown) < 3_000
    assert shown.encode().decode().isprintable()
    assert problem.line is None or (type(problem.line) is int and 0 < problem.line < 10**7)
    assert problem.column is None or type(problem.column) is int
    assert capfd.readouterr() == ("", "")


def test_a_text_that_takes_for_ever_is_given_up_like_the_file(tmp_path: Path, write: Write) -> None:
    write("a/m.py", "import time\nclass E(Exception):\n    def __str__(self): time.sleep(1000)\nraise E\n")
    workspace = Workspace(tmp_path, import_seconds=0.5)
    workspace.refresh()
    (problem,) = workspace.diagnostics
    assert (problem.line, "did not finish" in problem.message) == (3, True)


def test_streams_that_a_file_replaces_are_put_back(tmp_path: Path, write: Write) -> None:
    before = (sys.stdin, sys.stdout, sys.stderr)
    write("a/m.py", "import io, sys\nsys.stdin = sys.stdout = sys.stderr = io.StringIO()\nsys.stdout.write('x')\n")
    Workspace(tmp_path).refresh()
    assert (sys.stdin, sys.stdout, sys.stderr) == before


def test_a_stream_that_a_file_keeps_still_reaches_the_real_one(
    tmp_path: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("a/m.py", "import sys\nkept = sys.stderr\n" + good("a.m", "kept.write('at the call') or 1"))
    workspace = Workspace(tmp_path)
    workspace.refresh()
    assert capsys.readouterr().err == ""
    values(workspace)
    assert capsys.readouterr().err == "at the call"


def test_others_print_while_a_file_is_loaded(tmp_path: Path, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    gate = tmp_path / "gate"
    write("a/m.py", f"import os, time\nprint('the file')\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\n")
    loading = threading.Thread(target=Workspace(tmp_path).refresh)
    loading.start()
    assert wait_until(lambda: bool(import_threads()))
    sys.stdout.write("somebody else\n")
    gate.touch()
    loading.join()
    assert capsys.readouterr().out == "somebody else\n"


def test_a_thread_that_a_file_starts_keeps_nobody_from_ending(tmp_path: Path, write: Write) -> None:
    write(
        "a/m.py",
        good(
            "a.m",
            "thread.daemon",
            "import threading, time\nthread = threading.Thread(target=time.sleep, args=(1000,)); thread.start()",
        ),
    )
    workspace = Workspace(tmp_path)
    workspace.refresh()
    assert values(workspace) == {"a.m": True}


def test_what_a_file_printed_is_told_once_even_if_it_is_loaded_again(
    tmp_path: Path, write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    write("a/loud.py", "print('hello')\nraise ValueError\n")
    write("z/hangs.py", HANGING["sleeps"][0])
    Workspace(tmp_path, import_seconds=0.3).refresh()
    assert [each.getMessage() for each in caplog.records] == ["tools/a/loud.py printed while it was loaded: hello"]


def test_a_file_that_ends_the_process_at_once_does_not_and_a_fork_of_it_does(tmp_path: Path, write: Write) -> None:
    write("a/ends.py", "import os\nos._exit(7)\n")
    forks = "import os\nif not (child := os.fork()):\n    os._exit(7)\nCODE = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])"
    write("a/forks.py", good("a.forks", "CODE", extra=forks))
    before = os._exit
    workspace = Workspace(tmp_path)
    workspace.refresh()
    assert values(workspace) == {"a.forks": 7}
    (problem,) = workspace.diagnostics
    assert (problem.line, problem.message) == (2, "SystemExit: 7")
    assert os._exit is before


@pytest.mark.parametrize(
    "end",
    [
        "os.abort()",
        "os.kill(os.getpid(), 15)",
        "os.kill(0, 2)",
        "os.killpg(0, 15)",
        "os.killpg(os.getpgrp(), 9)",
        "os.execv('/bin/true', ['true'])",
        "os.execlp('true', 'true')",
        "os.execvpe('true', ['true'], {})",
        "signal.raise_signal(15)",
    ],
)
def test_a_file_that_kills_or_replaces_the_process_is_a_diagnostic(tmp_path: Path, write: Write, end: str) -> None:
    write("a/ends.py", f"import os, signal\n{end}\n")
    starts = "import os, subprocess\nos.kill(os.getpid(), 0)\nCODE = subprocess.run(['false']).returncode"
    write("a/starts.py", good("a.starts", "CODE", extra=starts))
    before = os.kill, os.execve, signal.raise_signal
    workspace = Workspace(tmp_path)
    workspace.refresh()
    assert values(workspace) == {"a.starts": 1}
    (problem,) = workspace.diagnostics
    assert problem.line == 2
    assert problem.message.endswith("would end the command")
    assert before == (os.kill, os.execve, signal.raise_signal)
