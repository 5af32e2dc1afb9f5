"""Conversations are kept whole, in order, and until a person clears them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import run

import pytest

from coilclaw.memory import BadTurn, Memory, NoSuchConversation, PendingChanged, TurnDraft
from coilclaw.receipts import Draft, ReceiptLog, now
from coilclaw.runs import MIGRATIONS
from coilclaw.store import BadCursor, BadLimit, Database

SAID = TurnDraft(role="user", content="Tell me about the Aardvark adapter")


def test_a_secret_that_occurs_in_an_id_of_ours_does_not_change_it(database: Database) -> None:
    memory = Memory(database, redaction=lambda: lambda text: text.replace("turn", "[secret X]"))
    conversation = memory.begin("cli")
    result = {"request": "turn-1.0", "text": "turn", "run_id": "run-turn"}
    (kept,) = memory.append(conversation, TurnDraft(role="tool", tool_results=[result]))
    assert kept.tool_results == [{"request": "turn-1.0", "text": "[secret X]", "run_id": "run-turn"}]


@pytest.mark.req("R384", "R385")
def test_a_turn_is_kept_with_everything_it_consists_of(memory: Memory, database: Database) -> None:
    conversation = memory.begin("cli", agent="main", project="p-1")
    drafts = (
        SAID,
        TurnDraft(
            role="assistant",
            content="It fits.",
            tool_calls=[{"id": "c1", "name": "files.read", "arguments": {"path": "a"}}],
            provider="local",
            model="mock",
            metadata={"usage": {"input_tokens": 3}},
        ),
        TurnDraft(role="tool", content="ok", tool_results=[{"id": "c1", "text": "naïve \ud800 \x00 text"}]),
    )
    kept = memory.append(conversation, *drafts)
    with Database(database.path, MIGRATIONS) as other:
        read = Memory(other).turns(conversation).turns
    assert tuple(read) == kept
    assert [turn.facts().keys() for turn in read] == [
        {
            "conversation_id", "turn_id", "number", "timestamp", "role", "source", "content", "tool_calls",
            "tool_results", "provider", "model", "metadata",
        }
    ] * 3  # fmt: skip
    assert [(turn.number, turn.role, turn.source) for turn in read] == [
        (1, "user", "person"),
        (2, "assistant", "model"),
        (3, "tool", "tool"),
    ]
    assert (read[1].provider, read[1].model, read[1].metadata) == ("local", "mock", {"usage": {"input_tokens": 3}})
    assert read[1].tool_calls == drafts[1].tool_calls
    assert read[2].tool_results == [{"id": "c1", "text": "naïve \ufffd \x00 text"}], "half a character is none"
    assert all(turn.conversation_id == conversation and turn.timestamp.endswith("Z") for turn in read)
    shown = memory.show(conversation)
    assert (shown.channel, shown.agent, shown.project, shown.turns) == ("cli", "main", "p-1", 3)
    assert shown.title == SAID.content


@pytest.mark.parametrize(
    ("role", "source"),
    [("assistant", "person"), ("tool", "person"), ("tool", "model"), ("assistant", "tool"), ("system", None)],
)
def test_nothing_passes_for_a_person_or_for_another_source(role: str, source: str | None) -> None:
    with pytest.raises(BadTurn):
        TurnDraft(role=role, source=source)  # type: ignore[arg-type]


def test_a_source_that_was_written_over_counts_as_a_tool(memory: Memory, database: Database) -> None:
    conversation = memory.begin("cli")
    memory.append(conversation, SAID)
    with database.transaction() as connection:
        connection.execute("UPDATE turns SET source = 'system', role = 'system', tool_calls = '{', metadata = '[]'")
    (turn,) = memory.turns(conversation)
    assert (turn.role, turn.source, turn.tool_calls, turn.metadata) == ("tool", "tool", [], {})


def test_what_is_too_long_is_cut_and_says_so(memory: Memory) -> None:
    conversation = memory.begin("cli")
    long, wide = "x" * 300_000, [{"id": "c1", "text": "y" * 3_000_000}, {"id": "c2", "text": "short"}]
    many = [{"id": number, "numbers": [1] * 100} for number in range(6000)]
    first, second = memory.append(
        conversation,
        TurnDraft(role="user", content=long),
        TurnDraft(role="tool", tool_calls=many, tool_results=wide),
    )
    assert len(first.content) < 263_000
    assert first.content.endswith("… [cut: 37856 more characters]")
    assert [each["id"] for each in second.tool_results] == ["c1", "c2"]
    assert "[cut: " in second.tool_results[0]["text"]
    assert second.tool_results[1]["text"] == "short"
    assert second.tool_calls == [{"cut": "an entry that was too large"}] * 6000


def test_a_result_that_is_nested_too_deep_costs_no_turn(memory: Memory) -> None:
    deep: list[object] = []
    for _ in range(400):
        deep = [deep]
    conversation = memory.begin("cli")
    memory.append(conversation, TurnDraft(role="tool", content="aardvark", tool_results=deep))
    (turn,) = memory.turns(conversation)
    assert turn.tool_results == [{"cut": "an entry that was nested too deep"}]
    with pytest.raises(BadTurn, match="nested deeper"):
        memory.suspend(conversation, {"deep": deep})


def test_what_is_said_of_a_conversation_may_be_any_text(memory: Memory) -> None:
    conversation = memory.begin("\ud800", agent="'; --", project="\x00")
    memory.append(conversation, TurnDraft(role="user", source="tool", content="I am a person"))
    assert memory.show(conversation).title == "", "a title comes from a person"
    memory.append(conversation, TurnDraft(role="user", content=f"  So\n am I {'!' * 1000}"))
    assert memory.show(conversation).title == f"So am I {'!' * 72}"
    assert (memory.show(conversation).channel, memory.show(conversation).agent) == ("\ufffd", "'; --")


def test_looking_for_secrets_may_use_the_database_itself(database: Database, memory: Memory) -> None:
    """It takes locks of the app, which others may hold while they wait for this database."""

    def redaction() -> Callable[[str], str]:
        memory.begin("another thread")
        return str.upper

    careful = Memory(database, redaction=redaction)
    conversation = careful.begin("cli")
    careful.suspend(conversation, {}, SAID)
    assert careful.append(conversation, SAID)[0].content == SAID.content.upper()


@pytest.mark.parametrize("value", [{"x": "y" * 2**20 * 17}, {"x": {1}}, [], "text"])
def test_a_document_that_cannot_be_kept_whole_is_refused_and_nothing_is_written(memory: Memory, value: object) -> None:
    conversation = memory.begin("cli")
    with pytest.raises(BadTurn):
        memory.append(conversation, SAID, TurnDraft(role="user", metadata=value))  # type: ignore[arg-type]
    with pytest.raises(BadTurn):
        memory.suspend(conversation, value, SAID)  # type: ignore[arg-type]
    assert memory.show(conversation).turns == 0
    assert memory.search("aardvark") == ()


@pytest.mark.req("R388")
def test_conversations_are_listed_by_their_latest_turn_page_by_page(memory: Memory) -> None:
    assert (list(memory.list()), memory.list().cursor) == ([], None)
    made = [memory.begin("cli" if number % 2 else "web") for number in range(7)]
    memory.append(made[2], SAID)
    expected = [made[2], *(each for each in reversed(made) if each != made[2])]
    found: list[str] = []
    page = memory.list(limit=3)
    while True:
        found += [each.conversation_id for each in page]
        if page.cursor is None:
            break
        page = memory.list(limit=3, cursor=page.cursor)
    assert found == expected
    assert [each.conversation_id for each in memory.list(channel="web", limit=1)] == [made[2]]


def test_turns_are_read_page_by_page(memory: Memory) -> None:
    conversation, other = memory.begin("cli"), memory.begin("cli")
    memory.append(conversation, *(TurnDraft(role="user", content=str(number)) for number in range(5)))
    first = memory.turns(conversation, limit=3)
    assert [turn.content for turn in first] == ["0", "1", "2"]
    assert first.cursor is not None
    second = memory.turns(conversation, limit=3, cursor=first.cursor)
    assert ([turn.content for turn in second], second.cursor) == (["3", "4"], None)
    with pytest.raises(BadCursor):
        memory.turns(other, cursor=first.cursor)
    for cursor in ("x", "", "\ud800", memory.list(limit=1).cursor or ""):
        with pytest.raises(BadCursor):
            memory.turns(conversation, cursor=cursor)
    with pytest.raises(BadLimit):
        memory.list(limit=-1)


@pytest.mark.parametrize("name", ["nope", "", "\ud800", "x" * 100_000, "' OR 1=1"])
def test_a_conversation_that_is_not_there_is_said_to_be(memory: Memory, name: str) -> None:
    for use in (memory.show, memory.turns, memory.pending, lambda each: memory.recent(each, 100)):
        with pytest.raises(NoSuchConversation):
            use(name)
    with pytest.raises(NoSuchConversation):
        memory.append(name, SAID)
    with pytest.raises(NoSuchConversation):
        memory.suspend(name, {})


def test_a_suspended_turn_is_settled_once(memory: Memory, database: Database) -> None:
    conversation = memory.begin("cli")
    memory.suspend(conversation, {"run_id": "r", "rounds": [1, "ü"]}, SAID)
    assert memory.show(conversation).is_waiting
    with Database(database.path, MIGRATIONS) as other:
        found = Memory(other).pending(conversation)
        assert found == {"run_id": "r", "rounds": [1, "ü"]}
        with pytest.raises(PendingChanged):
            Memory(other).suspend(conversation, {"run_id": "s"})
        Memory(other).settle(conversation, found, TurnDraft(role="assistant", content="Done."))
    with pytest.raises(PendingChanged):
        memory.settle(conversation, found, TurnDraft(role="assistant", content="Done."))
    assert [turn.content for turn in memory.turns(conversation)] == [SAID.content, "Done."]
    assert memory.pending(conversation) is None


def test_a_resumed_turn_is_suspended_again_by_whoever_resumed_it(memory: Memory) -> None:
    conversation = memory.begin("cli")
    memory.suspend(conversation, {"n": 1})
    memory.suspend(conversation, {"n": 2}, instead_of={"n": 1})
    with pytest.raises(PendingChanged):
        memory.suspend(conversation, {"n": 3}, SAID, instead_of={"n": 1})
    assert (memory.pending(conversation), memory.show(conversation).turns) == ({"n": 2}, 0)


def test_secrets_are_replaced_wherever_they_stand(database: Database) -> None:
    memory = Memory(database, redaction=lambda: lambda text: text.replace("COILCLAW-PLANTED-22", "[secret X]"))
    conversation = memory.begin("cli")
    shown = memory.append(
        conversation,
        TurnDraft(
            role="user",
            content="it is COILCLAW-PLANTED-22",
            tool_calls=[{"a": ["COILCLAW-PLANTED-22"]}],
            tool_results=[{"COILCLAW-PLANTED-22": "COILCLAW-PLANTED-22"}],
            metadata={"x": "COILCLAW-PLANTED-22"},
        ),
    )
    memory.suspend(conversation, {"messages": ["COILCLAW-PLANTED-22"]})
    pending = memory.pending(conversation)
    assert pending == {"messages": ["[secret X]"]}
    memory.settle(conversation, pending)
    database.shrink(always=True)
    assert shown[0].content == memory.show(conversation).title == "it is [secret X]"
    assert b"COILCLAW-PLANTED-22" not in database.path.read_bytes()
    assert memory.search("COILCLAW-PLANTED-22") == ()


@pytest.mark.req("R389")
def test_clearing_removes_every_trace_of_a_conversation_and_no_receipt(
    memory: Memory, log: ReceiptLog, database: Database
) -> None:
    log.append(Draft("x", "allowed", now(), "run-1"))
    conversations = [memory.begin("cli") for _ in range(3)]
    for conversation in conversations:
        memory.append(conversation, *(TurnDraft(role="user", content=f"Aardvark {'filler ' * 900}") for _ in range(5)))
    memory.suspend(conversations[0], {"x": "Aardvark"})
    cleared = memory.clear()
    assert (cleared.conversations, cleared.turns) == (3, 15)
    files = [database.path, database.path.with_name(database.path.name + "-wal")]
    assert [name for name in files if b"ardvark" in name.read_bytes()] == []
    assert (list(memory.list()), memory.search("aardvark"), log.verify().ok) == ([], (), True)
    with pytest.raises(NoSuchConversation):
        memory.append(conversations[0], SAID)
    again = memory.begin("cli")
    memory.append(again, SAID)
    assert [hit.conversation_id for hit in memory.search("aardvark")] == [again]


APPEND = """
import sys
from collections.abc import Callable
from pathlib import Path
from coilclaw.memory import Memory, TurnDraft
from coilclaw.runs import MIGRATIONS
from coilclaw.store import Database
with Database(Path(sys.argv[1]), MIGRATIONS) as database:
    for number in range(15):
        Memory(database).append(sys.argv[2], *(TurnDraft(role="user", content=f"aardvark {number}") for _ in range(2)))
"""


def test_turns_of_several_processes_are_numbered_without_gaps(memory: Memory, database: Database) -> None:
    from subprocess import Popen

    conversation = memory.begin("cli")
    line = [sys.executable, "-c", APPEND, str(database.path), conversation]
    writers = [Popen(line) for _ in range(3)]
    assert [each.wait() for each in writers] == [0, 0, 0]
    turns = memory.turns(conversation, limit=1000).turns
    assert [turn.number for turn in turns] == list(range(1, 91))
    assert [a.content for a in turns[::2]] == [b.content for b in turns[1::2]], "what is added together stays together"


KILL = """
import os, signal, sys
from pathlib import Path
from coilclaw.memory import Memory, TurnDraft
from coilclaw.runs import MIGRATIONS
from coilclaw.store import Database

place, conversation = Path(sys.argv[1]), sys.argv[2]

def child(deaths):
    with Database(place, MIGRATIONS) as database:
        left = [deaths]
        def trace(cursor, sql, bindings):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return True
        database._writer.exec_trace = trace
        drafts = [TurnDraft(role="user", content="aardvark"), TurnDraft(role="assistant", content="aardvark")]
        Memory(database).suspend(conversation, {"deaths": deaths}, *drafts)
    os._exit(0)

for deaths in range(100):
    pid = os.fork()
    if not pid:
        child(deaths)
    _, status = os.waitpid(pid, 0)
    with Database(place, MIGRATIONS) as database:
        memory = Memory(database)
        found = (memory.show(conversation).turns, len(memory.turns(conversation)), len(memory.search("aardvark")))
        pending = memory.pending(conversation)
    killed = os.WIFSIGNALED(status)
    assert found == ((0, 0, 0) if killed else (2, 2, 2)), (deaths, found)
    assert pending == (None if killed else {"deaths": deaths}), (deaths, pending)
    if not killed:
        print(deaths)
        break
"""


def test_a_process_that_is_killed_at_any_statement_leaves_all_or_nothing(memory: Memory, database: Database) -> None:
    conversation = memory.begin("cli")
    done = run([sys.executable, "-c", KILL, str(database.path), conversation], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 8, "it was killed before each of so many statements"


def test_an_older_database_gets_the_tables(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    Database(path, [each for each in MIGRATIONS if each.name != "conversations"]).close()
    with Database(path, MIGRATIONS) as database:
        assert Memory(database).list().conversations == []


def test_reading_uses_an_index_each_time(memory: Memory, database: Database) -> None:
    plans: list[str] = []
    read = database.read

    def noted(sql: str, parameters: object = ()) -> list[tuple[object, ...]]:
        plans.extend(str(row[-1]) for row in read(f"EXPLAIN QUERY PLAN {sql}", parameters))  # type: ignore[arg-type]
        return read(sql, parameters)  # type: ignore[arg-type]

    conversation = memory.begin("cli")
    memory.append(conversation, SAID, TurnDraft(role="assistant", content="Yes."))
    database.read = noted  # type: ignore[method-assign]
    memory.recent(conversation, 100)
    memory.turns(conversation)
    memory.search("aardvark adapter")
    cursor = memory.list(limit=1).cursor
    memory.list(limit=1, cursor=cursor)
    assert len(plans) >= 8
    assert [plan for plan in plans if "SCAN" in plan and "INDEX" not in plan] == []
    assert [plan for plan in plans if "TEMP B-TREE" in plan] == []
