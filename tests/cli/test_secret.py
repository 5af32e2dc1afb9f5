"""`coilclaw secret`: names and places, never values."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest
from tests.cli.conftest import Command

VALUE = "COILCLAW-PLANTED-value"
TOOL = """
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="mine.ask", risk="read", secrets=["MINE_KEY"], optional_secrets=["MINE_EXTRA"])
def ask(ctx: ToolContext) -> list[str]:
    \"\"\"Which secrets are there.\"\"\"
    return sorted(ctx.secrets)
"""


def test_a_value_is_read_from_standard_input(coilclaw: Command) -> None:
    done = coilclaw("secret", "set", "MINE_KEY", stdin=f"{VALUE}\n")
    assert done.code == 0
    assert VALUE not in done.out + done.err
    file = coilclaw.home / "secrets.toml"
    assert f'MINE_KEY = "{VALUE}"' in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_value_is_asked_for_without_showing_it(coilclaw: Command) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*coilclaw.line, "secret", "set", "MINE_KEY"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=coilclaw.environment,
        cwd=coilclaw.folder,
        start_new_session=True,
        preexec_fn=lambda: _own_terminal(follower),
    )
    os.close(follower)
    shown = b""
    with os.fdopen(leader, "rb+", buffering=0) as terminal:
        while b"Value" not in shown:
            shown += terminal.read(1000)
        terminal.write(f"{VALUE}\n".encode())
        try:
            while piece := terminal.read(1000):
                shown += piece
        except OSError:
            pass  # The other end is closed.
    assert process.wait() == 0
    assert VALUE.encode() not in shown
    assert VALUE in (coilclaw.home / "secrets.toml").read_text()


def _own_terminal(descriptor: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)


@pytest.mark.parametrize("line", [["MINE_KEY", VALUE], ["MINE_KEY", "--", f"-{VALUE}"], [f"MINE_KEY={VALUE}"]])
def test_a_value_is_not_taken_from_the_command_line(coilclaw: Command, line: list[str]) -> None:
    done = coilclaw("secret", "set", *line, stdin="other")
    assert done.code == 2
    assert VALUE not in done.out + done.err
    assert not (coilclaw.home / "secrets.toml").exists()


def test_where_secrets_come_from_is_listed(coilclaw: Command) -> None:
    coilclaw.tool("mine/tools.py", TOOL)
    coilclaw("secret", "set", "OLD_KEY", stdin=VALUE)
    coilclaw("secret", "set", "MINE_EXTRA", stdin=VALUE)
    done = coilclaw("secret", "list", "--json", MINE_KEY=VALUE)
    assert VALUE not in done.out + done.err
    rows = {row["name"]: row for row in done.json}
    assert rows["MINE_KEY"] == {"name": "MINE_KEY", "source": "environment", "required": True, "tools": ["mine.ask"]}
    assert rows["MINE_EXTRA"]["source"] == "secrets.toml"
    assert not rows["MINE_EXTRA"]["required"]
    assert rows["OLD_KEY"] == {"name": "OLD_KEY", "source": "secrets.toml", "required": False, "tools": []}
    assert rows["POSTHOG_API_KEY"]["source"] is None
    text = coilclaw("secret", "list")
    assert VALUE not in text.out
    line = next(line for line in text.out.splitlines() if line.startswith("MINE_KEY"))
    assert line.split() == ["MINE_KEY", "missing", "mine.ask"]


def test_a_secret_is_removed(coilclaw: Command) -> None:
    coilclaw("secret", "set", "MINE_KEY", stdin=VALUE)
    assert coilclaw("secret", "remove", "MINE_KEY").code == 0
    assert VALUE not in (coilclaw.home / "secrets.toml").read_text()
    again = coilclaw("secret", "remove", "MINE_KEY")
    assert again.code == 2
    assert "not kept" in again.err


def test_a_variable_that_comes_first_is_mentioned(coilclaw: Command) -> None:
    done = coilclaw("secret", "set", "MINE_KEY", stdin=VALUE, MINE_KEY="from outside")
    assert "MINE_KEY is set" in done.err
    assert "from outside" not in done.err


@pytest.mark.parametrize("stdin", [b"", b"\n", b"\xff\xfe", b"a\0b", b"x" * 2_000_000])
def test_what_cannot_be_a_value_is_refused(coilclaw: Command, stdin: bytes) -> None:
    done = coilclaw("secret", "set", "MINE_KEY", stdin=stdin)
    assert done.code == 2
    assert "nothing was changed" in done.err
    assert not (coilclaw.home / "secrets.toml").exists()


def test_a_file_that_others_can_read_stops_every_command(coilclaw: Command) -> None:
    file = coilclaw.home / "secrets.toml"
    file.write_text(f'MINE_KEY = "{VALUE}"\n')
    file.chmod(0o644)
    for line in (["list"], ["set", "A_KEY"], ["remove", "MINE_KEY"]):
        done = coilclaw("secret", *line, stdin="value")
        assert done.code == 2
        assert f"chmod 600 {file}" in done.err
        assert VALUE not in done.out + done.err


def test_a_link_in_place_of_the_file_is_refused(coilclaw: Command, tmp_path: Path) -> None:
    (coilclaw.home / "secrets.toml").symlink_to(tmp_path / "elsewhere")
    assert coilclaw("secret", "set", "MINE_KEY", stdin=VALUE).code == 2
    assert not (tmp_path / "elsewhere").exists()


def test_a_short_value_is_warned_about(coilclaw: Command) -> None:
    assert "Warning" in coilclaw("secret", "set", "MINE_KEY", stdin="abc").err


def test_a_tool_is_given_what_was_set(coilclaw: Command) -> None:
    coilclaw.tool("mine/tools.py", TOOL)
    assert coilclaw("run", "-", stdin="tools.mine.ask().unwrap()").code == 4
    coilclaw("secret", "set", "MINE_KEY", stdin=VALUE)
    done = coilclaw("run", "-", stdin="tools.mine.ask().unwrap()")
    assert done.code == 0
    assert "MINE_KEY" in done.out


def test_a_name_that_no_secret_can_have_is_refused_before_the_value_is_read(coilclaw: Command) -> None:
    done = coilclaw("secret", "set", "a b", stdin=b"\xff")  # The value would be refused too.
    assert done.code == 2
    assert "'a b' is not the name of a secret" in done.err
