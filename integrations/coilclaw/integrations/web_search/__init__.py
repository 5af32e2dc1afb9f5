"""Searching the web through the server that the operator names: SearXNG, or one that answers like it.

    [integrations.web_search]
    url = "https://search.example.org/search"

If the server wants a key, it is the secret WEB_SEARCH_API_KEY, sent as a bearer token.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from coilclaw.sdk import ToolContext, ToolFailure, define_tool

__all__ = ["search"]

_KEY: Final = "WEB_SEARCH_API_KEY"
_LONGEST_URL: Final = 2000
_LONGEST_TITLE: Final = 300
_LONGEST_EXCERPT: Final = 1000


class Found(BaseModel, defer_build=True):
    title: str
    url: str
    excerpt: str


class Results(BaseModel, defer_build=True):
    results: list[Found]


@define_tool(
    id="web_search.search",
    risk="read",
    aliases=["web_search"],
    optional_secrets=[_KEY],
    examples=[{"query": "Landlock Linux"}],
    summary="Searched the web for {query}",
)
async def search(
    ctx: ToolContext,
    query: Annotated[str, Field(min_length=1, max_length=500)],
    max_results: Annotated[int, Field(ge=1, le=50)] = 10,
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$")] | None = None,
) -> Results:
    """Pages of the web that fit a query: title, address and an excerpt of each, which may say anything."""
    url = ctx.settings.get("url")
    if not url:
        raise ToolFailure(
            "there is no search server: web_search is not configured",
            code="not_configured",
            hint='a person sets url = "https://…/search" under [integrations.web_search] in config.toml',
        )
    parameters = {"q": query, "format": "json", **({"language": language} if language else {})}
    key = ctx.secrets.get(_KEY)
    headers = {"Accept": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    answer = await ctx.http.get(url, params=parameters, headers=headers)
    if not answer.is_success:
        raise _refused(answer.status_code)
    try:
        listed = answer.json()["results"]
        return Results(results=[_found(each) for each in listed if _is_result(each)][:max_results])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ToolFailure(
            "the search server's answer is not what SearXNG gives",
            code="bad_answer",
            hint="a person checks `url`, and that the server offers the format json",
        ) from None


def _is_result(each: Any) -> bool:
    url = each.get("url") if isinstance(each, dict) else None
    return isinstance(url, str) and url.startswith(("https://", "http://")) and len(url) <= _LONGEST_URL


def _found(each: dict[str, Any]) -> Found:
    return Found(
        title=_text(each.get("title"), _LONGEST_TITLE),
        url=_text(each["url"], _LONGEST_URL),
        excerpt=_text(each.get("content"), _LONGEST_EXCERPT),
    )


def _text(value: Any, longest: int) -> str:
    return value[:longest].encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _refused(status: int) -> ToolFailure:
    if status in (401, 403):
        hint = f"a person sets {_KEY}, or allows the format json on the server"
        return ToolFailure(f"the search server refuses the request ({status})", code="unauthorized", hint=hint)
    if status == 429:
        return ToolFailure("the search server allows no more requests for now", code="rate_limited")
    return ToolFailure(f"the search server answered with status {status}", code="search_failed", hint="try again later")
