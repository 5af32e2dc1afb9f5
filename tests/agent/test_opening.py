"""Agents with providers of the configuration."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.agent.conftest import Mailbox, Open

from coilclaw.agent import Answer, ExchangeEvent, ProviderChanged, open_agent
from coilclaw.app import CoilClaw


def fixture(folder: Path, name: str, *replies: dict[str, Any]) -> dict[str, str]:
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"replies": replies}))
    return {"kind": "mock", "fixture": str(path)}


def answer_of(claw: CoilClaw, events: list[ExchangeEvent] | None = None, **options: Any) -> Answer:
    async def main() -> Answer:
        async with open_agent(claw, **options) as agent:
            return await agent.answer("Send it", listen=(events if events is not None else []).append)

    return asyncio.run(main())


def test_a_scripted_model_acts_through_the_whole_path(opened: Open, mailbox: Mailbox, tmp_path: Path) -> None:
    script = fixture(
        tmp_path,
        "script",
        {"code": "tools.mail.send(to='a@x.org').unwrap()"},
        {"tool_calls": [{"name": "mail.send", "arguments": {"to": "b@x.org"}}]},
        {"text": "I have sent both mails."},
    )
    claw = opened(*mailbox.tools(), config={"security.autonomy": "full", "providers.models": {"local": script}})
    answer = answer_of(claw)
    assert (answer.status, mailbox.sent) == ("answered", ["a@x.org", "b@x.org"])
    assert (answer.provider, answer.text) == ("local", "I have sent both mails.")


def test_a_waiting_turn_is_resumed_with_the_same_script(opened: Open, mailbox: Mailbox, tmp_path: Path) -> None:
    """Another process opens the fixture anew, and goes on where the turn was."""
    script = fixture(tmp_path, "script", {"code": "tools.mail.send(to='a@x.org').unwrap()"}, {"text": "It is sent."})
    claw = opened(*mailbox.tools(), config={"providers.models": {"local": script}})
    waiting = answer_of(claw)
    claw.approvals.approve(waiting.approvals[0].id, by="ada")

    async def resumed() -> Answer:
        async with open_agent(claw) as agent:
            return await agent.resume(waiting.conversation_id)

    answer = asyncio.run(resumed())
    assert (answer.text, mailbox.sent) == ("It is sent.", ["a@x.org"])


@pytest.mark.req("R305")
def test_a_provider_that_falls_back_is_told_and_recorded(opened: Open, tmp_path: Path) -> None:
    models = {
        "first": fixture(tmp_path, "first", {"error": "rate_limit"}),
        "second": fixture(tmp_path, "second", {"text": "Hello from the second."}),
        "steady": {"kind": "reliable", "providers": ["first", "second"]},
    }
    claw = opened(config={"providers.models": models, "default_provider": "steady"})
    events: list[ExchangeEvent] = []
    answer = answer_of(claw, events)
    assert (answer.text, answer.provider) == ("Hello from the second.", "second")
    (changed,) = [event for event in events if isinstance(event, ProviderChanged)]
    assert (changed.before, changed.after) == ("first", "second")
    (receipt,) = [each for each in claw.receipts.latest(50) if each.type == "provider.fallback"]
    assert receipt.conversation_id == answer.conversation_id
    assert receipt.payload["to"] == "second"
