"""HTTP requests to public servers: reading freely from the domains the operator lists, anything else with approval.

A request goes to the server that was named and to no other: a redirect is followed only to where the
call could have gone by itself, and credentials never follow it.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from coilclaw.integrations.http.answers import Page, page
from coilclaw.integrations.http.requests import checked_headers, judged, next_hop, plain_headers
from coilclaw.sdk import Forbid, Raised, Risk, ToolContext, ToolFailure, define_tool

__all__ = ["get", "post"]

_MOST_HOPS = 5

_Url = Annotated[str, Field(min_length=1, max_length=8192)]
_Headers = Annotated[dict[str, str], Field(max_length=50)]
_MostBytes = Annotated[int, Field(ge=1, le=1_048_576)]


def _reads(input: Any, ctx: ToolContext) -> Risk | Raised | Forbid:
    return judged(input.url, input.headers, ctx)


def _writes(input: Any, ctx: ToolContext) -> Risk | Forbid:
    opinion = judged(input.url, input.headers, ctx)
    return opinion if isinstance(opinion, Forbid) else Risk.WRITE


@define_tool(
    id="http.get",
    risk="read",
    hosts=["*"],
    aliases=["http"],
    classify=_reads,
    examples=[{"url": "https://example.com/"}],
    summary="Fetched {url}",
)
async def get(ctx: ToolContext, url: _Url, headers: _Headers = {}, max_bytes: _MostBytes = 524_288) -> Page:  # noqa: B006
    """What a URL gives: status, headers and text, cut after max_bytes.

    Reading from a domain that the operator lists in http_domains needs no approval. A redirect to
    another server is refused and says where it leads, unless that one is listed too.
    """
    first = ctx.destination(url)
    sent = checked_headers(headers)
    for _ in range(_MOST_HOPS + 1):
        async with ctx.http.stream("GET", url, headers=sent) as answer:
            # The next hop, and another call, get no cookies but the caller's own.
            ctx.http.cookies.clear()
            target = next_hop(answer)
            if target is None:
                return await page(answer, max_bytes)
        place = ctx.destination(target)
        if not place.is_place_of(first):
            if not place.within(ctx.bounds.http_domains):
                raise ToolFailure(
                    f"{url[:500]!r} redirects to {target[:500]!r}, which is another server",
                    code="redirect_refused",
                    hint="call that URL by itself if it is meant",
                )
            sent = plain_headers(sent)
        url = target
    raise ToolFailure(f"more than {_MOST_HOPS} redirects, the last one to {url[:500]!r}", code="redirect_refused")


class PostInput(BaseModel):
    """What to send: `json` or `text`, not both."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    url: _Url
    json_body: Annotated[JsonValue, Field(alias="json")] = None
    text: Annotated[str, Field(max_length=1_048_576)] | None = None
    headers: _Headers = {}
    max_bytes: _MostBytes = 524_288

    @model_validator(mode="after")
    def _has_one_body(self) -> Self:  # Before anybody is asked about the call.
        if "json_body" in self.model_fields_set and self.text is not None:
            raise PydanticCustomError("invalid_input", "give either json or text, not both")
        return self


async def _post(input: PostInput, ctx: ToolContext) -> Page:
    """Send JSON or text to a URL and give back the answer. Redirects are not followed: look at `location`."""
    ctx.destination(input.url)
    sent = checked_headers(input.headers)
    body = b""
    if "json_body" in input.model_fields_set:
        body = json.dumps(input.json_body, ensure_ascii=False, separators=(",", ":")).encode()
        sent.setdefault("content-type", "application/json")
    elif input.text is not None:
        body = input.text.encode()
        sent.setdefault("content-type", "text/plain; charset=utf-8")
    async with ctx.http.stream("POST", input.url, headers=sent, content=body) as answer:
        if answer.status_code >= 400:
            ctx.report_failure(f"status {answer.status_code}")
        return await page(answer, input.max_bytes)


post = define_tool(
    id="http.post",
    risk="write",
    hosts=["*"],
    input=PostInput,
    handler=_post,
    classify=_writes,
    summary="Sent data to {url}",
)
