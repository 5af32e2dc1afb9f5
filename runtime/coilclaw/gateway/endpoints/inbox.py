"""`GET /api/inbox`: everything that waits for a person, in one list, each item with its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.endpoints.registry import held_facts
from coilclaw.gateway.endpoints.shapes import ApprovalFacts
from coilclaw.gateway.principal import Scope

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw, RunRecord

__all__ = ["INBOX", "SOURCES", "InboxItem"]

_PAGE: Final = 500


class InboxItem(BaseModel):
    """Something that waits for a person. What else it has depends on its kind."""

    model_config = ConfigDict(extra="allow")

    kind: str
    """`approval`, `quarantine`, `unknown`; later versions have more."""
    id: str
    title: str
    since: str | None
    run_id: str | None


class Inbox(BaseModel):
    """Everything that waits for a person."""

    items: list[InboxItem]


def _approvals(claw: CoilClaw) -> Iterator[InboxItem]:
    for asked in claw.approvals.pending():
        facts: ApprovalFacts = ApprovalFacts.of(asked)
        more = facts.model_dump(exclude={"id", "run_id"})
        title = f"{asked.tool} needs approval"
        yield InboxItem(kind="approval", id=asked.id, title=title, since=facts.created_at, run_id=asked.run_id, **more)


def _quarantined(claw: CoilClaw) -> Iterator[InboxItem]:
    for held in claw.quarantine.held().values():
        facts: dict[str, Any] = held_facts(held).model_dump()
        yield InboxItem(
            kind="quarantine",
            id=held.entry.name,
            title=f"{held.entry.name} is quarantined",
            since=None,
            run_id=None,
            **facts,
        )


def _suspended(claw: CoilClaw) -> Iterator[RunRecord]:
    cursor: str | None = None
    while True:
        page = claw.runs.list(status="suspended", limit=_PAGE, cursor=cursor)
        yield from page.runs
        if (cursor := page.cursor) is None:
            return


def _unknown(claw: CoilClaw) -> Iterator[InboxItem]:
    # Most suspended runs wait for an approval, and are not looked into: thousands of them hide no other.
    waiting = {asked.run_id for asked in claw.approvals.pending()}
    for known in _suspended(claw):
        if known.run_id in waiting:
            continue  # Once that is decided, it comes to its calls of unknown outcome.
        # A decision counts for one call: the next one waits until the run comes to it.
        for each in claw.runs.show(known.run_id).unknown[:1]:
            yield InboxItem(
                kind="unknown",
                id=each.receipt_ref,
                title=f"nobody knows what {each.tool} did",
                since=each.started,
                run_id=known.run_id,
                **{"tool": each.tool, "receipt": each.receipt_ref},
            )


SOURCES: Final[tuple[Callable[[CoilClaw], Iterator[InboxItem]], ...]] = (_approvals, _quarantined, _unknown)
"""Where items come from, in the order of the list."""


async def _inbox(call: ApiCall[NoBody, NoQuery]) -> Inbox:
    def gathered(claw: CoilClaw) -> Inbox:
        return Inbox(items=[item for source in SOURCES for item in source(claw)])

    return await call.gateway.blocking(gathered, call.gateway.claw)


INBOX: Final = (
    Endpoint(
        method="GET",
        path="/api/inbox",
        handler=_inbox,
        summary="List everything that waits for a person",
        scope=Scope.READ,
        answer=Inbox,
    ),
)
