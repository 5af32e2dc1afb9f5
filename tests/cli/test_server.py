"""Commands with `--server`, against a real server of the same home."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator

import pytest
from tests.cli.conftest import Command

WRITE = "print('before')\ntools.files.write(path='n.txt', text='hi').unwrap()\n7"


@pytest.fixture
def url(coilclaw: Command) -> Iterator[str]:
    """A server of the command's home."""
    coilclaw.workspace.mkdir(parents=True)
    with subprocess.Popen(
        [*coilclaw.line, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=coilclaw.environment,
        text=True,
    ) as process:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        try:
            yield link.partition("/#")[0]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def test_a_run_there_prints_what_a_run_here_prints_and_leaves_no_token(coilclaw: Command, url: str) -> None:
    source = "import sys\nprint('hi')\nprint('oh', file=sys.stderr)\n[1, 2]"
    here, there = coilclaw("run", "-", stdin=source), coilclaw("run", "-", "--server", url, stdin=source)
    assert (there.code, there.out) == (here.code, here.out) == (0, "hi\n[\n  1,\n  2\n]\n")
    assert "oh\n" in there.err
    facts = coilclaw("run", "-", "--json", "--server", url, stdin=source).json
    assert facts.keys() == coilclaw("run", "-", "--json", stdin=source).json.keys()
    assert coilclaw("run", "show", facts["run_id"], "--json", COILCLAW_SERVER=url).json == facts
    assert coilclaw("run", "list", "--json", "--server", url).json == coilclaw("run", "list", "--json").json
    receipts = coilclaw("receipt", "list", "--json").json
    assert coilclaw("receipt", "list", "--json", "--server", url).json == receipts
    assert coilclaw("token", "list", "--json").json == []


def test_an_approval_there_is_shown_decided_and_the_run_followed(coilclaw: Command, url: str) -> None:
    waiting = coilclaw("run", "-", "--json", "--server", url, stdin=WRITE)
    assert waiting.code == 3
    (asked,) = waiting.json["approvals"]
    assert f"coilclaw approval approve {asked['id']} --resume --server {url}" in waiting.err
    shown = coilclaw("approval", "show", asked["id"], "--server", url)
    assert shown.out == coilclaw("approval", "show", asked["id"]).out
    assert coilclaw("approval", "list", "--json", "--server", url).json == coilclaw("approval", "list", "--json").json
    done = coilclaw("approval", "approve", asked["id"], "--resume", "--server", url)
    assert (done.code, done.out) == (0, "before\n7\n")
    assert (coilclaw.workspace / "n.txt").read_text() == "hi"
    again = coilclaw("approval", "approve", asked["id"], "--server", url)
    assert again.code == 2
    assert "already approved" in again.err


def test_exit_codes_there_are_those_of_here(coilclaw: Command, url: str) -> None:
    for source in ("1 / 0", "while True: pass", WRITE):
        for more in ((), ("--server", url)):
            assert coilclaw("run", "-", "--timeout", "1", *more, stdin=source).code == (3 if source == WRITE else 1)
    assert coilclaw("run", "-", "--yes", "--server", url, stdin=WRITE).out == "before\n7\n"
    assert coilclaw("run", "show", "run-1a1e265a6b2e813fd94", "--server", url).code == 2


def test_an_interrupt_cancels_the_run_there_and_says_so(coilclaw: Command, url: str) -> None:
    script = coilclaw.folder / "endless.py"
    script.write_text("print('go')\nwhile True: pass")
    with subprocess.Popen(
        [*coilclaw.line, "run", str(script), "--server", url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=coilclaw.environment,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"go\n"  # While it runs.
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Cancelling run-" in err
    assert coilclaw("run", "list", "--json").json[0]["status"] == "cancelled"


def test_elsewhere_the_token_comes_from_the_environment_and_shows_nowhere(coilclaw: Command, url: str) -> None:
    token = json.loads(coilclaw("token", "create", "--scope", "run", "--json").out)["token"]
    elsewhere = {"COILCLAW_HOME": str(coilclaw.folder / "other"), "COILCLAW_LOG": "debug"}
    done = coilclaw("run", "-", "--server", url, stdin="1", COILCLAW_TOKEN=token, **elsewhere)
    assert (done.code, done.out) == (0, "1\n")
    missing = coilclaw("run", "-", "--server", url, stdin="1", **elsewhere)
    assert missing.code == 2
    assert "needs a token" in missing.err
    wrong = coilclaw("run", "-", "--server", url, stdin="1", COILCLAW_TOKEN=token[:-3] + "xyz", **elsewhere)
    assert wrong.code == 2
    assert "wrong, expired or revoked" in wrong.err
    assert token[:30] not in done.err + wrong.err + wrong.out
    weak = coilclaw("approval", "deny", "approval-1f0c9a77d2", "--server", url, COILCLAW_TOKEN=token, **elsewhere)
    assert weak.code == 2


def test_an_address_where_no_server_listens_is_one_clear_line(coilclaw: Command) -> None:
    nothing = coilclaw("run", "-", "--server", "http://127.0.0.1:1", stdin="1", COILCLAW_TOKEN="ccapi_planted")
    assert nothing.code == 2
    assert "nothing answers at http://127.0.0.1:1" in nothing.err
    assert "planted" not in nothing.err
    assert coilclaw("run", "-", "--server", "http://example.org", stdin="1").code == 2
    assert coilclaw("run", "-", "--server", "http://127.0.0.1:1", "--dry-run", stdin="1").code == 2
