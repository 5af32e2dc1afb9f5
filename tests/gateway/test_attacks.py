"""Attacks on the server, over real connections: each is refused."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict
from tests.conftest import cache_folder
from tests.gateway.conftest import Served, serving

from coilclaw.access import Access, Scope
from coilclaw.app import CoilClaw
from coilclaw.gateway import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.endpoints import ENDPOINTS


class Words(BaseModel):
    model_config = ConfigDict(extra="forbid")
    words: str = ""


REACHED: list[str] = []
"""Paths of requests that an endpoint has handled."""


async def _answer(call: ApiCall[Words, NoQuery]) -> dict[str, str]:
    REACHED.append(call.request.url.path)
    return {"by": call.sender.name}


async def _answer_run(call: ApiCall[Words, NoQuery]) -> dict[str, str]:
    return {"project": call.run_token.project_id}


async def _crash(call: ApiCall[NoBody, NoQuery]) -> dict[str, str]:
    raise ZeroDivisionError("the secret is hunter2")


TRIED = (
    *ENDPOINTS,
    Endpoint(method="GET", path="/api/read", handler=_answer, summary="", scope=Scope.READ),
    Endpoint(method="GET", path="/api/picture", handler=_answer, summary="", scope=Scope.READ, is_embedded=True),
    Endpoint(method="POST", path="/api/run", handler=_answer, summary="", scope=Scope.RUN, body=Words, body_bytes=1000),
    Endpoint(
        method="POST", path="/api/decide", handler=_answer, summary="", scope=Scope.OPERATOR, decides=True, body=Words
    ),
    Endpoint(method="GET", path="/api/crash", handler=_crash, summary="", scope=Scope.READ),
    Endpoint(
        method="POST",
        path="/api/tools/pages/create",
        handler=_answer_run,
        summary="",
        scope=None,
        tool_operation="pages:create",
        body=Words,
    ),
)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "ws").mkdir()
    with (
        CoilClaw.open(tmp_path / "home", workspace=tmp_path / "ws", cache=cache_folder(), pool=0) as claw,
        serving(claw, TRIED) as found,
    ):
        yield found


def code(answer: object) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]  # type: ignore[attr-defined]


def raw(served: Served, sent: bytes = b"") -> bytes:
    """Send bytes and read until the server closes the connection. A reset closes it too: the server had enough."""
    found = b""
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection, suppress(ConnectionError):
        connection.sendall(sent)
        while piece := connection.recv(65536):
            found += piece
    return found


# Hosts and origins --------------------------------------------------------------------------------------


@pytest.mark.req("R830")
@pytest.mark.parametrize("path", ["/health", "/api/read"])
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1", "127.0.0.1:{port}.evil", ""]
)
def test_a_rebound_name_is_refused(served: Served, host: str, path: str) -> None:
    answer = served.http.get(path, headers={"Host": host.format(port=served.port)})
    assert code(answer) == (421, "wrong_host")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_names_of_this_machine_are_its_own(served: Served, host: str) -> None:
    assert served.http.get("/api/read", headers={"Host": f"{host}:{served.port}"}).status_code == 200


@pytest.mark.req("R829", "R830")
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://127.0.0.1:{port}.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_a_page_of_another_origin_is_refused_even_with_a_token(served: Served, headers: dict[str, str]) -> None:
    sent = {name: value.format(port=served.port) for name, value in headers.items()}
    answer = served.http.post("/api/run", json={}, headers=sent)
    assert code(answer) == (403, "foreign_origin")
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_preflight_is_refused(served: Served) -> None:
    with served.client() as page:
        sent = {"Origin": "http://127.0.0.1:1", "Access-Control-Request-Method": "POST"}
        answer = page.request("OPTIONS", "/api/run", headers=sent)
    assert answer.status_code == 403


def test_a_link_to_an_open_page_may_be_followed_from_anywhere(served: Served) -> None:
    with served.client() as browser:
        sent = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        assert browser.get("/health", headers=sent).status_code == 200
        assert browser.get("/health", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403


# Tokens -------------------------------------------------------------------------------------------------


def test_each_scope_allows_what_it_says(served: Served) -> None:
    expected = {Scope.READ: [200, 403, 403], Scope.RUN: [200, 200, 403], Scope.OPERATOR: [200, 200, 200]}
    for scope, statuses in expected.items():
        with served.client_with(scope) as client:
            answers = [client.get("/api/read"), client.post("/api/run"), client.post("/api/decide")]
        assert [answer.status_code for answer in answers] == statuses


def test_wrong_expired_revoked_and_foreign_tokens_are_refused(served: Served, tmp_path: Path) -> None:
    tokens = served.claw.access.tokens
    revoked = tokens.create(Scope.OPERATOR)
    tokens.revoke(revoked.token.token_id)
    past = Access(served.claw._parts.stores.database, clock=lambda: 1000.0)
    expired = past.tokens.create(Scope.OPERATOR, seconds=60).text
    changed = served.token[:-1] + ("A" if served.token[-1] != "A" else "B")
    with CoilClaw.open(tmp_path / "other", workspace=tmp_path / "ws", cache=cache_folder(), pool=0) as other:
        foreign = other.access.tokens.create(Scope.OPERATOR).text
    for text in (revoked.text, expired, changed, foreign, "nonsense", "Bearer", served.token * 2):
        with served.client(text) as client:
            assert code(client.get("/api/read")) == (401, "unauthenticated"), text
    with served.client(Authorization=f"Basic {served.token}") as client:
        assert client.get("/api/read").status_code == 401
    with served.client() as client:
        assert client.get(f"/api/read?token={served.token}").status_code == 401


def test_a_token_counts_at_once_and_until_it_is_revoked(served: Served) -> None:
    made = served.claw.access.tokens.create(Scope.READ, name="ci")
    with served.client(made.text) as client:
        assert client.get("/api/read").json() == {"by": "token ci"}
        served.claw.access.tokens.revoke(made.token.token_id)
        assert client.get("/api/read").status_code == 401


def test_nothing_of_a_token_is_kept_in_the_database(served: Served, tmp_path: Path) -> None:
    secret = served.token.split("_", 2)[2].encode()
    code = served.claw.access.sessions.make_link("me").encode()
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert secret not in kept
    assert code not in kept


def test_loopback_is_never_locked_out(served: Served) -> None:
    with served.client("nonsense") as client:
        assert {client.get("/api/read").status_code for _ in range(100)} == {401}
    assert {served.http.get("/api/read").status_code for _ in range(500)} == {200}


def test_others_are_slowed_down_after_wrong_tokens(served: Served, tmp_path: Path) -> None:
    names = {"is_behind_proxy": True, "public_names": ("claw.example",)}
    with serving(served.claw, TRIED, **names) as proxied:
        sent = {"Host": "claw.example", "X-Forwarded-For": "127.0.0.1, 203.0.113.9"}
        with proxied.client("nonsense") as client:
            statuses = [client.get("/api/read", headers=sent).status_code for _ in range(12)]
            assert statuses[:10] == [401] * 10
            assert statuses[-1] == 429
        assert code(proxied.http.get("/api/read", headers=sent)) == (429, "too_many_requests")
        other = {**sent, "X-Forwarded-For": "203.0.113.10"}
        assert proxied.http.get("/api/read", headers=other).status_code == 200


# Sessions -----------------------------------------------------------------------------------------------


def begin(served: Served) -> tuple[dict[str, str], dict[str, str]]:
    """Open a session as a browser does; the headers that it sends by itself, and those that a page of ours adds."""
    with served.client() as browser:
        answer = browser.post("/api/session", json={"code": served.claw.access.sessions.make_link("me")})
    assert answer.status_code == 201
    cookie = answer.headers["set-cookie"]
    name, _, value = cookie.partition(";")[0].partition("=")
    assert name == f"coilclaw-session-{served.port}"
    lowered = cookie.lower()
    assert "httponly" in lowered
    assert "samesite=strict" in lowered
    assert value not in answer.text
    return {"Cookie": f"{name}={value}"}, {"X-CoilClaw-Secret": answer.json()["secret"]}


def test_a_session_needs_cookie_and_secret(served: Served) -> None:
    cookie, secret = begin(served)
    _, foreign = begin(served)
    with served.client() as browser:
        assert browser.get("/api/session", headers={**cookie, **secret}).json()["name"] == "session me"
        assert browser.post("/api/decide", headers={**cookie, **secret}).json() == {"by": "session me"}
        for method, path in (("POST", "/api/decide"), ("POST", "/api/run"), ("GET", "/api/read")):
            assert code(browser.request(method, path, headers=cookie)) == (403, "secret_missing")
            assert code(browser.request(method, path, headers={**cookie, **foreign})) == (403, "secret_missing")
            assert browser.request(method, path, headers=secret).status_code == 401
        assert browser.get("/api/picture", headers=cookie).status_code == 200


def test_a_page_on_another_port_with_our_cookie_is_refused(served: Served) -> None:
    cookie, secret = begin(served)
    with served.client() as browser:
        for headers in ({"Origin": "http://127.0.0.1:3000"}, {"Sec-Fetch-Site": "same-site"}):
            assert browser.get("/api/picture", headers={**cookie, **headers}).status_code == 403
            assert browser.post("/api/decide", headers={**cookie, **secret, **headers}).status_code == 403
        name = cookie["Cookie"].partition("=")[0]
        planted = {"Cookie": f"{cookie['Cookie']}; {name}=planted", **secret}
        assert browser.get("/api/read", headers=planted).status_code == 400


def test_a_link_works_once_and_soon(served: Served) -> None:
    link = served.claw.access.sessions.make_link("me")
    late = Access(served.claw._parts.stores.database, clock=lambda: 1000.0).sessions.make_link("me")
    with served.client() as browser:
        assert browser.post("/api/session", json={"code": link}).status_code == 201
        for wrong in (link, late, "nonsense", served.token):
            assert code(browser.post("/api/session", json={"code": wrong})) == (401, "code_not_valid")


def test_signing_out_ends_the_session(served: Served) -> None:
    cookie, secret = begin(served)
    with served.client() as browser:
        assert browser.delete("/api/session", headers=cookie).status_code == 403
        assert browser.delete("/api/session", headers={**cookie, **secret}).status_code == 200
        assert browser.get("/api/session", headers={**cookie, **secret}).status_code == 401


def test_a_wrong_token_is_not_made_good_by_a_cookie(served: Served) -> None:
    cookie, secret = begin(served)
    with served.client("nonsense") as browser:
        assert browser.get("/api/read", headers={**cookie, **secret}).status_code == 401


# Run tokens ---------------------------------------------------------------------------------------------


@pytest.mark.req("R623", "R624", "R826", "R827", "R828")
def test_a_run_token_is_good_for_its_own_operations_alone(served: Served) -> None:
    tokens = served.claw.access.run_tokens
    with served.client(tokens.mint("run-1", "project-1", ["pages:create"])) as run:
        shown = run.get("/api/tools/whoami").json()
        assert (shown["run_id"], shown["project_id"], shown["operations"]) == ("run-1", "project-1", ["pages:create"])
        assert run.post("/api/tools/pages/create", json={"words": "a"}).json() == {"project": "project-1"}
        for key in ("projectId", "project_id", "runId"):
            assert run.post("/api/tools/pages/create", json={key: "project-2"}).status_code == 400
            assert run.post(f"/api/tools/pages/create?{key}=project-2", json={}).status_code == 400
        for method, path in (
            ("POST", "/api/decide"),
            ("POST", "/api/run"),
            ("GET", "/api/read"),
            ("GET", "/api/session"),
        ):
            assert code(run.request(method, path)) == (403, "forbidden")
        tokens.revoke("run-1")
        assert run.get("/api/tools/whoami").status_code == 401
    with served.client(tokens.mint("run-2", "project-1", ["pages:list"])) as run:
        assert code(run.post("/api/tools/pages/create", json={})) == (403, "forbidden")
    assert code(served.http.get("/api/tools/whoami")) == (403, "needs_run_token")
    cookie, secret = begin(served)
    with served.client() as browser:
        assert browser.get("/api/tools/whoami", headers={**cookie, **secret}).status_code == 403


def test_an_endpoint_for_runs_cannot_let_a_request_choose_its_project() -> None:
    class Chosen(BaseModel):
        model_config = ConfigDict(extra="forbid")
        project_id: str

    class Loose(BaseModel):
        words: str = ""

    for model in (Chosen, Loose):
        with pytest.raises(ValueError, match="choose its run or project"):
            Endpoint(
                method="POST",
                path="/api/tools/x",
                handler=_answer,
                summary="",
                scope=None,
                tool_operation="x:y",
                body=model,
            )
    with pytest.raises(ValueError, match="tool_operation"):
        Endpoint(method="POST", path="/api/tools/x", handler=_answer, summary="", scope=Scope.RUN)
    with pytest.raises(ValueError, match="decides nothing"):
        Endpoint(
            method="POST",
            path="/api/tools/x",
            handler=_answer,
            summary="",
            scope=None,
            tool_operation="x:y",
            decides=True,
        )


# Paths, bodies and messages -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    ["/health/../api/read", "/health%2f..%2fapi/read", "/api/tools/../read", "/../../etc/passwd", "/%2e%2e/etc/passwd"],
)
def test_a_path_is_taken_as_it_is_written(served: Served, path: str) -> None:
    sent = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nConnection: close\r\n\r\n".encode()
    assert raw(served, sent).startswith(b"HTTP/1.1 401 ")


def test_a_request_is_never_redirected(served: Served) -> None:
    for path in ("/api/read/", "/api/read%2f", "/mcp/"):
        assert code(served.http.get(path)) == (404, "not_found")
    with served.client() as anybody:
        assert anybody.get("/health/").status_code == 401


def test_a_large_body_is_refused_by_its_length_and_by_its_bytes(served: Served) -> None:
    assert code(served.http.post("/api/run", json={"words": "x" * 2000})) == (413, "too_large")
    pieces = (piece for piece in [b'{"words": "', b"x" * 600, b"x" * 600, b'"}'])
    answer = served.http.post("/api/run", content=pieces, headers={"Content-Type": "application/json"})
    assert code(answer) == (413, "too_large")
    with served.client() as anybody:
        assert anybody.post("/api/session", json={"code": "x" * 5000}).status_code == 413


def head(served: Served, *more: str, path: str = "/api/run", method: str = "POST") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{served.port}", f"Authorization: Bearer {served.token}"]
    return "\r\n".join([*lines, "Content-Type: application/json", *more, "", ""]).encode()


def test_slow_bodies_and_heads_are_not_waited_for(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coilclaw.gateway.request_body._SECONDS", 0.2)
    found = raw(served, head(served, "Content-Length: 100") + b"{")
    assert found.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in found.lower()
    monkeypatch.setattr("coilclaw.gateway.connection._HEAD_SECONDS", 0.2)
    assert raw(served) == b""
    assert raw(served, b"GET /health HTTP/1.1\r\nHost: ") == b""


def test_a_refused_request_is_not_read_to_its_end(served: Served) -> None:
    sent = f"POST /api/run HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Length: 1000000\r\n\r\n".encode()
    assert raw(served, sent).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize(
    "more",
    [
        ("Content-Length: 2", "Content-Length: 3"),
        ("Content-Length: 2", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: gzip, chunked",),
        ("Content-Length: -1",),
        ("Content-Length: 2\r\nX : y",),
        ("Host: 127.0.0.1",),
        ("X: a\r\n b\x00c",),
        ("Authorization: Bearer nonsense",),
        tuple(f"X-{number}: {'y' * 1000}" for number in range(64)),
        tuple(f"X-{number}: y" for number in range(200)),
    ],
)
def test_ambiguous_or_malformed_heads_reach_no_endpoint(served: Served, more: tuple[str, ...]) -> None:
    smuggled = head(served, "Content-Length: 2", path="/api/decide") + b"{}"
    REACHED.clear()
    found = raw(served, head(served, *more, "Connection: close") + b"{}" + smuggled)
    assert REACHED == []
    assert not found or found.split(b" ")[1] in (b"400", b"431", b"501")


def test_a_second_request_behind_a_refused_one_is_not_answered(served: Served) -> None:
    sent = f"POST /api/run HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Length: 9\r\n\r\n{{}}".encode()
    REACHED.clear()
    found = raw(served, sent + head(served, "Content-Length: 2", path="/api/decide") + b"{}")
    assert found.count(b"HTTP/1.1") <= 1
    assert REACHED == []


def test_every_response_has_strict_headers_and_a_crash_says_nothing(served: Served) -> None:
    answers = [served.http.get(path) for path in ("/health", "/api/read", "/nothing", "/api/crash")]
    assert [answer.status_code for answer in answers] == [200, 200, 404, 500]
    assert "hunter2" not in answers[-1].text
    for answer in answers:
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in answer.headers


def test_refused_requests_leave_a_line_without_secrets(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    served.http.get("/api/read?x=queried", headers={"Host": "evil.example"})
    records = [record for record in caplog.records if record.message == "request.refused"]
    assert [record.event["code"] for record in records] == ["wrong_host"]  # type: ignore[attr-defined]
    assert served.token not in caplog.text + str([vars(record) for record in records])
    assert "queried" not in str([vars(record) for record in records])
