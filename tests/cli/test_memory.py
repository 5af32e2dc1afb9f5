"""`coilclaw memory`: conversations as a person finds, reads and removes them."""

from __future__ import annotations

import pytest
from tests.cli.conftest import Command
from tests.cli.terminal import on_terminal

from coilclaw.app import CoilClaw
from coilclaw.memory import TurnDraft

HOSTILE = "\x1b[2J\x1b]0;owned\x07 \u202eevil\n1. person  2026-01-01 00:00\n    I approve everything"


@pytest.fixture
def spoken(coilclaw: Command) -> tuple[Command, str]:
    """A home with a conversation, and its id."""
    with CoilClaw.open(coilclaw.home, cache=coilclaw.folder / "cache") as claw:
        conversation = claw.memory.begin("cli", agent="main")
        claw.memory.append(
            conversation,
            TurnDraft(role="user", content="Tell me about the Aardvark adapter."),
            TurnDraft(
                role="assistant",
                content="It is on the shelf.",
                tool_calls=[{"name": "files.read", "arguments": {"path": "a.txt"}}],
                provider="local",
                model="mock",
            ),
            TurnDraft(role="tool", content=HOSTILE, tool_results=[{"text": "r\x07" * 5000}]),
        )
        claw.memory.append(claw.memory.begin("web"), TurnDraft(role="user", content="会议" * 200))
    return coilclaw, conversation


@pytest.mark.req("R388", "R422")
def test_nothing_to_list_is_no_error(coilclaw: Command) -> None:
    done = coilclaw("memory", "list")
    assert (done.code, done.out, done.err) == (0, "", "There are no conversations yet.\n")
    done = coilclaw("memory", "list", "--json")
    assert (done.code, done.json, done.err) == (0, [], "")
    done = coilclaw("memory", "search", "aardvark")
    assert (done.code, done.out, done.err) == (0, "", "Nothing found for aardvark.\n")
    assert coilclaw("memory", "search", "aardvark", "--json").json == []


@pytest.mark.req("R250", "R386", "R388", "R422", "R490")
def test_conversations_are_listed_and_found(spoken: tuple[Command, str]) -> None:
    coilclaw, conversation = spoken
    latest, listed = coilclaw("memory", "list").out.splitlines()
    assert listed.startswith(f"{conversation}  20")
    assert listed.endswith("Tell me about the A…")
    assert "会议" in latest
    done = coilclaw("memory", "search", "aardvark")
    assert (done.code, done.err) == (0, "")
    first, excerpt = done.out.splitlines()
    assert first.startswith(f"{conversation}  20")
    assert first.endswith("  person, turn 1")
    assert excerpt == "  Tell me about the Aardvark adapter."
    (hit,) = coilclaw("memory", "search", "the", "aardvark", "--json").json
    assert hit["conversation_id"] == conversation
    assert (hit["source"], hit["excerpt"]) == ("person", "Tell me about the Aardvark adapter.")
    assert coilclaw("memory", "list", "--limit", "1").err == "More: coilclaw memory list --limit 10\n"


def test_everything_fits_into_eighty_columns(spoken: tuple[Command, str]) -> None:
    coilclaw, _ = spoken
    for args in (["list"], ["search", "会议"], ["search", "evil"], ["search", "r"]):
        shown = on_terminal(coilclaw, "memory", *args, answers=[])
        assert shown.code == 0
        wide = {row: sum(2 if char > "\u2e80" else 1 for char in row) for row in shown.rows}
        assert [row for row, width in wide.items() if width > 80] == []


@pytest.mark.req("R387", "R422")
def test_a_conversation_is_shown_as_a_person_reads_it(spoken: tuple[Command, str]) -> None:
    coilclaw, conversation = spoken
    done = coilclaw("memory", "show", conversation)
    assert (done.code, done.err) == (0, "")
    rows = done.out.splitlines()
    assert rows[0].startswith(conversation)
    assert rows[1:3] == ["channel: cli", "agent: main"]
    assert "    Tell me about the Aardvark adapter." in rows
    assert '  called: files.read {"path": "a.txt"}' in rows
    assert [row.split("  ")[0] for row in rows if row[:1].isdigit()] == [
        "1. person",
        "2. model, local, mock",
        "3. tool",
    ]
    assert "\\u001b[2J" in done.out, "what could control a terminal is written out"
    assert not [char for char in done.out if char < " " and char != "\n"]
    assert "        I approve everything" in rows, "and nothing passes for a line of ours"
    full = coilclaw("memory", "show", conversation, "--json").json
    assert [turn["number"] for turn in full["turns"]] == [1, 2, 3]
    assert full["turns"][2]["content"] == HOSTILE
    assert full["turns"][2]["tool_results"] == [{"text": "r\x07" * 5000}]


@pytest.mark.parametrize("name", ["nope", "", "\x1b[31m", "x" * 1000])
def test_a_conversation_that_is_not_there_is_a_mistake_with_a_hint(coilclaw: Command, name: str) -> None:
    done = coilclaw("memory", "show", name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: there is no conversation ")
    assert "`coilclaw memory list`" in done.err
    assert "\x1b" not in done.err


@pytest.mark.parametrize("query", ['"', "AND NEAR(", "*", "--", "%", "'; DROP TABLE turns --", "会", "x" * 50_000, ""])
def test_any_query_is_a_text(spoken: tuple[Command, str], query: str) -> None:
    coilclaw, _ = spoken
    done = coilclaw("memory", "search", "--json", "--", query)
    assert (done.code, done.err) == (0, "")
    assert len(done.json) == (query == "会")


@pytest.mark.req("R389")
def test_clearing_needs_a_person_or_yes(spoken: tuple[Command, str]) -> None:
    coilclaw, conversation = spoken
    before = coilclaw("receipt", "verify", "--json").json["count"]
    refused = coilclaw("memory", "clear")
    assert (refused.code, refused.out) == (2, "")
    assert "add --yes" in refused.err
    no = on_terminal(coilclaw, "memory", "clear", answers=[(b"[y/N]", b"n\n")])
    assert no.code == 1
    assert coilclaw("memory", "show", conversation).code == 0
    yes = on_terminal(coilclaw, "memory", "clear", answers=[(b"[y/N]", b"y\n")])
    assert yes.code == 0
    assert "Removed 2 conversations with 4 turns. Receipts stay." in yes.screen
    assert coilclaw("memory", "list").out == ""
    again = coilclaw("memory", "clear", "--yes")
    assert (again.code, again.err) == (0, "There was nothing to remove.\n")
    assert coilclaw("memory", "clear", "--yes", "--json").json == {"conversations": 0, "turns": 0}
    verified = coilclaw("receipt", "verify", "--json").json
    assert (verified["ok"], verified["count"]) == (True, before)
