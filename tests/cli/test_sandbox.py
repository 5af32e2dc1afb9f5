"""`coilclaw sandbox scorecard`, with a corpus short enough to wait for."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.conftest import Command
from tests.conftest import cache_folder

from coilclaw.app import Engines
from coilclaw.cli import sandbox as command
from coilclaw.sandbox import EngineUnavailable, escapes
from coilclaw.sandbox.wasm import WasmEngine

SHORT = ("format strings", "the bridge")


@pytest.fixture
def short_corpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A few payloads on the wasm engine alone, in this process."""
    corpus = tuple(
        escapes.EscapeClass(title=each.title, about=each.about, payloads=each.payloads[:3])
        for each in escapes.read_corpus(SHORT)
    )
    monkeypatch.setattr(escapes, "read_corpus", lambda: corpus)
    monkeypatch.setenv("COILCLAW_HOME", str(tmp_path))

    def get(self: Engines, name: str) -> WasmEngine:
        if name == "restricted":
            raise EngineUnavailable("this machine has no such thing")
        return WasmEngine(cache_folder(), pool=1)

    monkeypatch.setattr(Engines, "get", get)


def scorecard(*arguments: str) -> Any:
    return CliRunner().invoke(command.sandbox, ["scorecard", *arguments])


@pytest.mark.req("R3", "R4")
def test_the_table_names_what_held_each_class(short_corpus: None) -> None:
    done = scorecard("--engine", "wasm")
    assert done.exit_code == 0, done.output
    assert re.search(r"class +payloads +held +held by", done.stdout)
    assert re.search(r"format strings +3 +3 +wasm boundary 3", done.stdout)
    assert re.search(r"the bridge +3 +3 +.*limits 2", done.stdout)
    assert re.search(r"total +6 +6$", done.stdout, re.MULTILINE)


def test_json_says_the_same(short_corpus: None) -> None:
    import json

    done = scorecard("--json")
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    (engine,) = said["engines"]
    assert (engine["engine"], engine["payloads"], engine["held"]) == ("wasm", 6, 6)
    assert (engine["escaped"], engine["left"]) == ([], [])
    assert [row["class"] for row in engine["classes"]] == list(SHORT)
    assert said["unavailable"] == {"restricted": "this machine has no such thing"}


def test_an_engine_that_cannot_be_tried_is_named_with_its_reason(short_corpus: None) -> None:
    done = scorecard()
    assert done.exit_code == 0
    assert "restricted was not tried: this machine has no such thing" in done.stderr
    alone = scorecard("--engine", "restricted")
    assert isinstance(alone.exception, EngineUnavailable)


def test_an_escape_is_named_and_is_the_exit_code(short_corpus: None, monkeypatch: pytest.MonkeyPatch) -> None:
    escaping = escapes.Payload(
        name="the one that got out",
        kind="probes",
        origin="own",
        snippets=("tools.canary.escaped('everything')",),
    )
    holding = escapes.Payload(name="the other", kind="probes", origin="own", snippets=("1 + 1",))
    corpus = (escapes.EscapeClass(title="probes", about="", payloads=(escaping, holding)),)
    monkeypatch.setattr(escapes, "read_corpus", lambda: corpus)
    done = scorecard("--engine", "wasm")
    assert done.exit_code == 1
    assert "ESCAPED  probes: the one that got out: got hold of everything" in done.stdout
    assert re.search(r"probes +2 +1", done.stdout)


def test_the_environment_is_as_before(short_corpus: None) -> None:
    before = dict(os.environ)
    scorecard("--engine", "wasm")
    assert dict(os.environ) == before


def test_help_has_an_example(coilclaw: Command) -> None:
    assert "coilclaw sandbox scorecard --engine wasm" in coilclaw("sandbox", "--help").out
    done = coilclaw("sandbox", "scorecard", "--help")
    assert "Example: coilclaw sandbox scorecard" in done.out
    assert "[wasm|restricted|all]" in done.out
    assert coilclaw("sandbox", "scorecard", "--engine", "docker").code == 2


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are sent otherwise there")
def test_an_interrupt_leaves_nothing_behind(coilclaw: Command, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [*coilclaw.line, "sandbox", "scorecard", "--engine", "wasm"],
        env={**coilclaw.environment, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    ends = time.monotonic() + 60
    while not list(scratch.glob("coilclaw-scorecard-*/*.db")) and time.monotonic() < ends:
        time.sleep(0.02)
    assert list(scratch.iterdir())
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"Interrupted." in err
    assert b"Traceback" not in err
    assert list(scratch.iterdir()) == []
