"""GitHub: releases, issues and pull requests of one repository at a time."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from coilclaw.integrations.github.client import HOST, TOKEN, GitHub
from coilclaw.sdk import ToolContext, define_tool

__all__ = ["create_issue", "list_issues", "list_pulls", "list_releases"]

_Owner = Annotated[str, Field(pattern=r"^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})$")]
_Repo = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,100}$")]
_Limit = Annotated[int, Field(ge=1, le=300)]
_State = Literal["open", "closed", "all"]


class Release(BaseModel, defer_build=True):
    tag: str
    name: str
    published_at: str | None
    draft: bool
    prerelease: bool
    url: str
    notes: str


class Ticket(BaseModel, defer_build=True):
    """An issue."""

    number: int
    title: str
    state: str
    author: str
    labels: list[str]
    comments: int
    created_at: str
    updated_at: str
    url: str


class Pull(BaseModel, defer_build=True):
    """A pull request."""

    number: int
    title: str
    state: str
    draft: bool
    author: str
    head: str
    base: str
    created_at: str
    updated_at: str
    merged_at: str | None
    url: str


class Created(BaseModel, defer_build=True):
    number: int
    url: str


@define_tool(
    id="github.releases.list",
    risk="read",
    hosts=[HOST],
    optional_secrets=[TOKEN],
    summary="Listed the releases of {owner}/{repo}",
)
async def list_releases(ctx: ToolContext, owner: _Owner, repo: _Repo, limit: _Limit = 30) -> list[Release]:
    """The releases of a repository, the newest first."""
    found = await GitHub(ctx).listed(owner, repo, "releases", {}, limit)
    return [
        Release(
            tag=each.text("tag_name"),
            name=each.text("name"),
            published_at=each.optional("published_at"),
            draft=each.flag("draft"),
            prerelease=each.flag("prerelease"),
            url=each.text("html_url"),
            notes=each.text("body")[:4000],
        )
        for each in found
    ]


@define_tool(
    id="github.issues.list",
    risk="read",
    hosts=[HOST],
    optional_secrets=[TOKEN],
    summary="Listed the issues of {owner}/{repo}",
)
async def list_issues(
    ctx: ToolContext, owner: _Owner, repo: _Repo, state: _State = "open", limit: _Limit = 30
) -> list[Ticket]:
    """The issues of a repository, the newest first, without its pull requests."""
    # GitHub lists pull requests among the issues.
    found = await GitHub(ctx).listed(owner, repo, "issues", {"state": state}, limit, without="pull_request")
    return [
        Ticket(
            number=each.number("number"),
            title=each.text("title"),
            state=each.text("state"),
            author=each.inner("user").text("login"),
            labels=each.names("labels"),
            comments=each.number("comments"),
            created_at=each.text("created_at"),
            updated_at=each.text("updated_at"),
            url=each.text("html_url"),
        )
        for each in found
    ]


@define_tool(
    id="github.pulls.list",
    risk="read",
    hosts=[HOST],
    optional_secrets=[TOKEN],
    summary="Listed the pull requests of {owner}/{repo}",
)
async def list_pulls(
    ctx: ToolContext, owner: _Owner, repo: _Repo, state: _State = "open", limit: _Limit = 30
) -> list[Pull]:
    """The pull requests of a repository, the newest first."""
    found = await GitHub(ctx).listed(owner, repo, "pulls", {"state": state}, limit)
    return [
        Pull(
            number=each.number("number"),
            title=each.text("title"),
            state=each.text("state"),
            draft=each.flag("draft"),
            author=each.inner("user").text("login"),
            head=each.inner("head").text("label"),
            base=each.inner("base").text("ref"),
            created_at=each.text("created_at"),
            updated_at=each.text("updated_at"),
            merged_at=each.optional("merged_at"),
            url=each.text("html_url"),
        )
        for each in found
    ]


@define_tool(
    id="github.issues.create",
    risk="write",
    hosts=[HOST],
    secrets=[TOKEN],
    summary="Opened the issue {title!r} in {owner}/{repo}",
)
async def create_issue(
    ctx: ToolContext,
    owner: _Owner,
    repo: _Repo,
    title: Annotated[str, Field(min_length=1, max_length=256)],
    body: Annotated[str, Field(max_length=65_536)] = "",
    labels: Annotated[list[Annotated[str, Field(min_length=1, max_length=50)]], Field(max_length=20)] = [],  # noqa: B006
) -> Created:
    """Open an issue in a repository."""
    sent: dict[str, Any] = {"title": title, "body": body, "labels": labels}
    made = await GitHub(ctx).created(owner, repo, "issues", sent)
    return Created(number=made.number("number"), url=made.text("html_url"))
