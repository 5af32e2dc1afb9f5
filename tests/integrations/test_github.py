"""GitHub's tools against a server on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.conftest import World
from tests.integrations.conftest import Answer, Loopback, Seen, answer_json, serving

from coilclaw.integrations.github import create_issue, list_issues, list_pulls, list_releases
from coilclaw.net import GuardedNetwork
from coilclaw.policy import Autonomy
from coilclaw.sdk import Risk, Tool, ToolContext, ToolFailure

READS = [list_releases, list_issues, list_pulls]
USER = {"login": "ada"}
ISSUE = {
    "number": 1,
    "title": "broken",
    "state": "open",
    "user": USER,
    "labels": [{"name": "bug"}, "old"],
    "comments": 2,
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-02T00:00:00Z",
    "html_url": "https://github.com/o/r/issues/1",
}


def called(tool: Tool, server: Loopback, workspace: Path, token: str | None = None, **arguments: Any) -> Any:
    secrets = {"GITHUB_TOKEN": token} if token else {}
    ctx = ToolContext(
        workspace=workspace, hosts=tool.hosts, secrets=secrets, settings={"url": server.url}, network=GuardedNetwork
    )

    async def run() -> Any:
        try:
            return await tool.handler(ctx, **{"owner": "o", "repo": "r", **arguments})
        finally:
            await ctx.aclose()

    return asyncio.run(run())


@pytest.mark.req("R138")
def test_the_contracts_say_what_is_needed() -> None:
    assert [tool.id for tool in READS] == ["github.releases.list", "github.issues.list", "github.pulls.list"]
    for tool in READS:
        assert (tool.risk, tool.hosts, tool.secrets) == (Risk.READ, ("api.github.com",), ())
        assert tool.optional_secrets == ("GITHUB_TOKEN",)
    assert (create_issue.risk, create_issue.secrets) == (Risk.WRITE, ("GITHUB_TOKEN",))


def test_releases_are_listed(server: Loopback, tmp_path: Path) -> None:
    release = {
        "tag_name": "v1",
        "name": None,
        "published_at": None,
        "draft": True,
        "prerelease": False,
        "html_url": "u",
        "body": "b" * 9000,
    }
    server.answers["/repos/o/r/releases"] = answer_json([release])
    (found,) = called(list_releases, server, tmp_path, limit=5)
    assert (found.tag, found.name, found.published_at, found.draft) == ("v1", "", None, True)
    assert len(found.notes) == 4000
    assert server.seen[0].path == "/repos/o/r/releases?per_page=5&page=1"
    assert "authorization" not in server.seen[0].headers


def test_issues_are_listed_without_pull_requests(server: Loopback, tmp_path: Path) -> None:
    pull = {**ISSUE, "number": 2, "pull_request": {}}
    server.answers["/repos/o/r/issues"] = answer_json([ISSUE, pull, {**ISSUE, "number": 3, "user": None}])
    found = called(list_issues, server, tmp_path, token="COILCLAW-PLANTED-t0ken", state="all")
    assert [each.number for each in found] == [1, 3]
    assert (found[0].author, found[0].labels, found[1].author) == ("ada", ["bug", "old"], "")
    assert server.seen[0].headers["authorization"] == "Bearer COILCLAW-PLANTED-t0ken"
    assert "state=all" in server.seen[0].path


def test_pull_requests_are_listed(server: Loopback, tmp_path: Path) -> None:
    pull = {**ISSUE, "draft": False, "head": {"label": "ada:fix"}, "base": {"ref": "main"}, "merged_at": None}
    server.answers["/repos/o/r/pulls"] = answer_json([pull])
    (found,) = called(list_pulls, server, tmp_path)
    assert (found.head, found.base, found.merged_at) == ("ada:fix", "main", None)


def test_pages_are_turned_only_so_far(server: Loopback, tmp_path: Path) -> None:
    server.answers["/repos/o/r/issues"] = answer_json([{**ISSUE, "pull_request": {}}] * 100)
    assert called(list_issues, server, tmp_path, limit=300) == []
    assert [seen.path.rpartition("=")[2] for seen in server.seen] == ["1", "2", "3", "4", "5"]


def test_as_many_are_given_as_asked_for(server: Loopback, tmp_path: Path) -> None:
    def answer(seen: Seen) -> Answer:
        page = int(seen.path.rpartition("=")[2])
        return answer_json([{**ISSUE, "number": page * 1000 + number} for number in range(100)])

    server.answers["/repos/o/r/issues"] = answer
    found = called(list_issues, server, tmp_path, limit=150)
    assert len(found) == 150
    assert len(server.seen) == 2


def test_a_renamed_repository_is_found(server: Loopback, tmp_path: Path) -> None:
    server.answers["/repos/o/r/issues"] = Answer(301, headers={"Location": "/repositories/7/issues"})
    server.answers["/repositories/7/issues"] = answer_json([ISSUE])
    assert len(called(list_issues, server, tmp_path, token="COILCLAW-PLANTED-t0ken")) == 1


@pytest.fixture
def elsewhere() -> Iterator[Loopback]:
    with serving() as running:
        running.answers["/"] = answer_json([ISSUE])
        yield running


def test_the_token_goes_to_github_only(server: Loopback, elsewhere: Loopback, tmp_path: Path) -> None:
    server.answers["/repos/o/r/issues"] = Answer(301, headers={"Location": f"{elsewhere.url}/"})
    with pytest.raises(ToolFailure) as caught:
        called(list_issues, server, tmp_path, token="COILCLAW-PLANTED-t0ken")
    assert caught.value.code == "host_not_declared"
    assert elsewhere.seen == []


def test_an_issue_is_created(server: Loopback, tmp_path: Path) -> None:
    server.answers["/repos/o/r/issues"] = answer_json({"number": 9, "html_url": "https://github.com/o/r/issues/9"}, 201)
    made = called(create_issue, server, tmp_path, token="COILCLAW-PLANTED-t0ken", title="T", body="B", labels=["bug"])
    assert made.number == 9
    assert server.seen[0].json == {"title": "T", "body": "B", "labels": ["bug"]}
    assert server.seen[0].headers["authorization"] == "Bearer COILCLAW-PLANTED-t0ken"


def test_creating_is_not_redirected(server: Loopback, tmp_path: Path) -> None:
    server.answers["/repos/o/r/issues"] = Answer(307, headers={"Location": "/repos/x/y/issues"})
    with pytest.raises(ToolFailure) as caught:
        called(create_issue, server, tmp_path, token="COILCLAW-PLANTED-t0ken", title="T")
    assert caught.value.code == "moved"
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("answer", "code", "says"),
    [
        (answer_json({"message": "Bad credentials"}, 401), "unauthorized", "GITHUB_TOKEN"),
        (answer_json({}, 403, x_ratelimit_remaining="0", x_ratelimit_reset="1800000000"), "rate_limited", "2027-01-15"),
        (answer_json({}, 403, x_ratelimit_remaining="0", x_ratelimit_reset="9" * 40), "rate_limited", "later"),
        (answer_json({}, 429, retry_after="60"), "rate_limited", "in 60 seconds"),
        (answer_json({"message": "no write access"}, 403), "forbidden", "no write access"),
        (answer_json({"message": "Not Found"}, 404), "not_found", "o/r"),
        (answer_json({}, 410), "not_found", "o/r"),
        (answer_json({"message": "Validation Failed"}, 422), "invalid_request", "Validation Failed"),
        (answer_json([], 422), "invalid_request", "no reason"),
        (Answer(500, b"<html>"), "github_failed", "500"),
        (Answer(422, b"<html>"), "invalid_request", "no reason"),
        (Answer(200, b"<html>"), "bad_answer", "API"),
        (answer_json({"message": "x"}), "bad_answer", "API"),
        (answer_json([1]), "bad_answer", "API"),
        (answer_json([{**ISSUE, "number": "1"}]), "bad_answer", "API"),
        (answer_json([{**ISSUE, "number": True}]), "bad_answer", "API"),
        (answer_json([{**ISSUE, "title": 1}]), "bad_answer", "API"),
        (answer_json([{**ISSUE, "labels": 1}]), "bad_answer", "API"),
        (answer_json([{**ISSUE, "user": "x"}]), "bad_answer", "API"),
    ],
)
def test_a_refusal_is_explained(server: Loopback, tmp_path: Path, answer: Answer, code: str, says: str) -> None:
    server.answers["/repos/o/r/issues"] = answer
    with pytest.raises(ToolFailure) as caught:
        called(list_issues, server, tmp_path, token="COILCLAW-PLANTED-t0ken")
    assert caught.value.code == code
    assert says in f"{caught.value.message} {caught.value.hint}"
    assert "COILCLAW-PLANTED-t0ken" not in f"{caught.value.message} {caught.value.hint}"


NAMES = [
    "..",
    ".",
    "...",
    "a/b",
    "../x",
    "a%2fb",
    "a?b",
    "a#b",
    "a b",
    "",
    "ü",
    "a\nb",
    "a\n",
    "x" * 101,
    "a\\b",
    "a;b",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
@pytest.mark.parametrize("field", ["owner", "repo"])
@pytest.mark.parametrize("tool", [*READS, create_issue], ids=lambda tool: tool.id)
def test_a_name_cannot_lead_to_another_path(
    server: Loopback, tmp_path: Path, tool: Tool, field: str, name: str
) -> None:
    extra = {"title": "T"} if tool is create_issue else {}
    with pytest.raises(ToolFailure) as caught:
        called(tool, server, tmp_path, token="COILCLAW-PLANTED-t0ken", **{field: name}, **extra)
    assert caught.value.code == "invalid_request"
    assert server.seen == []
    if name.strip("."):
        with pytest.raises(ValidationError):
            tool.input.model_validate({"owner": "o", "repo": "r", field: name, **extra})


def test_a_run_without_the_token_cannot_write(world: World, server: Loopback) -> None:
    world.autonomy = Autonomy.FULL
    world.options["settings"] = lambda integration: {"url": server.url} if integration == "github" else {}
    server.answers["/repos/o/r/issues"] = answer_json([ISSUE])
    source = """
listed = tools.github.issues.list(owner="o", repo="r").unwrap()
made = tools.github.issues.create(owner="o", repo="r", title="T")
[listed[0]["title"], made.error.code]
"""
    report = world.run(source, *READS, create_issue)
    assert report.value == ["broken", "missing_secret"]
    assert [seen.method for seen in server.seen] == ["GET"]
