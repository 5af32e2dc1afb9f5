"""Contacts, deals and notes of a small sales team."""

import datetime as dt
import decimal
import json
import uuid
from typing import Any, Literal

from pydantic import BaseModel, Field

from coilclaw.sdk import ToolContext, ToolFailure, define_tool

Stage = Literal["new", "talking", "offer", "won", "lost"]


class Contact(BaseModel):
    id: str
    name: str
    email: str | None
    company: str
    created_at: dt.datetime
    tags: list[str]


class ContactPage(BaseModel):
    items: list[Contact]
    next_cursor: str | None = Field(description="Pass it as `cursor` to get the next page; null on the last.")


class ContactChanges(BaseModel):
    email: str | None = None
    company: str | None = None
    tags: list[str] | None = None


class Deal(BaseModel):
    id: uuid.UUID
    contact_id: str
    title: str
    amount: decimal.Decimal
    stage: Stage
    closes_on: dt.date


class Note(BaseModel):
    contact_id: str
    text: str
    written_at: dt.datetime


_NAMES = ["Ana Lima", "Ben Otis", "Cleo Marsh", "Dai Nguyen", "Eva Stone", "Finn Berg", "Gita Rao", "Hugo Weiss"]
_NAMES += ["Ines Alba", "Jon Park", "Kira Novak", "Leo Hart"]
_COMPANIES = ["Acme", "Birch", "Corvid"]
CONTACTS = [
    Contact(
        id=f"c{number}",
        name=name,
        email=None if number % 5 == 4 else f"{name.split()[0].lower()}@{_COMPANIES[number % 3].lower()}.example",
        company=_COMPANIES[number % 3],
        created_at=dt.datetime(2026, 1 + number % 6, 3 + number, 9, 30, tzinfo=dt.UTC),
        tags=["vip"] * (number % 4 == 0) + ["newsletter"] * (number % 2 == 0),
    )
    for number, name in enumerate(_NAMES)
]
_STAGES: list[Stage] = ["new", "talking", "offer", "won", "lost"]
DEALS = [
    Deal(
        id=uuid.UUID(int=0x5EED << 96 | number),
        contact_id=f"c{number * 5 % 12}",
        title=f"{['Licence', 'Support', 'Training'][number % 3]} {2026 + number % 2}",
        amount=decimal.Decimal(["980.00", "1250.50", "15400.00", "310.25"][number % 4]) + number,
        stage=_STAGES[number % 5],
        closes_on=dt.date(2026, 11, 5) + dt.timedelta(days=9 * number),
    )
    for number in range(10)
]


def _leave(ctx: ToolContext, effect: str, **facts: Any) -> None:
    with (ctx.workspace / "effects.jsonl").open("a") as file:
        file.write(json.dumps([effect, facts], sort_keys=True) + "\n")


def _find(contact_id: str) -> Contact:
    for contact in CONTACTS:
        if contact.id == contact_id:
            return contact
    raise ToolFailure(f"there is no contact {contact_id!r}", code="not_found", hint="Take an id from crm.contacts.")


@define_tool(id="crm.contacts", risk="read", summary="Listed contacts")
def contacts(
    ctx: ToolContext, company: str | None = None, tag: str | None = None, cursor: str | None = None
) -> ContactPage:
    """Contacts, five to a page, oldest id first."""
    found = [c for c in CONTACTS if company in (None, c.company) and (tag is None or tag in c.tags)]
    start = int(cursor or 0)
    return ContactPage(items=found[start : start + 5], next_cursor=str(start + 5) if start + 5 < len(found) else None)


@define_tool(id="crm.contact", risk="read", summary="Read {id}")
def contact(ctx: ToolContext, id: str) -> Contact:
    """One contact. Fails with `not_found`."""
    return _find(id)


@define_tool(id="crm.deals", risk="read", summary="Listed deals")
def deals(
    ctx: ToolContext, stage: Stage | None = None, closing_before: dt.date | None = None, contact_id: str | None = None
) -> list[Deal]:
    """Deals, by the date on which they are expected to close."""
    return [
        deal
        for deal in DEALS
        if stage in (None, deal.stage)
        and (closing_before is None or deal.closes_on < closing_before)
        and contact_id in (None, deal.contact_id)
    ]


@define_tool(id="crm.update_contact", risk="write", summary="Changed {id}")
def update_contact(ctx: ToolContext, id: str, changes: ContactChanges) -> Contact:
    """Change a contact: only the fields that are given."""
    given = changes.model_dump(exclude_unset=True)
    changed = _find(id).model_copy(update=given)
    _leave(ctx, "crm.update_contact", id=id, **given)
    return changed


@define_tool(id="crm.add_note", risk="write", summary="Wrote a note on {contact_id}")
def add_note(ctx: ToolContext, contact_id: str, text: str = Field(min_length=1, max_length=200)) -> Note:
    """Write a note on a contact."""
    _find(contact_id)
    _leave(ctx, "crm.add_note", contact_id=contact_id, text=text)
    return Note(contact_id=contact_id, text=text, written_at=dt.datetime(2026, 11, 18, 8, tzinfo=dt.UTC))
