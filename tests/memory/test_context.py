"""What is loaded of a conversation fits into its budget, and begins where an exchange does."""

from __future__ import annotations

import pytest

from coilclaw.memory import Memory, TurnDraft
from coilclaw.memory.context import turn_tokens

USER, ANSWER = TurnDraft(role="user", content="What is it?"), TurnDraft(role="assistant", content="This.")


def exchange(number: int, size: int = 10) -> list[TurnDraft]:
    return [
        TurnDraft(role="user", content=f"question {number}"),
        TurnDraft(role="assistant", tool_calls=[{"id": "c", "name": "x"}]),
        TurnDraft(role="tool", tool_results=[{"id": "c", "text": "r" * size}]),
        TurnDraft(role="assistant", content=f"answer {number}"),
    ]


@pytest.mark.req("R173")
def test_the_latest_exchanges_that_fit_are_given_in_order(memory: Memory) -> None:
    conversation = memory.begin("cli")
    for number in range(60):
        memory.append(conversation, *exchange(number))
    turns = memory.recent(conversation, 400)
    assert sum(map(turn_tokens, turns)) <= 400
    assert [turn.number for turn in turns] == list(range(241 - len(turns), 241))
    assert (turns[0].role, turns[-1].content) == ("user", "answer 59")
    assert len(turns) % 4 == 0
    assert len(memory.recent(conversation, 100_000)) == 240


@pytest.mark.parametrize("letter", ["r", "é", "会", "🦔"])
def test_a_budget_holds_whatever_the_turns_are_made_of(memory: Memory, letter: str) -> None:
    conversation = memory.begin("cli")
    for size in (10, 100, 30_000):
        memory.append(conversation, TurnDraft(role="user", content=letter * size), *exchange(1, size), ANSWER)
    for budget in (0, 1, 30, 60, 100, 200, 500, 1000, 5000):
        turns = memory.recent(conversation, budget)
        assert sum(map(turn_tokens, turns)) <= budget
        assert not turns or turns[0].role == "user"
        assert turns or budget <= 60


def test_a_large_result_is_cut_instead_of_all_that_came_before(memory: Memory) -> None:
    conversation = memory.begin("cli")
    memory.append(conversation, *exchange(1), *exchange(2, 300_000))
    turns = memory.recent(conversation, 4000)
    assert [turn.number for turn in turns] == list(range(1, 9))
    assert "[cut: " in turns[6].tool_results[0]["text"]
    assert memory.turns(conversation).turns[6].tool_results[0]["text"] == "r" * 300_000


def test_of_an_exchange_that_does_not_fit_its_ends_are_given(memory: Memory) -> None:
    conversation = memory.begin("cli")
    middle = [each for number in range(20) for each in exchange(number, 2000)[1:3]]
    memory.append(conversation, USER, *middle, ANSWER)
    assert [turn.content for turn in memory.recent(conversation, 1000)] == ["What is it?", "This."]


def test_a_conversation_without_turns_has_no_context(memory: Memory) -> None:
    assert memory.recent(memory.begin("cli"), 1000) == ()
