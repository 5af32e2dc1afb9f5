"""GitHub's REST API: requests, pages, and what its refusals mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from coilclaw.sdk import ToolContext, ToolFailure

if TYPE_CHECKING:
    import httpx

__all__ = ["HOST", "TOKEN", "GitHub", "Item"]

HOST: Final = "api.github.com"
TOKEN: Final = "GITHUB_TOKEN"  # noqa: S105

_PAGE: Final = 100
_MOST_PAGES: Final = 5
_PART: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")


class Item:
    """One object of an answer. A field that is missing or of another type says so, instead of crashing."""

    def __init__(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise _strange()
        self._value = value

    def __contains__(self, name: str) -> bool:
        return name in self._value

    def text(self, name: str) -> str:
        return self.optional(name) or ""

    def optional(self, name: str) -> str | None:
        value = self._value.get(name)
        if value is None or isinstance(value, str):
            return value
        raise _strange()

    def number(self, name: str) -> int:
        value = self._value.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise _strange()

    def flag(self, name: str) -> bool:
        return self._value.get(name) is True

    def inner(self, name: str) -> Item:
        # Who deleted their account is null here.
        return Item(self._value.get(name) or {})

    def names(self, name: str) -> list[str]:
        values = self._value.get(name) or []
        if not isinstance(values, list):
            raise _strange()
        return [each if isinstance(each, str) else Item(each).text("name") for each in values]


class GitHub:
    """The API as one call sees it."""

    def __init__(self, ctx: ToolContext) -> None:
        self._ctx = ctx
        self._base = ctx.settings.get("url", f"https://{HOST}").rstrip("/")

    async def listed(
        self, owner: str, repo: str, what: str, query: Mapping[str, str], limit: int, without: str | None = None
    ) -> list[Item]:
        """At most `limit` items, from a few pages at most; those that have the field `without` are left out."""
        path = _path(owner, repo, what)
        size = _PAGE if without else min(limit, _PAGE)
        found: list[Item] = []
        for page in range(1, _MOST_PAGES + 1):
            self._ctx.raise_if_cancelled()
            parameters = {**query, "per_page": str(size), "page": str(page)}
            # A repository that was renamed redirects to where it is now, on the same server.
            answer = await self._ctx.http.get(
                self._base + path, params=parameters, headers=self._headers(), follow_redirects=True
            )
            items = self._judged(answer, f"{owner}/{repo}")
            if not isinstance(items, list):
                raise _strange()
            found += [item for item in map(Item, items) if without is None or without not in item]
            if len(found) >= limit or len(items) < size:
                break
        return found[:limit]

    async def created(self, owner: str, repo: str, what: str, sent: Mapping[str, Any]) -> Item:
        answer = await self._ctx.http.post(self._base + _path(owner, repo, what), json=sent, headers=self._headers())
        return Item(self._judged(answer, f"{owner}/{repo}"))

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        token = self._ctx.secrets.get(TOKEN)
        return {**headers, "Authorization": f"Bearer {token}"} if token else headers

    def _judged(self, answer: httpx.Response, repository: str) -> Any:
        if answer.is_success:
            try:
                return answer.json()
            except ValueError:
                raise _strange() from None
        raise self._refusal(answer, repository)

    def _refusal(self, answer: httpx.Response, repository: str) -> ToolFailure:
        status = answer.status_code
        if status == 429 or (status == 403 and answer.headers.get("x-ratelimit-remaining") == "0"):
            hint = f"try again {_when(answer.headers)}"
            if TOKEN not in self._ctx.secrets:
                hint += f"; with {TOKEN} there are more requests"
            return ToolFailure("GitHub allows no more requests for now", code="rate_limited", hint=hint)
        if status == 401:
            return ToolFailure(f"GitHub does not accept {TOKEN}", code="unauthorized", hint="a person sets another one")
        if status == 403:
            return ToolFailure(f"GitHub forbids this for {repository}: {_message(answer)}", code="forbidden")
        if status in (404, 410):
            return ToolFailure(
                f"GitHub has no {repository}, or does not show this part of it",
                code="not_found",
                hint=f"check owner and repo; a private repository needs {TOKEN} with access to it",
            )
        if status == 422:
            return ToolFailure(f"GitHub does not accept these arguments: {_message(answer)}", code="invalid_request")
        if answer.is_redirect:
            return ToolFailure(f"{repository} has moved", code="moved", hint="use its present owner and name")
        return ToolFailure(f"GitHub answered with status {status}", code="github_failed", hint="try again later")


def _path(owner: str, repo: str, what: str) -> str:
    for part in (owner, repo):
        if not _PART.fullmatch(part) or part.strip(".") == "":
            raise ToolFailure(f"{part[:100]!r} is not the name of an owner or a repository", code="invalid_request")
    return f"/repos/{owner}/{repo}/{what}"


def _when(headers: Mapping[str, str]) -> str:
    for name, is_moment in (("retry-after", False), ("x-ratelimit-reset", True)):
        value = headers.get(name, "")
        if value.isascii() and value.isdigit() and len(value) < 12:
            if not is_moment:
                return f"in {value} seconds"
            return f"after {datetime.fromtimestamp(int(value), UTC).isoformat(timespec='seconds')}"
    return "later"


def _message(answer: httpx.Response) -> str:
    try:
        value = answer.json()
    except ValueError:
        return "no reason given"
    message = value.get("message") if isinstance(value, dict) else None
    return message[:300] if isinstance(message, str) else "no reason given"


def _strange() -> ToolFailure:
    return ToolFailure("GitHub's answer is not what its API describes", code="bad_answer")
