"""`coilclaw receipt list --follow`: receipts of every process of a home, as they come."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from tests.cli.conftest import Command

OF_A_RUN = ["run.started", "tool.call.requested", "tool.call.started", "tool.call.succeeded", "run.finished"]


@contextmanager
def following(coilclaw: Command, *options: str) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    line = [*coilclaw.line, "receipt", "list", "--follow", *options]
    with subprocess.Popen(line, env=coilclaw.environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout
        finally:
            process.kill()


def objects(lines: IO[str], count: int) -> list[dict[str, Any]]:
    return [json.loads(lines.readline()) for _ in range(count)]


def test_receipts_of_other_processes_are_printed_as_they_come_until_an_interrupt(coilclaw: Command) -> None:
    coilclaw("run", "-", stdin="tools.time.now()")
    with following(coilclaw, "--json", "--limit", "2") as (process, lines):
        assert [each["type"] for each in objects(lines, 2)] == OF_A_RUN[-2:]
        run_ids = [coilclaw("run", "-", "--json", stdin="tools.time.now()").json["run_id"] for _ in range(2)]
        found = objects(lines, 10)
        assert [each["type"] for each in found] == OF_A_RUN * 2
        assert [each["seq"] for each in found] == list(range(6, 16))
        assert [each["run_id"] for each in found] == [run_id for run_id in run_ids for _ in range(5)]
        process.send_signal(signal.SIGINT)
        assert lines.read() == ""
        assert process.wait(60) == 0


def test_lines_for_people_are_those_of_the_list(coilclaw: Command) -> None:
    coilclaw("run", "-", stdin="1")
    with following(coilclaw) as (process, lines):
        first = [lines.readline() for _ in range(2)]
        coilclaw("run", "-", stdin="2")
        shown = first + [lines.readline() for _ in range(2)]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert "".join(shown) == coilclaw("receipt", "list").out


def test_only_the_receipts_of_one_run_are_followed_if_it_is_named(coilclaw: Command) -> None:
    workspace = ("--workspace", coilclaw.workspace)
    coilclaw("init", *workspace)
    coilclaw.tool("a/b.py", _SEND)
    suspended = coilclaw("run", "-", "--json", *workspace, stdin="tools.a.send()").json
    (asked,) = coilclaw("approval", "list", "--json").json
    with following(coilclaw, "--json", "--run", suspended["run_id"]) as (process, lines):
        before = coilclaw("receipt", "list", "--run", suspended["run_id"], "--json").json
        assert objects(lines, len(before)) == before
        coilclaw("run", "-", stdin="tools.time.now()")
        coilclaw("approval", "approve", asked["id"], "--yes")
        coilclaw("resume", suspended["run_id"], *workspace)
        found = objects(lines, 5)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert {each["run_id"] for each in found} == {suspended["run_id"]}
    assert [each["type"] for each in found][-1] == "run.finished"


_SEND = '''
from coilclaw.sdk import ToolContext, define_tool


@define_tool(id="a.send", risk="write")
def send(ctx: ToolContext) -> int:
    """Send."""
    return 1
'''


def test_a_line_for_a_person_fits_the_usual_terminal_and_json_has_the_whole_time(coilclaw: Command) -> None:
    coilclaw("tool", "run", "time.now")
    shown, facts = coilclaw("receipt", "list").out.splitlines(), coilclaw("receipt", "list", "--json").json
    assert max(map(len, shown)) <= 80
    for line, each in zip(shown, facts, strict=True):
        seconds, fraction = each["timestamp"].split(".")
        assert f" {seconds}Z {each['type']} " in line
        assert len(fraction) == len("123456Z")


def test_a_log_without_receipts_says_so(coilclaw: Command) -> None:
    done = coilclaw("receipt", "list")
    assert (done.code, done.out, done.err) == (0, "", "There are no receipts yet.\n")
    assert coilclaw("receipt", "list", "--json").json == []
