"""Web search against a server on loopback that answers as SearXNG does, or does not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.integrations.conftest import Answer, Loopback, answer_json

from coilclaw.integrations.web_search import search
from coilclaw.net import GuardedNetwork
from coilclaw.sdk import ToolContext, ToolFailure

FOUND = {"title": "Landlock", "url": "https://landlock.io/", "content": "Unprivileged access control", "engine": "x"}


def searched(server: Loopback | None, workspace: Path, key: str | None = None, **arguments: Any) -> Any:
    ctx = ToolContext(
        workspace=workspace,
        secrets={"WEB_SEARCH_API_KEY": key} if key else {},
        settings={"url": f"{server.url}/search"} if server else {},
        network=GuardedNetwork,
    )

    async def run() -> Any:
        try:
            return await search.handler(ctx, **{"query": "landlock", **arguments})
        finally:
            await ctx.aclose()

    return asyncio.run(run())


def failure(server: Loopback | None, workspace: Path, **arguments: Any) -> ToolFailure:
    with pytest.raises(ToolFailure) as found:
        searched(server, workspace, **arguments)
    return found.value


@pytest.mark.req("R340")
def test_results_of_the_configured_server_are_returned(server: Loopback, tmp_path: Path) -> None:
    server.answers["/search"] = answer_json({"results": [FOUND, FOUND, FOUND]})
    found = searched(server, tmp_path, key="COILCLAW-PLANTED-k-123", max_results=2, language="en-GB", query="a & b")
    assert [each.model_dump() for each in found.results] == [
        {"title": "Landlock", "url": "https://landlock.io/", "excerpt": "Unprivileged access control"}
    ] * 2
    (seen,) = server.seen
    address = urlsplit(seen.path)
    assert (seen.method, address.path) == ("GET", "/search")
    assert parse_qs(address.query) == {"q": ["a & b"], "format": ["json"], "language": ["en-GB"]}
    assert seen.headers["authorization"] == "Bearer COILCLAW-PLANTED-k-123"


@pytest.mark.req("R340")
def test_without_a_server_the_error_says_how_to_configure_one(tmp_path: Path) -> None:
    error = failure(None, tmp_path)
    assert (error.code, "[integrations.web_search]" in str(error.hint)) == ("not_configured", True)


@pytest.mark.parametrize(
    ("status", "code"), [(401, "unauthorized"), (403, "unauthorized"), (429, "rate_limited"), (500, "search_failed")]
)
def test_a_refusal_is_named(server: Loopback, tmp_path: Path, status: int, code: str) -> None:
    server.answers["/search"] = Answer(status=status)
    assert failure(server, tmp_path).code == code


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"results": 3}', b"[" * 10_000, b"\xff"])
def test_an_answer_that_is_not_a_search_result_is_refused(server: Loopback, tmp_path: Path, body: bytes) -> None:
    server.answers["/search"] = Answer(body=body)
    assert failure(server, tmp_path).code == "bad_answer"


def test_entries_that_are_no_web_pages_are_left_out_and_long_texts_cut(server: Loopback, tmp_path: Path) -> None:
    odd = [3, {}, {"url": 1}, {"url": "javascript:alert(1)"}, {"url": "https://a/" + "x" * 3000}]
    long = {"url": "https://b/", "title": ["x"], "content": "\ud800" + "y" * 5000}
    server.answers["/search"] = answer_json({"results": [*odd, long]})
    (found,) = searched(server, tmp_path).results
    assert (found.url, found.title, len(found.excerpt)) == ("https://b/", "", 1000)
    found.excerpt.encode()


def test_a_redirect_to_another_server_is_not_followed(server: Loopback, tmp_path: Path) -> None:
    server.answers["/search"] = Answer(status=302, headers={"Location": "http://127.0.0.1:1/"})
    assert failure(server, tmp_path, key="COILCLAW-PLANTED-k-123").code == "search_failed"
    assert len(server.seen) == 1
