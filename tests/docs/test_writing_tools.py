"""docs/writing-tools.md: every file on it is written and every command on it is run, in the order of the page."""

from __future__ import annotations

import getpass
import inspect
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from coilclaw.sdk import ToolContext, define_tool, testing

PAGE = (Path(__file__).resolve().parents[2] / "docs/writing-tools.md").read_text()
PORT = "48642"
QUESTION = "approval-1f0c9a77d2"
BROKEN = "tools/visits/counts.py"

_BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
_FILE = re.compile(r"\b(in|as|of) `([\w/]+\.py)`:$")  # What stands *in* it is shown; the others are to be written.


@pytest.fixture
def coilclaw(tmp_path: Path, engine: object) -> Command:
    return Command(tmp_path)


@dataclass(frozen=True)
class Step:
    """One block of the page: a file to write, a change to make, or commands with what they print."""

    kind: str
    text: str
    file: str | None
    is_there: bool


def steps() -> Iterator[Step]:
    for found in _BLOCK.finditer(PAGE):
        before = PAGE[: found.start()].rstrip()
        named = _FILE.search(before)
        yield Step(found[1], found[2], named[2] if named else None, named is not None and named[1] == "in")


class Reader:
    """A person at a terminal who does what the page says, with a port that is free here."""

    def __init__(self, coilclaw: Command) -> None:
        self.home = Path(coilclaw.environment["HOME"])
        self.folder = self.home
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = str(probe.getsockname()[1])
        scripts = str(Path(sys.executable).parent)
        self.environment = {
            **coilclaw.environment,
            "PATH": f"{scripts}:{os.environ['PATH']}",
            "COLUMNS": "80",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.question = QUESTION
        self.person = getpass.getuser()
        self.background: list[subprocess.Popen[bytes]] = []

    def file(self, name: str) -> Path:
        return self.home / "coilclaw-workspace" / name

    def write(self, name: str, text: str) -> None:
        self.file(name).write_text(text.replace(PORT, self.port))

    def read(self, name: str) -> str:
        return self.file(name).read_text().replace(self.port, PORT)

    def type(self, line: str) -> str:
        """What one line prints, with what differs between machines taken out."""
        line = line.replace(PORT, self.port).replace(QUESTION, self.question)
        if place := re.fullmatch(r"cd ~/(\S+)", line):
            self.folder = self.home / place[1]
            return ""
        if line.endswith(" &"):
            self._start(line.removesuffix(" &"))
            return ""
        done = subprocess.run(
            ["bash", "-c", line], env=self.environment, cwd=self.folder, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL if "|" not in line else None, text=True,
        )  # fmt: skip
        return self._normal(done.stdout)

    def _start(self, line: str) -> None:
        self.background.append(subprocess.Popen(line.split(), env=self.environment, cwd=self.folder))
        for _ in range(3000):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", int(self.port))) == 0:
                    return
            with suppress(subprocess.TimeoutExpired):
                self.background[-1].wait(timeout=0.02)
        raise AssertionError(f"{line} does not listen")

    def _normal(self, text: str) -> str:
        text = text.replace(str(self.home), "~").replace(self.port, PORT).replace(sys.executable, "/path/to/python")
        # A busy machine may be slow enough for the notice about that.
        text = re.sub(r"^Loading tools/\S+ takes long; .*\n", "", text, flags=re.MULTILINE)
        text = re.sub(r"run-[0-9a-f]{19}", "run-1a1e265a6b2e813fd94", text)
        text = re.sub(r"receipt-[0-9a-f]{8}-\d+", "receipt-7d0c21aa-20", text)
        for asked in re.findall(r"approval-[0-9a-f]{10}", text):
            self.question = asked  # Whoever reads on types the id that was printed last.
        text = re.sub(r"approval-[0-9a-f]{10}", QUESTION, text)
        text = text.replace(f" as {self.person}:", " as ada:").replace(f" by {self.person})", " by ada)")
        text = re.sub(r"in \d+ ms", "in 9 ms", text)
        return re.sub(r"in \d+\.\d\ds", "in 0.50s", text)

    def close(self) -> None:
        for process in self.background:
            process.kill()
            process.wait()


@contextmanager
def reading(coilclaw: Command) -> Iterator[Reader]:
    reader = Reader(coilclaw)
    try:
        yield reader
    finally:
        reader.close()


def changed(text: str, diff: str) -> str:
    """The text with the lines of a diff replaced; each must be there exactly once."""
    old = "".join(line[1:] + "\n" for line in diff.splitlines() if line.startswith("-"))
    new = "".join(line[1:] + "\n" for line in diff.splitlines() if line.startswith("+"))
    assert text.count(old) == 1, diff
    return text.replace(old, new)


def played(reader: Reader) -> Iterator[tuple[str, str, str]]:
    """Do everything the page says; for each command, what it should print and what it printed.

    A change holds for the commands right after it, then the file is as it was.
    """
    whole: str | None = None
    for step in steps():
        if step.kind == "python" and step.file and step.is_there:
            yield f"cat {step.file}", step.text, reader.read(step.file)
        elif step.kind == "python" and step.file:
            reader.write(step.file, step.text)
        elif step.kind == "diff":
            assert whole is None
            whole = reader.read(BROKEN)
            reader.write(BROKEN, changed(whole, step.text))
        elif step.kind == "console":
            for shown in re.split(r"^\$ ", step.text, flags=re.MULTILINE)[1:]:
                line, _, expected = shown.partition("\n")
                yield line, expected, reader.type(line)
            if whole is not None:
                reader.write(BROKEN, whole)
                whole = None


@pytest.mark.req("R9", "R60", "R62", "R63", "R67", "R95")
def test_every_command_prints_what_the_page_says(coilclaw: Command) -> None:
    with reading(coilclaw) as reader:
        lines = 0
        for line, expected, printed in played(reader):
            assert printed == expected, line
            lines += 1
    assert lines > 25


def test_no_block_of_the_page_is_only_for_show() -> None:
    for step in steps():
        assert step.kind in ("python", "console", "diff"), step
        assert step.kind != "python" or step.file, step


def test_each_way_to_break_it_says_what_to_do() -> None:
    part = PAGE.split("## Five ways to break it")[1].split("\n## ")[0]
    ways = part.split("\n### ")[1:]
    assert len(ways) == 6
    for way in ways[:5]:
        assert way.count("```diff") == 1
        assert ": error: " in way
        assert "  Fix: " in way


def test_the_page_names_every_field_of_a_contract() -> None:
    table = PAGE.split("## The contract")[1].split("\n## ")[0]
    named = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert named == set(inspect.signature(define_tool).parameters)


def test_the_page_names_everything_a_handler_is_given() -> None:
    table = PAGE.split("## ToolContext")[1].split("\n## ")[0]
    named = {
        name for row in re.findall(r"^\| (.*?) \|", table, re.MULTILINE) for name in re.findall(r"`ctx\.(\w+)", row)
    }
    context = ToolContext(workspace=Path())
    public = {name for name in (*vars(context), *vars(ToolContext)) if not name.startswith("_")}
    assert named == public - {"close", "aclose"}


def test_the_page_names_what_tests_are_made_of() -> None:
    part = PAGE.split("## Test them")[1].split("\n## ")[0]
    for name in testing.__all__:
        if name not in ("ReceivedRequest", "RecordingContext"):
            assert f"`{name}" in part, name


def test_links_of_the_page_lead_somewhere() -> None:
    headings = {
        re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in re.findall(r"^##+ (.*)$", PAGE, re.MULTILINE)
    }
    for target in re.findall(r"\]\(#([\w-]+)\)", PAGE):
        assert target in headings, target
