"""A mailbox."""

import datetime as dt
import json
from typing import Any, Literal

from pydantic import BaseModel, Field

from coilclaw.sdk import ToolContext, ToolFailure, define_tool

Folder = Literal["inbox", "archive", "sent", "spam"]


class MessageSummary(BaseModel):
    id: int
    sender: str = Field(alias="from")
    to: list[str]
    subject: str
    sent_at: dt.datetime
    unread: bool
    folder: Folder


class Attachment(BaseModel):
    name: str
    media_type: str
    content: bytes


class Message(MessageSummary):
    body: str
    attachments: list[Attachment]


class Sent(BaseModel):
    message_id: str
    accepted: list[str]


_PEOPLE = ["ana@acme.example", "ben@birch.example", "billing@host.example", "cleo@corvid.example"]
_SUBJECTS = ["Lunch on Friday?", "Re: offer", "Invoice 2026-10{0}", "Minutes of the meeting", "You have won!"]
_BODIES = [
    "Shall we meet at 12:30?\n\nAna",
    "Thanks, we will think it over. Could you come down to 12,000?",
    "Amount due: {0}42.50 EUR\nDue date: 2026-12-{0}1\n",
    "Present: Ana, Ben, Cleo\nTODO Ben: send the report\nTODO Cleo: book a room\n",
    "Click here http://prize.example/{0} at once!!!",
]
MESSAGES = [
    Message.model_validate(
        {
            "id": 100 + number,
            "from": _PEOPLE[number % 4] if number % 5 != 4 else "lucky@prize.example",
            "to": ["me@home.example"] + (["team@home.example"] if number % 3 == 0 else []),
            "subject": _SUBJECTS[number % 5].format(number),
            "sent_at": dt.datetime(2026, 11, 1 + number, 7 + number, 15, tzinfo=dt.UTC),
            "unread": number % 2 == 1,
            "folder": ["inbox", "inbox", "archive"][number % 3],
            "body": _BODIES[number % 5].format(number),
            "attachments": [
                {
                    "name": f"scan{number}.csv",
                    "media_type": "text/csv",
                    "content": f"item,euro\nhosting,{number}9.90\ndomain,12.00\n",
                }
            ]
            if number % 5 == 2
            else [],
        }
    )
    for number in range(13)
]


def _leave(ctx: ToolContext, effect: str, **facts: Any) -> None:
    with (ctx.workspace / "effects.jsonl").open("a") as file:
        file.write(json.dumps([effect, facts], sort_keys=True) + "\n")


@define_tool(id="mail.list", risk="read", summary="Listed mail")
def list_messages(
    ctx: ToolContext, folder: Folder = "inbox", unread: bool | None = None, after: dt.datetime | None = None
) -> list[MessageSummary]:
    """Messages of a folder, oldest first."""
    return [
        MessageSummary.model_validate(m.model_dump(by_alias=True))
        for m in MESSAGES
        if m.folder == folder and unread in (None, m.unread) and (after is None or m.sent_at > after)
    ]


@define_tool(id="mail.read", risk="read", summary="Read message {id}")
def read(ctx: ToolContext, id: int) -> Message:
    """One message with its body and attachments. Fails with `no_such_message`."""
    for message in MESSAGES:
        if message.id == id:
            return message
    raise ToolFailure(f"there is no message {id}", code="no_such_message")


@define_tool(id="mail.send", risk="write", summary="Sent {subject} to {to}")
def send(
    ctx: ToolContext,
    to: list[str],
    subject: str,
    body: str,
    reply_to: int | None = None,
    attachment: bytes | None = None,
) -> Sent:
    """Send a message. Fails with `bad_address` if one of the addresses has no @."""
    if bad := [address for address in to if "@" not in address]:
        raise ToolFailure(f"not an address: {bad[0]!r}", code="bad_address", hint="Write name@domain.")
    facts = {"to": to, "subject": subject, "body": body}
    if reply_to is not None:
        facts["reply_to"] = reply_to
    if attachment is not None:
        facts["attachment"] = attachment.decode()
    _leave(ctx, "mail.send", **facts)
    return Sent(message_id=f"<{len(body)}@home.example>", accepted=to)


@define_tool(id="mail.move", risk="write", summary="Moved {id} to {folder}")
def move(ctx: ToolContext, id: int, folder: Folder) -> None:
    """Move a message to another folder."""
    _leave(ctx, "mail.move", id=id, folder=folder)
