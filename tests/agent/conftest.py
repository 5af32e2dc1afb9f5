"""Agents over temporary apps, with tools that note what they did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, TypeAlias

import pytest
from tests.conftest import cache_folder

from coilclaw.app import CoilClaw
from coilclaw.sdk import Tool, ToolContext, ToolFailure, define_tool

Open: TypeAlias = Callable[..., CoilClaw]


class Mailbox:
    """Mail that was sent, and tools to read and send it."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def tools(self) -> list[Tool]:
        @define_tool(id="mail.send", risk="write", summary="Sent mail to {to}", aliases=["send_mail"])
        def send(ctx: ToolContext, to: str, text: str = "") -> dict[str, str]:
            """Send a mail."""
            if to.startswith("nobody"):
                raise ToolFailure(f"there is no mailbox {to}", code="no_mailbox", hint="ask for the address")
            self.sent.append(to)
            return {"sent": to}

        @define_tool(id="mail.inbox", risk="read")
        def inbox(ctx: ToolContext, limit: int = 10) -> list[dict[str, Any]]:
            """The mails that came, newest first."""
            return [{"from": f"p{number}@x.org", "subject": "x" * 40} for number in range(limit)]

        return [send, inbox]


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens apps, which are closed after the test."""
    with ExitStack() as stack:

        def open_app(*tools: Tool, **options: Any) -> CoilClaw:
            return stack.enter_context(CoilClaw.temporary(tools=tools, cache=cache_folder(), pool=0, **options))

        yield open_app


@pytest.fixture
def claw(opened: Open, mailbox: Mailbox) -> CoilClaw:
    """An app with mail, in which writes are allowed."""
    return opened(*mailbox.tools(), config={"security.autonomy": "full"})


@pytest.fixture
def supervised(opened: Open, mailbox: Mailbox) -> CoilClaw:
    """An app with mail, in which writes need approval."""
    return opened(*mailbox.tools())
