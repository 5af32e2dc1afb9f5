"""Running a command: where, with what, for how long, and that nothing of it stays."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.conftest import World

from coilclaw.config import Config
from coilclaw.integrations.shell import run
from coilclaw.integrations.shell.execution import execute
from coilclaw.integrations.shell.grammar import CommandLine, Pipeline, Stage, Word, from_argv, parsed
from coilclaw.integrations.shell.processes import Ended
from coilclaw.sdk import Bounds, ToolContext, ToolFailure

pytestmark = pytest.mark.skipif(os.name != "posix", reason="shell commands need a POSIX system")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's help is Linux's")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    (place / "notes").mkdir(parents=True)
    (place / "notes/a.md").write_text("one\ntwo\n")
    (place / "b.md").write_text("b\na\nb\n")
    (tmp_path / "secret.txt").write_text("outside")
    return place


def context(workspace: Path, autonomy: str = "full", seconds: float = 15.0, **more: object) -> ToolContext:
    bounds = Bounds(autonomy=autonomy, shell_allow=Config().security.shell_allow, shell_seconds=seconds)  # type: ignore[arg-type]
    return ToolContext(workspace=workspace, bounds=bounds, **more)  # type: ignore[arg-type]


def unjudged(ctx: ToolContext, command: str, seconds: float = 15.0, *, namespace: bool = True) -> Ended:
    """Run without a verdict: what holds then is held by the services of the programs alone."""
    return execute(ctx, parsed(command), (), seconds, namespace=namespace)


def in_a_shell(ctx: ToolContext, script: str, seconds: float = 15.0, *, namespace: bool = True) -> Ended:
    """The same for something that misbehaves, which is easiest to write for a shell."""
    return execute(ctx, from_argv(("sh", "-c", script)), (), seconds, namespace=namespace)


@pytest.mark.req("R336")
def test_a_command_runs_in_the_workspace(workspace: Path) -> None:
    outcome = run(context(workspace), "sort b.md | uniq -c; pwd; echo oops >&2; ls missing 2>/dev/null")
    assert outcome.stdout == f"      1 a\n      2 b\n{workspace.resolve()}\n"
    assert (outcome.exit_code, outcome.stderr, outcome.truncated, outcome.timed_out) == (2, "oops\n", False, False)


@pytest.mark.parametrize(
    ("command", "reported"), [("ls", None), ("ls missing", "exit status 2"), ("sleep 9", "it was ended after its time")]
)
def test_a_command_that_fails_is_reported_as_a_failure(workspace: Path, command: str, reported: str | None) -> None:
    ctx = context(workspace)
    run(ctx, command, seconds=0.3 if command == "sleep 9" else None)
    assert ctx.reported_failure == reported


def test_a_folder_of_the_workspace_can_be_the_place(workspace: Path) -> None:
    assert run(context(workspace), "cat a.md", cwd="notes").stdout == "one\ntwo\n"
    with pytest.raises(ToolFailure, match="does not exist"):
        run(context(workspace), "ls", cwd="missing")


def test_a_link_cannot_be_the_place(workspace: Path, tmp_path: Path) -> None:
    (workspace / "link").symlink_to("notes")
    with pytest.raises(ToolFailure, match="link"):
        run(context(workspace), "ls", cwd="link")


def test_the_environment_is_almost_empty(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "sk-secret")
    monkeypatch.setenv("BASH_ENV", str(workspace / "evil"))
    monkeypatch.setenv("BASH_FUNC_ls%%", "() { echo evil; }")
    (workspace / "evil").write_text("echo evil\n")
    (workspace / ".bashrc").write_text("echo evil\n")
    (workspace / ".profile").write_text("echo evil\n")
    outcome = run(context(workspace), "env; ls b.md")
    names = {line.partition("=")[0] for line in outcome.stdout.splitlines() if "=" in line}
    assert names == {"PATH", "HOME", "LANG", "TMPDIR", "PWD"}
    assert "evil" not in outcome.stdout
    assert f"HOME={workspace.resolve()}\n" in outcome.stdout
    assert str(workspace) not in next(line for line in outcome.stdout.splitlines() if line.startswith("PATH="))


def test_a_program_in_the_workspace_does_not_stand_in_for_another(workspace: Path) -> None:
    (workspace / "ls").write_text("#!/bin/sh\necho evil\n")
    (workspace / "ls").chmod(0o755)
    assert run(context(workspace), "ls b.md").stdout == "b.md\n"


def test_no_descriptor_is_inherited(workspace: Path) -> None:
    held = os.open(workspace / "b.md", os.O_RDONLY)
    os.set_inheritable(held, True)
    program = "import os; print([n for n in range(3, 400) if os.path.exists(f'/dev/fd/{n}') and n != 3])"
    try:
        outcome = execute(context(workspace), from_argv(("python3", "-I", "-S", "-c", program)), (), 15.0)
    finally:
        os.close(held)
    if outcome.exit_code == 127:
        pytest.skip("no python3 in the system's folders")
    assert outcome.stdout == b"[]\n"


def test_the_input_is_empty(workspace: Path) -> None:
    assert run(context(workspace), "cat; echo end").stdout == "end\n"


def test_long_output_is_cut_and_says_so(workspace: Path) -> None:
    (workspace / "long.txt").write_text("x" * 300_000)
    outcome = run(context(workspace), "cat long.txt; cat long.txt >&2")
    assert (len(outcome.stdout), len(outcome.stderr), outcome.truncated) == (262_144, 262_144, True)


def test_endless_output_ends_with_the_time(workspace: Path) -> None:
    outcome = run(context(workspace, seconds=0.3), "yes")
    assert (outcome.timed_out, outcome.truncated, outcome.exit_code) == (True, True, None)


def test_output_that_is_not_text_is_shown_as_far_as_it_is(workspace: Path) -> None:
    (workspace / "bytes").write_bytes(b"a\xff\n")
    assert run(context(workspace), "cat bytes").stdout == "a\ufffd\n"


class Pipe:
    """A named pipe that tells when every process that had it open is gone."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._keeper = os.open(path, os.O_WRONLY)  # So that there is no end before the first writer came.
        os.set_blocking(self._reader, True)

    def is_abandoned(self, seconds: float = 10.0) -> bool:
        os.close(self._keeper)
        try:
            while select.select([self._reader], [], [], seconds)[0]:
                if not os.read(self._reader, 100):
                    return True
            return False
        finally:
            os.close(self._reader)


LEAVERS = {
    "a child": "sleep 300 > pipe",
    "a background job": "sleep 300 > pipe & wait",
    "a grandchild": "(sleep 300 > pipe; true); true",
    "a session of its own": "setsid sleep 300 > pipe & sleep 300",
    "one that ignores hangups": "nohup setsid sleep 300 > pipe 2> x & sleep 300",
    "a double fork": "(setsid sh -c 'sleep 300 & sleep 300' > pipe &) ; sleep 300",
    "one that ignores signals": "sh -c 'trap \"\" TERM INT HUP; sleep 300' > pipe",
}


@pytest.mark.req("R414")
@pytest.mark.parametrize("namespace", [True, False], ids=["namespace", "subreaper"])
@pytest.mark.parametrize("command", LEAVERS.values(), ids=LEAVERS.keys())
def test_nothing_survives_the_time(workspace: Path, command: str, namespace: bool) -> None:
    pipe = Pipe(workspace / "pipe")
    outcome = in_a_shell(context(workspace), command, 0.4, namespace=namespace)
    assert (outcome.timed_out, outcome.exit_code) == (True, None)
    assert pipe.is_abandoned()


@pytest.mark.parametrize("namespace", [True, False], ids=["namespace", "subreaper"])
@pytest.mark.parametrize(
    "command",
    ["sleep 300 > pipe &", "setsid sleep 300 > pipe &", "(setsid nohup sleep 300 > pipe 2> x &)", "sh -c 'sleep 300 > pipe & exit 0'"],
    ids=["job", "session", "double fork", "orphan"],
)  # fmt: skip
def test_nothing_survives_the_command(workspace: Path, command: str, namespace: bool) -> None:
    pipe = Pipe(workspace / "pipe")
    outcome = in_a_shell(context(workspace), f"{command}\necho done", namespace=namespace)
    assert (outcome.exit_code, outcome.stdout) == (0, b"done\n")
    assert pipe.is_abandoned()


@pytest.mark.parametrize("namespace", [True, False], ids=["namespace", "subreaper"])
def test_a_call_that_nobody_waits_for_ends(workspace: Path, namespace: bool) -> None:
    os.mkfifo(workspace / "pipe")
    cancelled = threading.Event()
    failures: list[str] = []

    def call() -> None:
        try:
            in_a_shell(
                context(workspace, is_cancelled=cancelled.is_set),
                "{ echo started; setsid sleep 300; } > pipe",
                namespace=namespace,
            )
        except ToolFailure as failure:
            failures.append(failure.code)

    thread = threading.Thread(target=call)
    thread.start()
    with (workspace / "pipe").open() as pipe:
        assert pipe.readline() == "started\n"
        cancelled.set()
        assert pipe.read() == ""
    thread.join(60)
    assert failures == ["cancelled"]


def test_the_shell_dies_with_the_process_that_started_it(workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    program = (
        "import sys; from pathlib import Path; from coilclaw.sdk import Bounds, ToolContext;"
        "from coilclaw.integrations.shell import run;"
        "run(ToolContext(workspace=Path(sys.argv[1]), bounds=Bounds(autonomy='full', shell_seconds=300)),"
        "'echo started > pipe; setsid sleep 300 > pipe')"
    )
    environment = os.environ | {"TMPDIR": str(workspace.parent)}  # What it leaves there goes with the test.
    caller = subprocess.Popen([sys.executable, "-c", program, str(workspace)], env=environment)
    with (workspace / "pipe").open() as pipe:
        assert pipe.readline() == "started\n"
        caller.send_signal(signal.SIGKILL)
        caller.wait()
        assert pipe.read() == ""


def test_a_call_ends_before_its_own_time_is_up(workspace: Path) -> None:
    outcome = run(context(workspace, time_left=lambda: 0.5), "sleep 300")
    assert outcome.timed_out


def test_a_verdict_is_asked_for_again_before_the_run(workspace: Path, tmp_path: Path) -> None:
    (workspace / "late.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(ToolFailure, match="outside") as caught:
        run(context(workspace), "cat late.txt")
    assert caught.value.code == "command_refused"


def test_a_file_named_like_an_option_is_judged_as_the_option_it_would_be(workspace: Path) -> None:
    (workspace / "-n").write_text("")
    assert run(context(workspace), "cat *.md").stdout == "b\na\nb\n"
    assert run(context(workspace), "cat *").stdout == run(context(workspace), "cat -n b.md notes").stdout
    (workspace / "--compress-program=.x").write_text("")
    with pytest.raises(ToolFailure, match="start another program"):
        run(context(workspace), "sort *")


def test_the_words_of_a_list_reach_the_program_as_they_are(workspace: Path) -> None:
    words = ["a  b", "$HOME", "*", "`x`", "", "'", "; ls", "\n", "ü😀\u202e"]
    outcome = run(context(workspace), argv=["printf", "<%s>", *words])
    assert outcome.stdout == "".join(f"<{word}>" for word in words)


@on_linux
def test_no_shell_is_started(workspace: Path) -> None:
    """Every process of a command is the supervisor's or one that the command names."""
    os.mkfifo(workspace / "pipe")
    command = "cat pipe | sort | uniq -c && echo 'done' > notes/x"
    thread = threading.Thread(target=run, args=(context(workspace), command))
    thread.start()
    with (workspace / "pipe").open("w") as pipe:
        names: set[str] = set()
        for _ in range(1000):
            names = _descendants(os.getpid())
            if {"cat", "sort", "uniq"} <= names:
                break
            pipe.write("a line that takes a moment to write\n")
        assert {"cat", "sort", "uniq"} <= names
        assert not {"sh", "bash", "dash"} & names
    thread.join(60)
    assert (workspace / "notes/x").read_text() == "done\n"


def _descendants(root: int) -> set[str]:
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
                parents[int(entry.name)] = (int(rest.split()[1]), name)
    found = {root}
    while grown := {pid for pid, (parent, _) in parents.items() if parent in found} - found:
        found |= grown
    return {parents[pid][1] for pid in found - {root} if pid in parents}


def test_what_was_judged_is_what_runs_whatever_appears_meanwhile(workspace: Path) -> None:
    """The names that a pattern stands for are found once; a file that comes later is not among them."""
    line = CommandLine((Pipeline((Stage((Word("echo"), Word("b.md", "*.md"))),)),))
    (workspace / "c.md").write_text("")
    assert execute(context(workspace), line, (), 15.0).stdout == b"b.md\n"


def test_what_a_pipeline_cannot_open_or_find_fails_alone(workspace: Path) -> None:
    outcome = run(context(workspace), "cat < missing | wc -l; ls > notes || echo no; nosuchprogram || echo none")
    assert (outcome.stdout, outcome.exit_code) == ("0\nno\nnone\n", 0)
    assert "missing: No such file" in outcome.stderr
    assert "nosuchprogram: command not found" in outcome.stderr


@on_linux
@pytest.mark.req("R353")
def test_the_kernel_hides_forbidden_paths_where_it_can(workspace: Path) -> None:
    _needs_mounts()
    for name in ("private", "vault"):
        (workspace / name).mkdir()
        (workspace / name / "key").write_text("secret")
    (workspace / "token").write_text("secret")
    (workspace / "alias").symlink_to("private/key")
    bounds = Bounds(autonomy="full", forbidden_paths=(workspace / "private", workspace / "vault", workspace / "token"))
    script = "cat private/key vault/key token alias; echo mine > private/key; mv vault other; cat other/key; cat b.md"
    outcome = in_a_shell(ToolContext(workspace=workspace, bounds=bounds), script)
    assert outcome.stdout == b"b\na\nb\n"
    assert (workspace / "private/key").read_text() == (workspace / "vault/key").read_text() == "secret"


def test_a_huge_file_is_not_written(workspace: Path) -> None:
    assert unjudged(context(workspace), "truncate -s 400M big").exit_code != 0
    assert (workspace / "big").stat().st_size == 0


@on_linux
@pytest.mark.req("R352")
@pytest.mark.parametrize(
    "command",
    ["cat ../secret.txt", "cat out/secret.txt", "cat leak.txt", "cat /etc/passwd", "cat /proc/1/environ", "ls ..", "ls /root",
     "grep -r outside ..", "find .. -name secret.txt -exec cat {} +", "cp ../secret.txt x && cat x", "cat < ../secret.txt"],
)  # fmt: skip
def test_the_kernel_keeps_the_shell_from_reading_outside(workspace: Path, tmp_path: Path, command: str) -> None:
    _needs_landlock()
    (workspace / "out").symlink_to(tmp_path)
    (workspace / "leak.txt").symlink_to(tmp_path / "secret.txt")
    outcome = unjudged(context(workspace), command)
    assert outcome.exit_code != 0
    assert b"outside" not in outcome.stdout
    assert outcome.stdout == b"" or command.startswith("find")


@on_linux
@pytest.mark.parametrize(
    "command",
    ["echo x > ../new.txt", "echo x > ../secret.txt", "touch ../new.txt", "mkdir ../new.txt", "rm ../secret.txt",
     "mv ../secret.txt x", "ln ../secret.txt x", "cp b.md ../new.txt", "echo x > /tmp/coilclaw-new.txt", "truncate -s 0 ../secret.txt"],
)  # fmt: skip
def test_the_kernel_keeps_the_shell_from_writing_outside(workspace: Path, tmp_path: Path, command: str) -> None:
    _needs_landlock()
    assert unjudged(context(workspace), command).exit_code != 0
    assert (tmp_path / "secret.txt").read_text() == "outside"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret.txt", "workspace"]


@on_linux
@pytest.mark.req("R354")
def test_the_kernel_starts_allowed_programs_only(workspace: Path) -> None:
    _needs_landlock()
    supervised = context(workspace, "supervised")
    (workspace / "script").write_text("#!/bin/sh\necho evil\n")
    (workspace / "script").chmod(0o755)
    for command in ("rm b.md", "/bin/rm b.md", "env ls", "python3 -c 1", "./script", "sh -c ls", "cp /bin/rm x"):
        assert unjudged(supervised, command).exit_code == 126, command
    assert unjudged(supervised, "cat b.md").exit_code == 0
    assert (workspace / "b.md").exists()


@on_linux
def test_an_allowed_program_may_be_a_script(workspace: Path) -> None:
    script = Path("/usr/bin/which")
    if not script.exists() or script.resolve().read_bytes()[:2] != b"#!":
        pytest.skip("`which` is not a script here")
    bounds = Bounds(autonomy="supervised", shell_allow=("which",))
    outcome = unjudged(ToolContext(workspace=workspace, bounds=bounds), "which ls")
    assert (outcome.exit_code, outcome.stdout.strip().endswith(b"/ls")) == (0, True)


@on_linux
def test_the_shell_cannot_signal_or_see_the_process_that_started_it(workspace: Path) -> None:
    _needs_landlock()
    in_a_shell(context(workspace), f"kill -9 {os.getpid()}")
    assert unjudged(context(workspace), f"cat /proc/{os.getpid()}/environ").stdout == b""


@on_linux
def test_no_privilege_is_gained(workspace: Path) -> None:
    outcome = unjudged(context(workspace), "setpriv --dump")
    assert b"no_new_privs: 1" in outcome.stdout or outcome.exit_code == 127


def test_a_process_that_cannot_be_ended_does_not_hold_up_the_supervisor_for_long() -> None:
    """Nothing here may be signalled: the supervisor gives up after its seconds, and its child is still there."""
    script = """
import os, signal, time
from coilclaw.confinement import supervision
really = os.kill
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
def refused(*_):
    raise PermissionError
os.kill = os.killpg = refused
supervision.end_everything(child, 0.2)
assert os.waitpid(child, os.WNOHANG) == (0, 0)
really(child, signal.SIGKILL)
os.waitpid(child, 0)
print("given up")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=False)
    assert done.stdout == b"given up\n", done.stderr


def _needs_mounts() -> None:
    """Try what the supervisor tries, in a process of its own: root may lack the right, and another user have it."""
    tried = subprocess.run([sys.executable, "-c", _MOUNTS], check=False)
    if tried.returncode:
        pytest.skip("this machine does not let us have mounts of our own")


_MOUNTS = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
if libc.unshare(0x20000000) != 0:
    user, group = os.getuid(), os.getgid()
    if libc.unshare(0x10000000 | 0x20000000) != 0:
        sys.exit(1)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
private = 16384 | 1 << 18
sys.exit(libc.unshare(0x00020000) != 0 or libc.mount(None, b"/", None, private, None) != 0)
"""


def _needs_landlock() -> None:
    import ctypes

    if ctypes.CDLL(None).syscall(444, None, 0, 1) < 1:
        pytest.skip("this kernel has no Landlock")


@pytest.mark.req("R336", "R350", "R351", "R354")
def test_a_snippet_runs_what_is_allowed_and_is_denied_the_rest(world: World) -> None:
    world.options["bounds"] = Bounds(autonomy="full", shell_allow=("ls", "wc"))
    (world.workspace / "a.md").write_text("x")
    source = """
done = tools.shell(command="ls | wc -l").unwrap()
denied = tools.shell.run(command="rm a.md")
(done["stdout"].strip(), denied.ok, denied.error.message)
"""
    report = world.run(source, run)
    assert report.value[:2] == ["1", False], report
    assert "forbidden" in report.value[2]
    assert (world.workspace / "a.md").exists()
