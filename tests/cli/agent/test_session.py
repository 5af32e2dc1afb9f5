"""`coilclaw agent` without a message: a session at a terminal, and from a pipe."""

from __future__ import annotations

import re
import stat
import subprocess
from itertools import takewhile
from typing import TYPE_CHECKING

import pytest
from tests.cli.agent.assistant import Assistant
from tests.cli.terminal import INTERRUPT, on_terminal

from coilclaw.cli.agent import lines
from coilclaw.cli.agent.session import CliChannel

if TYPE_CHECKING:
    from pathlib import Path

    from coilclaw.channels import Channel

END = b"\x04"
WRITE = {"tool_calls": [{"name": "file_write", "arguments": {"path": "a.txt", "text": "hello"}}]}
TOOL = '''
from coilclaw.sdk import ToolContext, define_tool

@define_tool(id="{name}.say", risk="read")
def say(ctx: ToolContext) -> str:
    """Say something."""
    return "{name}"
'''


@pytest.fixture
def terminal(assistant: Assistant) -> Assistant:
    """With a terminal that can move its cursor, so that lines are edited."""
    assistant.coilclaw.environment["TERM"] = "xterm"
    return assistant


# From a pipe ---------------------------------------------------------------------------------------------


@pytest.mark.req("R248", "R312", "R314")
def test_each_piped_line_is_a_message_until_exit(assistant: Assistant) -> None:
    assistant.replies({"text": "one"}, {"text": "two"}, {"text": "three"})
    done = assistant.coilclaw("agent", stdin="first\n\nsecond\n/exit\nthird\n")
    assert (done.code, done.out, done.err) == (0, "one\n\ntwo\n\n", "")
    (conversation,) = assistant.coilclaw("memory", "list", "--json").json
    assert [text for role, text in assistant.turns(conversation["conversation_id"]) if role == "user"] == [
        "first",
        "second",
    ]


def test_the_first_line_that_is_not_answered_ends_a_piped_session(assistant: Assistant) -> None:
    assistant.replies(WRITE, {"text": "never"})
    done = assistant.coilclaw("agent", stdin="write\nmore\n")
    assert done.code == 3
    assert "never" not in done.out


@pytest.mark.req("R315", "R286")
def test_tools_lists_what_this_conversation_may_call(assistant: Assistant) -> None:
    listed = assistant.coilclaw("agent", stdin="/tools\n").out
    assert "files.read " in listed
    assert "files.write " in listed
    assert "hello.greet " in listed
    assert max(map(len, listed.splitlines())) <= 80
    assert "files.list              allow  The files and folders under a folder" in listed
    assistant.config("[channels.cli]\n", '[channels.cli]\ntools_allow = ["file_read", "hello.*"]\n')
    listed = assistant.coilclaw("agent", stdin="/tools\n").out
    assert [line.split()[0] for line in listed.splitlines()] == ["files.read", "hello.greet"]


@pytest.mark.req("R316")
def test_memory_searches_earlier_conversations(assistant: Assistant) -> None:
    first = assistant.says("Tell me about the Aardvark adapter", "--json").json["conversation_id"]
    done = assistant.coilclaw("agent", stdin="/memory aardvark\n/memory zyzzyva\n/memory\n")
    assert first in done.out
    assert "Aardvark adapter" in done.out
    assert "Nothing was said about that." in done.err
    assert "say what to look for" in done.err


@pytest.mark.req("R317")
def test_policy_prints_the_autonomy_and_the_workspace_boundary(assistant: Assistant) -> None:
    out = assistant.coilclaw("agent", stdin="/policy\n", COILCLAW_AUTONOMY="readonly").out
    assert "Autonomy:   readonly" in out
    assert f"Workspace:  {assistant.coilclaw.workspace}" in out
    assert "nothing outside the workspace" in out
    assert "/etc" in out


def test_receipts_and_the_stop_are_at_hand(assistant: Assistant) -> None:
    done = assistant.coilclaw(
        "agent", stdin="/estop it mails everyone\n/receipts\n/policy\n/estop clear\n/estop clear\n"
    )
    assert "estop.set" in done.out
    assert "it mails everyone" in done.err
    assert done.err.splitlines()[-2:] == ["Tools may be called again.", "No stop is set."]
    assert assistant.coilclaw("estop", "--status").code == 0


def test_help_lists_every_command_and_an_unknown_one_says_so(assistant: Assistant) -> None:
    done = assistant.coilclaw("agent", stdin="/help\n/nope\n")
    for command in ["/exit", "/tools", "/memory", "/policy", "/receipts", "/approve", "/estop", "/help"]:
        assert f"{command} " in done.out
    assert (done.code, "/nope" in done.err) == (1, True)


def test_approve_in_a_pipe_lists_and_decides_nothing(assistant: Assistant) -> None:
    assistant.replies(WRITE, {"text": "done"})
    conversation = assistant.says("write", "--json").json["conversation_id"]
    done = assistant.coilclaw("agent", stdin="/approve\n")
    assert done.out == ""
    assert "1 call of others" in done.err
    done = assistant.coilclaw("agent", stdin="/approve all\n")
    assert f"files.write  {conversation}\n" in done.out
    assert '{"path": "a.txt", "text": "hello"}' in done.out
    done = assistant.coilclaw("agent", "--conversation", conversation, stdin="/approve\n")
    assert "files.write  this conversation\n" in done.out
    assert not (assistant.coilclaw.workspace / "a.txt").exists()
    assert len(assistant.coilclaw("approval", "list", "--json").json) == 1


# At a terminal -------------------------------------------------------------------------------------------


def test_a_dumb_terminal_gets_a_plain_prompt(assistant: Assistant) -> None:
    assistant.replies({"text": "Hello to you."})
    run = on_terminal(assistant.coilclaw, "agent", answers=[(b"> ", b"hi\r"), (b"to you.", b""), (b"> ", END)])
    assert run.code == 0
    assert "\x1b" not in run.screen.replace("\r\x1b[K", "")


def test_enter_sends_alt_enter_begins_a_line_and_tab_completes_a_command(terminal: Assistant) -> None:
    terminal.replies({"text": "Two lines."})
    keys = [
        (b">", b"one\x1b\rtwo\r"),
        (b"Two lines.", b""),
        (b">", b"/po\t"),
        (b"licy", b"\r"),
        (b"Rules:", b""),
        (b">", END),
    ]
    run = on_terminal(terminal.coilclaw, "agent", answers=keys)
    assert run.code == 0
    (conversation,) = terminal.coilclaw("memory", "list", "--json").json
    assert terminal.turns(conversation["conversation_id"])[0] == ("user", "one\ntwo")
    assert "Autonomy:   supervised" in run.screen


def test_history_is_private_and_keeps_neither_secrets_nor_lines_that_begin_with_a_blank(terminal: Assistant) -> None:
    terminal.replies(*({"text": f"answer{n}"} for n in range(4)))
    keys = [
        (b">", b"remember me\r"),
        (b"answer0", b""),
        (b">", b" not me\r"),
        (b"answer1", b""),
        (b">", b"my key is sk-ant-COILCLAW-PLANTED-1234\r"),
        (b"answer2", b""),
        (b">", END),
    ]
    assert on_terminal(terminal.coilclaw, "agent", answers=keys).code == 0
    history = terminal.coilclaw.home / "agent-history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert [line for line in history.read_text().splitlines() if line.startswith("+")] == ["+remember me"]
    # The arrow brings it back in the next session.
    keys = [(b">", b"\x1b[A"), (b"remember me", b"\r"), (b"answer0", b""), (b">", END)]
    assert on_terminal(terminal.coilclaw, "agent", answers=keys).code == 0


def test_an_interrupt_ends_the_turn_and_not_the_session(terminal: Assistant) -> None:
    terminal.replies({"when": "slow", "text": "never", "delay_seconds": 600}, {"text": "Here again."})
    keys = [
        (b">", b"slow\r"),
        (b"thinking", INTERRUPT),
        (b"Once more", b""),
        (b">", b"and now?\r"),
        (b"again.", b""),
        (b">", END),
    ]
    assert on_terminal(terminal.coilclaw, "agent", answers=keys).code == 0
    (conversation,) = terminal.coilclaw("memory", "list", "--json").json
    said = [text for role, text in terminal.turns(conversation["conversation_id"]) if role == "user"]
    assert said == ["slow", "and now?"]


def test_a_call_left_for_later_is_approved_in_the_session_and_the_turn_continues(assistant: Assistant) -> None:
    assistant.replies(WRITE, {"text": "I wrote a.txt."})
    keys = [
        (b"> ", b"write\r"),
        (b"[y/N/l]", b"l\r"),
        (b"Or here: /approve", b""),
        (b"> ", b"/approve\r"),
        (b"[y/N/l]", b"y\r"),
        (b"I wrote a.txt.", b""),
        (b"> ", END),
    ]
    run = on_terminal(assistant.coilclaw, "agent", answers=keys)
    assert run.code == 0
    assert (assistant.coilclaw.workspace / "a.txt").read_text() == "hello"


def test_a_call_that_waits_is_told_and_remembered_in_80_columns(assistant: Assistant) -> None:
    """What the terminal itself would break is broken by us, between words; a command stands whole on its line."""
    text = "some words of a text that has many of them " * 4
    source = f"tools.files.write(path='a.txt', text={text!r})"
    assistant.replies({"code": source}, {"text": f"It says {text}"})
    run = on_terminal(assistant.coilclaw, "agent", "-m", f"write {text}", answers=[(b"[y/N/l]", b"l\r")])
    shown = run.screen.partition("Waiting for approval")[2]
    assert max(map(len, shown.splitlines())) <= 80
    (resume,) = re.findall(r"^Then continue: coilclaw (agent --resume \S+)$", shown, re.MULTILINE)
    assert assistant.coilclaw(*resume.split(), "--yes").code == 0
    told = on_terminal(assistant.coilclaw, "memory", "show", resume.split()[-1], answers=[])
    assert max(map(len, told.rows)) <= 80
    assert "  called: run_python" in told.rows
    assert "    | tools.files.write(path='a.txt', text='some words" in told.screen
    said = [row for row in told.rows if row.startswith("    It says ")]
    assert [row.split()[-1] in text.split() for row in said] == [True]


def test_calls_of_other_conversations_are_decided_only_when_asked_for_and_named(assistant: Assistant) -> None:
    assistant.replies(WRITE, {"text": "done"})
    other = assistant.says("write", "--json").json["conversation_id"]
    keys = [
        (b"> ", b"/approve\r"),
        (b"/approve all shows them", b""),
        (b"> ", b"/approve all\r"),
        (f"Not of this conversation: of {other}".encode(), b""),
        (b"[y/N/l]", b"\x04"),
        (b"> ", END),
    ]
    run = on_terminal(assistant.coilclaw, "agent", answers=keys)
    assert run.screen.count("Approve?") == 1
    assert len(assistant.coilclaw("approval", "list", "--json").json) == 1


def test_an_exchange_that_failed_is_continued_in_the_session(assistant: Assistant) -> None:
    assistant.replies({"error": "server"}, {"text": "Here I am."})
    keys = [(b"> ", b"hi\r"), (b"Or here: /resume", b""), (b"> ", b"/resume\r"), (b"Here I am.", b""), (b"> ", END)]
    run = on_terminal(assistant.coilclaw, "agent", answers=keys)
    assert run.code == 0
    assert "coilclaw agent --resume conversation-" in run.screen


def test_a_tool_that_is_saved_is_there_in_the_next_turn(assistant: Assistant) -> None:
    command = assistant.coilclaw
    assistant.replies({"tool_calls": [{"name": "late.say", "arguments": {}}]}, {"text": "It spoke."})
    with subprocess.Popen(
        [*command.line, "agent"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=command.environment,
        cwd=command.folder,
        text=True,
    ) as session:
        to, shown = session.stdin, session.stdout
        assert to is not None
        assert shown is not None

        def tools() -> str:
            """What `/tools` says now; the last line of `/help` ends it."""
            print("/tools\n/help", file=to, flush=True)
            return "".join(takewhile(lambda line: not line.startswith("/exit "), shown))

        assert "late.say" not in tools()
        command.tool("late/tools.py", TOOL.format(name="late"))
        while "late.say" not in tools():
            assert session.poll() is None
        out, _ = session.communicate("use it\n/exit\n", timeout=60)
    assert "  succeeded late.say()" in out


# The protocol --------------------------------------------------------------------------------------------


@pytest.mark.req("R307", "R308", "R309", "R310", "R311")
def test_the_terminal_is_a_channel_of_the_protocol() -> None:
    made: type[Channel] = CliChannel
    assert all(hasattr(made, each) for each in ("name", "start", "send", "supports_draft_updates"))


def test_a_link_in_place_of_the_history_is_not_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target.txt", tmp_path / "agent-history"
    target.write_text("x\n")
    link.symlink_to(target)
    lines._history(link).append_string("through the link")
    assert target.read_text() == "x\n"
