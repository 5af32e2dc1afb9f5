"""`http.get` and `http.post`: to the server that was named, and to no other."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World
from tests.integrations.conftest import Answer, Loopback, serving

from coilclaw.integrations.http import PostInput, get, post
from coilclaw.integrations.http.answers import Page
from coilclaw.net import GuardedNetwork
from coilclaw.policy import Autonomy, classify
from coilclaw.sdk import Bounds, Forbid, Risk, ToolContext, ToolFailure


@pytest.fixture
def other() -> Iterator[Loopback]:
    with serving() as running:
        running.answers["/"] = Answer(body=b"the other", headers={"Content-Type": "text/plain"})
        yield running


def here(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


def context(tmp_path: Path, *, domains: tuple[str, ...] = (), private: tuple[str, ...] = ("127.0.0.1",)) -> ToolContext:
    bounds = Bounds(http_domains=domains, http_private=private)
    network = partial(GuardedNetwork, resolve=here)
    return ToolContext(workspace=tmp_path, hosts=get.hosts, bounds=bounds, network=network)


def fetched(ctx: ToolContext, url: str, **arguments: Any) -> Page:
    return called(ctx, get.handler(ctx, url, **arguments))


def sent(ctx: ToolContext, url: str, **arguments: Any) -> Page:
    return called(ctx, post.handler(PostInput.model_validate({"url": url, **arguments}), ctx))


def called(ctx: ToolContext, coroutine: Any) -> Page:
    async def run() -> Page:
        try:
            page: Page = await coroutine
            return page
        finally:
            await ctx.aclose()

    return asyncio.run(run())


def judged(tool: Any, ctx: ToolContext, **arguments: Any) -> Risk | Forbid:
    return classify(tool, tool.input.model_validate(arguments), ctx)


# Risk ----------------------------------------------------------------------------------------------------


@pytest.mark.req("R348")
@pytest.mark.parametrize(
    ("url", "risk"),
    [
        ("https://example.com/", Risk.READ),
        ("http://EXAMPLE.com./x", Risk.READ),
        ("https://docs.example.com/", Risk.READ),
        ("https://example.com:443/", Risk.READ),
        ("https://example.com:8443/", Risk.WRITE),
        ("https://example.org/", Risk.WRITE),
        ("https://badexample.com/", Risk.WRITE),
        ("https://example.com.evil.org/", Risk.WRITE),
        ("https://evil.org/?u=example.com", Risk.WRITE),
        ("https://evil.org/#@example.com", Risk.WRITE),
        ("http://93.184.216.34/", Risk.WRITE),
        ("http://127.0.0.1:8080/", Risk.WRITE),
    ],
)
def test_only_reading_from_a_listed_domain_is_a_read(tmp_path: Path, url: str, risk: Risk) -> None:
    ctx = context(tmp_path, domains=("example.com",), private=("127.0.0.1:8080",))
    assert judged(get, ctx, url=url) is risk
    assert judged(post, ctx, url=url, json=1) is Risk.WRITE


def test_a_private_server_can_be_listed_for_reading(tmp_path: Path) -> None:
    ctx = context(tmp_path, domains=("127.0.0.1:8080",), private=("127.0.0.1:8080",))
    assert judged(get, ctx, url="http://127.0.0.1:8080/") is Risk.READ
    assert judged(post, ctx, url="http://127.0.0.1:8080/") is Risk.WRITE
    # A domain that may be read is not thereby one that may be private.
    assert isinstance(
        judged(get, context(tmp_path, domains=("127.0.0.1",), private=()), url="http://127.0.0.1/"), Forbid
    )


FORBIDDEN = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0/",
    "http://localhost/",
    "http://localhost./",
    "http://x.localhost/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://169.254.169.254/latest/meta-data/iam/",
    "http://10.0.0.1/",
    "http://192.168.0.1/",
    "http://[fe80::1]/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1\\@example.com/",
    "http://exa%6dple.com/",
    "http://１２７.0.0.1/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "javascript:1",
    "example.com",
    "//example.com/",
    "http://",
    "http://exa mple.com/",
    "http://example.com:70000/",
    "x",
]


@pytest.mark.parametrize("url", FORBIDDEN)
@pytest.mark.parametrize("tool", [get, post], ids=["get", "post"])
def test_what_is_not_public_is_forbidden_at_every_level(tmp_path: Path, tool: Any, url: str) -> None:
    assert isinstance(judged(tool, context(tmp_path, domains=("*",), private=()), url=url), Forbid)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("example.org", "'example.org' is not a full address; write https://example.org"),
        ("http://127.0.0.1:1/", 'http_private = ["127.0.0.1:1"]'),
    ],
)
def test_a_refusal_says_what_to_write_or_to_set(tmp_path: Path, url: str, told: str) -> None:
    opinion = judged(get, context(tmp_path, private=()), url=url)
    assert isinstance(opinion, Forbid)
    assert told in opinion.reason


@pytest.mark.parametrize("url", FORBIDDEN)
def test_the_handler_refuses_what_is_forbidden_too(tmp_path: Path, url: str) -> None:
    with pytest.raises(ToolFailure):
        fetched(context(tmp_path, private=()), url)
    with pytest.raises(ToolFailure):
        sent(context(tmp_path, private=()), url)


REFUSED_HEADERS = [
    {"Host": "internal"},
    {"Transfer-Encoding": "chunked"},
    {"Content-Length": "5"},
    {"Connection": "keep-alive, X-Secret"},
    {"Upgrade": "h2c"},
    {"Proxy-Authorization": "x"},
    {"TE": "trailers"},
    {"Expect": "100-continue"},
    {"Accept-Encoding": "br"},
    {"X-HTTP-Method-Override": "DELETE"},
    {"x-method-override": "DELETE"},
    {"X-Forwarded-Host": "internal"},
    {"X-Original-URL": "/admin"},
    {"Bad Name": "x"},
    {"": "x"},
    {"X\r\nHost": "x"},
    {"X": "a\r\nHost: internal"},
    {"X": "a\0"},
    {"X": "ü"},
    {"X": "a" * 9000},
    {"X-A": "1", "x-a": "2"},
]


@pytest.mark.parametrize("headers", REFUSED_HEADERS, ids=lambda headers: ascii(next(iter(headers.items()))[:2])[:40])
def test_headers_that_change_the_request_are_refused(server: Loopback, tmp_path: Path, headers: dict[str, str]) -> None:
    assert isinstance(judged(get, context(tmp_path), url=server.url, headers=headers), Forbid)
    with pytest.raises(ToolFailure) as caught:
        fetched(context(tmp_path), server.url, headers=headers)
    assert caught.value.code == "bad_request"
    with pytest.raises(ToolFailure):
        sent(context(tmp_path), server.url, headers=headers)
    assert server.seen == []


# Requests ------------------------------------------------------------------------------------------------


@pytest.mark.req("R337")
def test_a_page_is_fetched(server: Loopback, tmp_path: Path) -> None:
    server.answers["/page"] = Answer(
        body="hällo".encode(), headers={"Content-Type": "text/html; charset=utf-8", "X-A": "b"}
    )
    page = fetched(context(tmp_path), f"{server.url}/page?q=1", headers={"Authorization": "Bearer t", "X-Own": " v "})
    assert (page.status, page.text, page.truncated) == (200, "hällo", False)
    assert page.content_type == "text/html; charset=utf-8"
    assert page.headers["x-a"] == "b"
    assert page.url == f"{server.url}/page?q=1"
    seen = server.seen[0]
    assert (seen.method, seen.path) == ("GET", "/page?q=1")
    assert (seen.headers["authorization"], seen.headers["x-own"]) == ("Bearer t", "v")


def test_an_error_of_the_server_is_an_answer(server: Loopback, tmp_path: Path) -> None:
    assert fetched(context(tmp_path), f"{server.url}/missing").status == 404


@pytest.mark.req("R338")
@pytest.mark.parametrize(
    ("arguments", "body", "content_type"),
    [
        ({"json": {"a": [1, None]}}, b'{"a":[1,null]}', "application/json"),
        ({"json": None}, b"null", "application/json"),
        ({"text": "häl"}, "häl".encode(), "text/plain; charset=utf-8"),
        (
            {"text": "a=b", "headers": {"Content-Type": "application/x-www-form-urlencoded"}},
            b"a=b",
            "application/x-www-form-urlencoded",
        ),
        ({}, b"", None),
    ],
)
def test_data_is_posted(
    server: Loopback, tmp_path: Path, arguments: dict[str, Any], body: bytes, content_type: str | None
) -> None:
    server.answers["/items"] = Answer(201, b"made")
    assert sent(context(tmp_path), f"{server.url}/items", **arguments).status == 201
    assert (server.seen[0].method, server.seen[0].body) == ("POST", body)
    assert server.seen[0].headers.get("content-type") == content_type


@pytest.mark.parametrize(("status", "reported"), [(200, None), (404, "status 404"), (503, "status 503")])
def test_an_answer_with_an_error_is_reported_as_a_failure(
    server: Loopback, tmp_path: Path, status: int, reported: str | None
) -> None:
    server.answers["/"] = Answer(status=status, body=b"x")
    ctx = context(tmp_path)
    assert sent(ctx, f"{server.url}/", text="x").status == status
    assert ctx.reported_failure == reported


def test_a_post_has_one_body(server: Loopback, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="either"):
        sent(context(tmp_path), server.url, json=1, text="x")
    assert server.seen == []


# Redirects -----------------------------------------------------------------------------------------------


def redirect(target: str, status: int = 302) -> Answer:
    return Answer(status, headers={"Location": target})


def test_a_redirect_on_the_same_server_is_followed(server: Loopback, tmp_path: Path) -> None:
    server.answers |= {"/a": redirect("/b"), "/b": redirect(f"{server.url}/c", 308), "/c": Answer(body=b"end")}
    page = fetched(context(tmp_path), f"{server.url}/a", headers={"X-Key": "k"})
    assert (page.text, page.url) == ("end", f"{server.url}/c")
    assert [seen.headers["x-key"] for seen in server.seen] == ["k", "k", "k"]


@pytest.mark.parametrize("target", ["http://127.0.0.1:{port}/", "http://a.test:{port}/", "//a.test:{port}/"])
def test_a_redirect_to_another_server_is_refused_and_says_where(
    server: Loopback, other: Loopback, tmp_path: Path, target: str
) -> None:
    server.answers["/a"] = redirect(target.format(port=other.port))
    with pytest.raises(ToolFailure) as caught:
        fetched(context(tmp_path, domains=(server.authority,)), f"{server.url}/a")
    assert caught.value.code == "redirect_refused"
    assert f":{other.port}/" in str(caught.value)
    assert other.seen == []


def test_a_redirect_to_a_listed_domain_is_followed_without_credentials(
    server: Loopback, other: Loopback, tmp_path: Path
) -> None:
    server.answers["/a"] = Answer(
        302, headers={"Location": f"http://www.b.test:{other.port}/", "Set-Cookie": "jar=s3cret; Path=/"}
    )
    headers = {
        "Authorization": "Bearer s3cret",
        "Cookie": "a=s3cret",
        "X-Api-Key": "s3cret",
        "Accept-Language": "de",
    }
    page = fetched(context(tmp_path, domains=(f"b.test:{other.port}",)), f"{server.url}/a", headers=headers)
    assert page.text == "the other"
    assert "s3cret" not in str(other.seen[0].headers)
    assert other.seen[0].headers["accept-language"] == "de"


def test_a_server_sets_no_cookies_on_the_way(server: Loopback, tmp_path: Path) -> None:
    server.answers |= {"/a": Answer(302, headers={"Location": "/b", "Set-Cookie": "c=1"}), "/b": Answer()}
    fetched(context(tmp_path), f"{server.url}/a")
    assert "cookie" not in server.seen[1].headers


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/",
        "http://localhost/",
        "http://[::1]/",
        "http://0x7f.2/",
        "http://u:p@10.0.0.1/",
        "file:///etc/passwd",
        "http://[",
        "http://exa%6dple.com/",
        "javascript:alert(1)",
    ],
)
def test_a_redirect_to_what_is_forbidden_is_refused(server: Loopback, tmp_path: Path, target: str) -> None:
    server.answers["/a"] = redirect(target)
    with pytest.raises(ToolFailure) as caught:
        fetched(context(tmp_path, domains=("*",), private=(server.authority,)), f"{server.url}/a")
    assert caught.value.code in ("address_refused", "bad_url")


def test_a_name_that_leads_inside_is_refused_whatever_is_listed(server: Loopback, tmp_path: Path) -> None:
    with pytest.raises(ToolFailure) as caught:
        fetched(context(tmp_path, domains=("*",), private=()), f"http://a.test:{server.port}/")
    assert caught.value.code == "address_refused"
    assert server.seen == []


def test_a_circle_of_redirects_ends(server: Loopback, tmp_path: Path) -> None:
    server.answers["/a"] = redirect("/a")
    with pytest.raises(ToolFailure) as caught:
        fetched(context(tmp_path), f"{server.url}/a")
    assert caught.value.code == "redirect_refused"
    assert len(server.seen) == 6


def test_a_post_is_sent_once(server: Loopback, tmp_path: Path) -> None:
    server.answers["/a"] = redirect("/b", 307)
    page = sent(context(tmp_path), f"{server.url}/a", json={"k": 1})
    assert (page.status, page.headers["location"]) == (307, "/b")
    assert len(server.seen) == 1


# Answers -------------------------------------------------------------------------------------------------


@pytest.mark.req("R412")
def test_a_long_answer_is_cut_below_a_megabyte_unless_more_is_asked_for(server: Loopback, tmp_path: Path) -> None:
    server.answers["/"] = Answer(body=b"x" * 2_000_000)
    page = fetched(context(tmp_path), f"{server.url}/")
    assert page.truncated
    assert len(page.text) == 524_288
    more = fetched(context(tmp_path), f"{server.url}/", max_bytes=2_000_000)
    assert (more.truncated, len(more.text)) == (False, 2_000_000)


def test_a_bomb_is_read_only_as_far_as_asked(server: Loopback, tmp_path: Path) -> None:
    bomb = gzip.compress(b"\n" * 60_000_000)
    server.answers["/"] = Answer(body=bomb, headers={"Content-Encoding": "gzip", "Content-Type": "text/plain"})
    page = fetched(context(tmp_path), f"{server.url}/", max_bytes=1000)
    assert (page.truncated, len(page.text)) == (True, 1000)


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("é".encode("latin-1"), "text/plain; charset=ISO-8859-1", "é"),
        ("日本".encode("shift_jis"), 'text/html; charset="Shift_JIS"', "日本"),
        ("é".encode(), "text/plain; charset=unknown-99", "é"),
        ("é".encode(), "text/plain; charset=idna", "é"),
        (b"a\\x41", "text/plain; charset=unicode_escape", "a\\x41"),
        (b"eJw=", "text/plain; charset=base64", "eJw="),
        ("é".encode(), "", "é"),
        (b"a\xffb", "text/plain", "a\ufffdb"),
        (b"a\xffb", "application/json", "a\ufffdb"),
        (b"\x89PNG\r\n\xff\0", "image/png", "[8 bytes of image/png, not text]"),
        (b"\xff\xfe\xfd", "", "[3 bytes of an unknown type, not text]"),
        (b"a\0b", "text/plain", "[3 bytes of text/plain, not text]"),
        (b"\xff\0", "text/plain", "[2 bytes of text/plain, not text]"),
        (b"PK\x03\x04", "application/zip", "PK\x03\x04"),
        (b"", "text/plain", ""),
    ],
)
def test_text_is_text_and_the_rest_is_named(
    server: Loopback, tmp_path: Path, body: bytes, content_type: str, text: str
) -> None:
    server.answers["/"] = Answer(body=body, headers={"Content-Type": content_type} if content_type else {})
    assert fetched(context(tmp_path), f"{server.url}/").text == text


def test_a_cut_in_the_middle_of_a_character_does_not_make_it_binary(server: Loopback, tmp_path: Path) -> None:
    server.answers["/"] = Answer(body="ääää".encode())
    page = fetched(context(tmp_path), f"{server.url}/", max_bytes=3)
    assert (page.text, page.truncated) == ("ä", True)


# In a run ------------------------------------------------------------------------------------------------


def test_a_snippet_reads_a_listed_server_and_asks_for_others(world: World, server: Loopback, other: Loopback) -> None:
    server.answers["/"] = Answer(body=b"hello")
    world.autonomy = Autonomy.SUPERVISED
    world.options["bounds"] = Bounds(http_domains=(server.authority,), http_private=("127.0.0.1",))
    source = f"""
page = tools.http(url="{server.url}/").unwrap()
others = [
    tools.http.get(url="{other.url}/").error.code,
    tools.http.post(url="{server.url}/", text="x").error.code,
    tools.http.get(url="http://169.254.169.254/").error.code,
    tools.http.get(url="{server.url}/", max_bytes="9").error.code,
]
[page["text"], page["status"], others]
"""
    report = world.run(source, get, post)
    text, status, codes = report.value
    assert (text, status) == ("hello", 200)
    assert len(codes) == 4
    assert codes[3] == "invalid_input"
    assert not any(code in ("tool_crashed", "bad_output") for code in codes)
    assert other.seen == []
    assert [seen.method for seen in server.seen] == ["GET"]
