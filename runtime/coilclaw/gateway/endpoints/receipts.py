"""`/api/receipts` and `/receipts`: the log, one receipt with its contents, its verification, and its export."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, Field
from starlette.responses import Response, StreamingResponse

from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.endpoints.shapes import Page, ReceiptFacts
from coilclaw.gateway.principal import Scope

if TYPE_CHECKING:
    from coilclaw.app import CoilClaw

__all__ = ["RECEIPTS"]

_EXPORTED_AT_ONCE: Final = 64 * 1024


class ReceiptFilter(Page):
    """Which receipts to list."""

    run: Annotated[str, Field(max_length=200)] | None = None
    type: Annotated[str, Field(max_length=200)] | None = None
    """A type, or with a dot at its end the beginning of several: `tool.call.`."""


class ReceiptList(BaseModel):
    """Receipts, the latest first."""

    receipts: list[ReceiptFacts]
    cursor: str | None
    """Of the next page; None behind the last one. A page may be short although there are more."""


class ReceiptDetails(ReceiptFacts):
    """A receipt, with what it stands for as far as that is kept."""

    arguments: Any = None
    result: Any = None
    kept: list[str]
    """Which of the two are kept."""


class VerificationFacts(BaseModel):
    """How far the log was verified, and when."""

    ok: bool | None
    """None until it was verified for the first time."""
    verified_to: int
    verified_at: str | None
    whole_at: str | None
    """When everything was verified, contents included; since then, what came after."""
    problem: str | None


async def _list(call: ApiCall[NoBody, ReceiptFilter]) -> ReceiptList:
    query = call.query
    found, cursor = await call.gateway.blocking(
        call.gateway.claw.receipts.page, limit=query.limit, cursor=query.cursor, run_id=query.run, type=query.type
    )
    return ReceiptList(receipts=[ReceiptFacts.of(each) for each in found], cursor=cursor)


async def _show(call: ApiCall[NoBody, NoQuery]) -> ReceiptDetails:
    def shown(claw: CoilClaw) -> ReceiptDetails:
        receipt = claw.receipts.find(call.path["receipt_id"])
        contents = claw.receipts.contents(receipt)
        details: ReceiptDetails = ReceiptDetails.of(receipt, **contents, kept=sorted(contents))
        return details

    return await call.gateway.blocking(shown, call.gateway.claw)


async def _verification(call: ApiCall[NoBody, NoQuery]) -> VerificationFacts:
    state = await call.gateway.blocking(call.gateway.claw.receipts.watch.state)
    return VerificationFacts(**{name: getattr(state, name) for name in VerificationFacts.model_fields})


async def _export(call: ApiCall[NoBody, NoQuery]) -> Response:
    return StreamingResponse(_gathered(call.gateway.claw.receipts.export()), media_type="application/jsonl")


def _gathered(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Larger pieces: each is sent by itself."""
    waiting = bytearray()
    for line in lines:
        waiting += line + b"\n"
        if len(waiting) >= _EXPORTED_AT_ONCE:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting)


def _listing(path: str) -> Endpoint:
    return Endpoint(
        method="GET",
        path=path,
        handler=_list,
        summary="List receipts, the latest first",
        scope=Scope.READ,
        query=ReceiptFilter,
        answer=ReceiptList,
    )


RECEIPTS: Final = (
    _listing("/receipts"),
    _listing("/api/receipts"),
    Endpoint(
        method="GET",
        path="/api/receipts/verification",
        handler=_verification,
        summary="Say how far the log was verified, and when",
        scope=Scope.READ,
        answer=VerificationFacts,
    ),
    Endpoint(
        method="GET",
        path="/api/receipts/export",
        handler=_export,
        summary="Export every receipt as a line of canonical JSON, oldest first",
        scope=Scope.READ,
        media_type="application/jsonl",
    ),
    Endpoint(
        method="GET",
        path="/api/receipts/{receipt_id}",
        handler=_show,
        summary="Show a receipt with its arguments and its result",
        scope=Scope.READ,
        answer=ReceiptDetails,
        statuses=(404,),
    ),
)
