"""Credentials that a person pastes: they reach neither the model nor anything that is kept."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.scripted import Scripted, call, code, say
from tests.planted import leaks, planted_setup_token

from coilclaw.agent import Agent
from coilclaw.sdk import ToolContext, ToolFailure, define_tool
from coilclaw.sdk.credential_shapes import CREDENTIAL_MARK

if TYPE_CHECKING:
    from tests.agent.conftest import Mailbox, Open

    from coilclaw.app import CoilClaw

TOKEN = planted_setup_token("pasted")
IN_A_FILE = "sk-ant-api03-aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF"
"""What a call is given or gives is kept as it is."""


def kept_in(claw: CoilClaw) -> list[Path]:
    """Files of the home in which a planted secret is found."""
    claw._parts.stores.log.flush()
    return leaks(claw.settings.home)


@pytest.mark.req("R295", "R500")
def test_a_pasted_credential_reaches_neither_the_model_nor_what_is_kept(
    claw: CoilClaw, caplog: pytest.LogCaptureFixture
) -> None:
    model = Scripted(code("1 + 1"), say("I cannot see it."))
    with caplog.at_level(logging.WARNING):
        answer = asyncio.run(Agent(claw, model).answer(f"Use {TOKEN} for the service", data=f"token={TOKEN}"))
    said, data, *_ = claw.memory.turns(answer.conversation_id)
    assert said.content == f"Use {CREDENTIAL_MARK} for the service"
    assert data.content == f"token={CREDENTIAL_MARK}"
    assert claw.memory.show(answer.conversation_id).title.startswith("Use [redacted")
    assert TOKEN not in repr(model.requests)
    assert claw.memory.search("PLANTED") == ()
    assert kept_in(claw) == []
    assert "coilclaw secret set" in caplog.text
    assert TOKEN not in caplog.text


def test_a_message_without_a_credential_warns_of_nothing(claw: CoilClaw, caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(Agent(claw, Scripted(say("Yes."))).answer(f"What does {CREDENTIAL_MARK} mean?"))
    assert caplog.text == ""


@pytest.mark.parametrize(
    "reply",
    [
        call("mail.send", to="a@x.org", text=f"Authorization: Bearer {TOKEN}"),
        code(f"tools.mail.send(to='a@x.org', text='{TOKEN}')"),
        call("mail.send", **{"to": "a@x.org", TOKEN: "x"}),
        call("mail.send", to="a@x.org", text=f"The key: {CREDENTIAL_MARK}"),
    ],
)
def test_a_request_with_a_credential_or_its_mark_is_refused_and_nothing_is_altered(
    claw: CoilClaw, mailbox: Mailbox, reply: Any
) -> None:
    model = Scripted(reply, say("I could not send it."))
    answer = asyncio.run(Agent(claw, model).answer("Send it"))
    assert (mailbox.sent, answer.run_ids) == ([], ())
    assert "looks like a credential" in model.requests[1].messages[-1].text
    assert kept_in(claw) == []


def test_what_a_snippet_moves_from_tool_to_tool_is_not_changed(opened: Open) -> None:
    moved: list[str] = []

    @define_tool(id="vault.read", risk="read")
    def read(ctx: ToolContext) -> str:
        """A file."""
        return f"key = {IN_A_FILE}"

    @define_tool(id="vault.write", risk="write")
    def write(ctx: ToolContext, text: str) -> None:
        """Write a file."""
        moved.append(text)

    claw = opened(read, write, config={"security.autonomy": "full"})
    model = Scripted(code("text = tools.vault.read().value\ntools.vault.write(text=text)\ntext"), say("Copied."))
    answer = asyncio.run(Agent(claw, model).answer("Copy it"))
    assert moved == [f"key = {IN_A_FILE}"]
    assert IN_A_FILE not in repr(model.requests)
    assert IN_A_FILE not in repr(answer)
    assert IN_A_FILE not in repr(list(claw.memory.turns(answer.conversation_id)))
    assert all(IN_A_FILE not in repr(receipt) for receipt in claw.receipts.latest(100))


def test_what_a_tool_says_of_its_failure_has_no_credential(opened: Open) -> None:
    @define_tool(id="vault.open", risk="write", summary="Opened with {word}")
    def unlock(ctx: ToolContext, word: str, fails: bool) -> None:
        """Open it."""
        ctx.progress(f"with {IN_A_FILE}")
        if fails:
            raise ToolFailure(f"no such token: {IN_A_FILE}", code="no", hint=f"not {IN_A_FILE}")

    claw = opened(unlock, config={"security.autonomy": "full"})
    for fails in (True, False):
        report = claw.call("vault.open", {"word": IN_A_FILE, "fails": fails}).report
        assert IN_A_FILE not in repr(report.activity)
        assert IN_A_FILE not in repr(report.error)
    receipts = repr(claw.receipts.latest(100))
    assert IN_A_FILE not in receipts
    assert CREDENTIAL_MARK in receipts
