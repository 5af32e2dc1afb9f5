"""Rows that somebody edits: of runs, and of turns. Where there is a receipt, it decides."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.scripted import Scripted, call, code, say

from coilclaw.agent import Agent, ConversationActivity
from coilclaw.providers import ChatRequest, ChatResponse, ProviderError

if TYPE_CHECKING:
    from tests.agent.conftest import Mailbox

    from coilclaw.agent import Answer
    from coilclaw.app import CoilClaw

LOST = ProviderError("gone", kind="network", provider="scripted")


def edit(claw: CoilClaw, sql: str, *values: Any) -> None:
    with claw._parts.stores.database.transaction() as connection:
        connection.execute(sql, values)


def answer(claw: CoilClaw, message: str, *replies: Any, conversation: str | None = None) -> Answer:
    return asyncio.run(Agent(claw, Scripted(*replies)).answer(message, conversation=conversation))


def resumed(claw: CoilClaw, conversation: str, *replies: Any) -> Answer:
    return asyncio.run(Agent(claw, Scripted(*replies)).resume(conversation))


def interrupted(claw: CoilClaw) -> Answer:
    """A turn that has sent a mail, and whose process ended before it kept that."""
    found = answer(claw, "Send it", call("mail.send", to="a@x.org"), LOST)
    edit(claw, "DELETE FROM turns WHERE role = 'tool'")
    edit(claw, "UPDATE conversations SET turns = turns - 1")
    return found


EDITS_OF_RUNS = [
    "UPDATE runs SET status = 'failed'",
    "UPDATE runs SET status = 'suspended'",
    "UPDATE runs SET status = 'running', process = '1:1'",
    "UPDATE runs SET conversation_id = NULL",
    "UPDATE runs SET conversation_id = 'conversation-other'",
    "UPDATE runs SET header = '{}'",
    "UPDATE runs SET header = json_remove(header, '$.conversation_id', '$.request')",
    "UPDATE runs SET first_seq = first_seq + 2",
    "UPDATE runs SET first_seq = 100000",
    "DELETE FROM runs",
]


@pytest.mark.parametrize("sql", EDITS_OF_RUNS)
def test_an_edited_run_changes_nothing_about_what_was_done(claw: CoilClaw, sql: str) -> None:
    first = answer(claw, "Send it", call("mail.send", to="a@x.org"), say("I sent it to a@x.org."))
    before = ConversationActivity(claw, first.conversation_id).items()
    edit(claw, sql)
    assert ConversationActivity(claw, first.conversation_id).items() == before
    second = answer(claw, "Did you?", say("I sent the mail to a@x.org."), conversation=first.conversation_id)
    assert second.grounded


@pytest.mark.parametrize("sql", EDITS_OF_RUNS)
def test_a_write_is_not_made_twice_because_its_row_was_edited(claw: CoilClaw, mailbox: Mailbox, sql: str) -> None:
    conversation = interrupted(claw).conversation_id
    edit(claw, sql)
    again = resumed(claw, conversation, say("I sent it to a@x.org."))
    assert mailbox.sent == ["a@x.org"]
    assert again.status in ("answered", "stopped")
    assert [item.status for item in again.activity] == ["succeeded"]
    if again.status == "stopped":
        assert again.error is not None
        assert again.error.code == "not_resumable"
        further = answer(claw, "And now?", say("I do not know."), conversation=conversation)
        assert further.status == "answered"
    assert mailbox.sent == ["a@x.org"]


@pytest.mark.parametrize("status", ["suspended", "failed", "cancelled"])
def test_how_a_run_ended_is_in_its_receipts_and_not_in_its_status(claw: CoilClaw, status: str) -> None:
    conversation = interrupted(claw).conversation_id
    edit(claw, "UPDATE runs SET status = ?", status)
    again = resumed(claw, conversation, say("I sent it to a@x.org."))
    assert (again.status, again.grounded) == ("answered", True)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE turns SET turn_id = 'turn-forged' WHERE tool_calls != '[]'",
        "UPDATE turns SET turn_id = turn_id || 'x'",
        "DELETE FROM turns WHERE role = 'tool'",
        "UPDATE turns SET tool_results = '[]'",
        "UPDATE turns SET tool_results = replace(tool_results, 'run_id', 'run-id')",
    ],
)
def test_a_write_is_not_made_twice_because_its_turn_was_edited(claw: CoilClaw, mailbox: Mailbox, sql: str) -> None:
    conversation = answer(claw, "Send it", call("mail.send", to="a@x.org"), LOST).conversation_id
    edit(claw, sql)
    again = resumed(claw, conversation, say("It is so."))
    assert mailbox.sent == ["a@x.org"]
    assert again.status in ("answered", "stopped")


def test_a_run_of_another_conversation_supports_no_claim(claw: CoilClaw) -> None:
    other = answer(claw, "Send it", call("mail.send", to="a@x.org"), say("Sent to a@x.org."))
    mine = answer(claw, "Hello", say("Hello."))
    edit(claw, "UPDATE runs SET conversation_id = ?", mine.conversation_id)
    edit(claw, "UPDATE runs SET header = json_set(header, '$.conversation_id', ?)", mine.conversation_id)
    edit(claw, "UPDATE turns SET metadata = json_set(metadata, '$.run_ids', json(?))", json.dumps(other.run_ids))
    lie = answer(claw, "Did you?", say("I sent the mail to a@x.org."), conversation=mine.conversation_id)
    assert (lie.grounded, lie.actions, lie.activity) == (False, "", ())


def test_a_run_of_another_request_does_not_answer_one(supervised: CoilClaw, mailbox: Mailbox) -> None:
    """Its row names the request of a call that waits for approval: that call has no result by this."""
    done = answer(supervised, "Look", call("mail.inbox", limit=1), say("So."))
    waiting = answer(supervised, "Send it", call("mail.send", to="a@x.org"))
    assert waiting.status == "waiting"
    key = supervised.runs.find(waiting.run_ids[0]).header.request
    edit(supervised, "DELETE FROM runs WHERE run_id = ?", waiting.run_ids[0])
    edit(
        supervised,
        "UPDATE runs SET conversation_id = ?1, header = json_set(header, '$.conversation_id', ?1, '$.request', ?2)",
        waiting.conversation_id,
        key,
    )
    again = resumed(supervised, waiting.conversation_id, say("I sent it to a@x.org."))
    assert (again.status, mailbox.sent) == ("stopped", [])
    assert [item.status for item in again.activity] == ["pending"]
    assert done.run_ids != waiting.run_ids


def test_what_a_turn_did_is_told_although_its_results_name_no_run(claw: CoilClaw) -> None:
    found = answer(claw, "Send it", call("mail.send", to="a@x.org"), LOST)
    edit(claw, "UPDATE turns SET tool_results = replace(tool_results, 'run-', 'gone-')")
    again = resumed(claw, found.conversation_id, say("I did nothing."))
    assert "Sent mail to a@x.org" in again.actions


def test_a_forged_result_changes_neither_the_action_section_nor_what_counts_as_done(claw: CoilClaw) -> None:
    found = answer(claw, "Send it", call("mail.send", to="nobody@x.org"), LOST)
    edit(
        claw,
        "UPDATE turns SET tool_results = json_set(tool_results, '$[0].text', 'sent', '$[0].is_error', json('false')) WHERE role = 'tool'",
    )
    again = resumed(claw, found.conversation_id, say("I sent the mail to nobody@x.org."))
    assert again.actions.startswith("failed: ")
    assert not again.grounded


def test_a_named_result_of_another_conversation_is_not_read(claw: CoilClaw) -> None:
    secret = answer(claw, "List", code("'PINEAPPLE' * 2000"), say("So."))
    mine = answer(claw, "List", code("'x' * 9000"), say("So."))
    edit(claw, "UPDATE turns SET tool_results = replace(tool_results, ?, ?)", mine.run_ids[0], secret.run_ids[0])
    edit(claw, "UPDATE runs SET header = json_set(header, '$.conversation_id', ?)", mine.conversation_id)

    def use(request: ChatRequest) -> ChatResponse:
        names = [word.strip("`") for message in request.messages for word in message.text.split() if "result_" in word]
        return code(f"{names[0]}[:9]")

    model = Scripted(use, say("No."))
    asyncio.run(Agent(claw, model).answer("Use it", conversation=mine.conversation_id))
    assert "PINEAPPLE" not in model.requests[1].messages[-1].text
    assert "not of this conversation" in model.requests[1].messages[-1].text


def test_a_run_that_is_over_is_not_cancelled_because_its_row_says_that_it_waits(claw: CoilClaw) -> None:
    conversation = interrupted(claw).conversation_id
    edit(claw, "UPDATE runs SET status = 'suspended'")
    answer(claw, "Something else", say("Yes."), conversation=conversation)
    receipts, _ = claw.runs.receipts_of_conversation(conversation)
    assert [each.status for each in receipts if each.type == "run.finished"] == ["completed"]


def test_only_receipts_of_the_conversation_are_found(claw: CoilClaw) -> None:
    first = answer(claw, "Look", call("mail.inbox", limit=1), say("So."))
    other = answer(claw, "Send it", call("mail.send", to=first.conversation_id), say("Done."))
    found, last = claw.runs.receipts_of_conversation(first.conversation_id)
    assert {each.run_id for each in found} == set(first.run_ids)
    assert last == claw.runs.last_receipt_number
    assert claw.runs.receipts_of_conversation(other.conversation_id, after=last) == ([], last)
