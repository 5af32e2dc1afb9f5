"""Attacks on a real server: what a foreign page, a stolen or outlived token and a crafted request get."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from tests.gateway.conftest import Served
from tests.gateway.raw_http import sent

from coilclaw.access import Scope

WRITE = "tools.files.write(path='n.txt', text='hi').unwrap()"


@pytest.fixture
def browser(served: Served) -> Iterator[httpx.Client]:
    """A browser with a session: its cookie, and the secret for `X-CoilClaw-Secret` in its headers."""
    code = served.claw.access.sessions.make_link("ada")
    with served.client() as client:
        begun = client.post("/api/session", json={"code": code})
        assert begun.status_code == 201
        client.headers["X-CoilClaw-Secret"] = begun.json()["secret"]
        yield client


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """The status and code of a refusal, which shows nothing of the server's insides."""
    assert "Traceback" not in answer.text
    assert ".py" not in answer.text
    return answer.status_code, answer.json()["error"]["code"]


def own_origin(served: Served) -> str:
    return f"http://127.0.0.1:{served.port}"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
    ids=str,
)
def test_a_foreign_page_starts_nothing_with_a_cookie_or_a_token(
    served: Served, browser: httpx.Client, headers: dict[str, str]
) -> None:
    for client in (browser, served.http):
        assert refusal(client.post("/api/runs", json={"code": "1"}, headers=headers)) == (403, "foreign_origin")
    assert list(served.claw.runs.list()) == []


def test_a_page_of_the_server_itself_is_served(served: Served, browser: httpx.Client) -> None:
    headers = {"Origin": own_origin(served), "Sec-Fetch-Site": "same-origin"}
    assert browser.get("/api/session", headers=headers).json()["name"] == "session ada"
    assert browser.post("/api/runs", json={"code": "1", "wait": True}, headers=headers).json()["value"] == 1


def test_an_origin_that_differs_in_anything_is_foreign(served: Served) -> None:
    own = own_origin(served)
    for near in (f"{own}/", f"{own}0", own.replace("http:", "https:"), f"{own}.evil.example", f"{own}, {own}"):
        assert refusal(served.http.get("/status", headers={"Origin": near})) == (403, "foreign_origin")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost", "127.0.0.1:1", "127.0.0.1:{port}.x", "x"]
)
def test_a_rebound_name_reaches_nothing(served: Served, browser: httpx.Client, host: str) -> None:
    headers = {"Host": host.format(port=served.port)}
    for client in (served.http, browser):
        for path in ("/status", "/health"):
            assert refusal(client.get(path, headers=headers)) == (421, "wrong_host")


@pytest.mark.parametrize("path", ["/status", "/api/runs", "/api/approvals", "/api/events", "/api/tools/whoami", "/mcp"])
def test_a_session_without_its_header_secret_reads_and_decides_nothing(
    served: Served, browser: httpx.Client, path: str
) -> None:
    secret = browser.headers.pop("X-CoilClaw-Secret")
    for wrong in ("", "x", secret[:-1] + ("A" if secret[-1] != "A" else "B"), served.token):
        assert refusal(browser.get(path, headers={"X-CoilClaw-Secret": wrong}))[0] == 403
    assert refusal(browser.get(path))[0] == 403


def test_a_secret_of_another_session_is_not_enough(served: Served, browser: httpx.Client) -> None:
    with served.client() as other:
        begun = other.post("/api/session", json={"code": served.claw.access.sessions.make_link("eve")}).json()
    answer = browser.get("/status", headers={"X-CoilClaw-Secret": begun["secret"]})
    assert refusal(answer) == (403, "secret_missing")


def test_a_session_that_signed_out_is_over(browser: httpx.Client) -> None:
    cookies = dict(browser.cookies)
    assert browser.delete("/api/session").status_code == 200
    browser.cookies.update(cookies)
    assert refusal(browser.get("/status")) == (401, "unauthenticated")


def test_the_cookie_is_kept_from_scripts_and_other_sites(served: Served) -> None:
    with served.client() as client:
        begun = client.post("/api/session", json={"code": served.claw.access.sessions.make_link("ada")})
    said = begun.headers["set-cookie"].lower()
    assert said.startswith(f"coilclaw-session-{served.port}=")
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip() for part in said.split(";")}
    assert "domain" not in said


def test_a_link_is_used_once(served: Served) -> None:
    code = served.claw.access.sessions.make_link("ada")
    with served.client() as client:
        assert client.post("/api/session", json={"code": code}).status_code == 201
        assert refusal(client.post("/api/session", json={"code": code})) == (401, "code_not_valid")
        foreign = client.post(
            "/api/session",
            json={"code": served.claw.access.sessions.make_link("ada")},
            headers={"Origin": "https://evil.example"},
        )
    assert refusal(foreign) == (403, "foreign_origin")


def test_wrong_and_outlived_tokens_are_refused(served: Served) -> None:
    tokens = served.claw.access.tokens
    revoked = tokens.create(Scope.OPERATOR)
    with served.client(revoked.text) as client:
        assert client.get("/status").status_code == 200
        tokens.revoke(revoked.token.token_id)
        assert refusal(client.get("/status")) == (401, "unauthenticated")
    wrong = served.token[:-1] + ("A" if served.token[-1] != "A" else "B")
    for text in (
        "nonsense",
        wrong,
        served.token.upper(),
        served.token * 2,
        served.claw.access.sessions.make_link("a"),
    ):
        with served.client(text) as client:
            assert refusal(client.get("/status"))[0] == 401
    for scheme in ("Basic", "Token", ""):
        with served.client(Authorization=f"{scheme} {served.token}".strip()) as client:
            assert refusal(client.get("/status"))[0] == 401


def test_a_wrong_token_is_not_made_good_by_a_session(browser: httpx.Client) -> None:
    assert refusal(browser.get("/status", headers={"Authorization": "Bearer x"})) == (401, "unauthenticated")


def test_a_token_in_the_address_counts_for_nothing(served: Served) -> None:
    with served.client() as client:
        for name in ("token", "access_token", "code"):
            assert refusal(client.get("/status", params={name: served.token}))[0] == 401


def test_a_tokens_scope_ends_where_it_says(served: Served) -> None:
    waiting = served.http.post("/api/runs", json={"code": WRITE, "wait": True}).json()
    assert waiting["status"] == "suspended"
    (asked,) = served.http.get("/api/approvals").json()["approvals"]
    place, yes = f"/api/approvals/{asked['id']}/decision", {"decision": "allow-once"}
    with served.client_with(Scope.READ) as reader, served.client_with(Scope.RUN) as runner:
        assert refusal(reader.post("/api/runs", json={"code": "1"})) == (403, "forbidden")
        for client in (reader, runner):
            assert refusal(client.post(place, json=yes)) == (403, "forbidden")
            assert refusal(client.post("/estop", json={})) == (403, "forbidden")
    assert served.http.get(f"/api/approvals/{asked['id']}").json()["status"] == "pending"


def test_the_token_of_a_run_approves_nothing_and_names_no_other_project(served: Served) -> None:
    own, other = (served.claw.spaces.create(name).id for name in ("Own", "Other"))
    waiting = served.http.post("/api/runs", json={"code": WRITE, "wait": True}).json()
    (asked,) = served.http.get("/api/approvals").json()["approvals"]
    text = served.claw.access.run_tokens.mint(waiting["run_id"], own, ["live-artifacts:create"])
    with served.client(text) as tool:
        yes = tool.post(f"/api/approvals/{asked['id']}/decision", json={"decision": "allow-once"})
        assert refusal(yes) == (403, "forbidden")
        for path in ("/status", "/api/approvals", "/api/runs", f"/api/projects/{own}/files", "/mcp"):
            assert refusal(tool.get(path)) == (403, "forbidden")
        assert tool.get("/api/tools/whoami").json()["project_id"] == own
        for chosen in ("project_id", "projectId", "run_id"):
            assert refusal(tool.get("/api/tools/whoami", params={chosen: other})) == (400, "invalid_request")
        headers = {"X-Project-Id": other, "X-CoilClaw-Project": other}
        assert tool.get("/api/tools/whoami", headers=headers).json()["project_id"] == own
        served.claw.access.run_tokens.revoke(waiting["run_id"])
        assert refusal(tool.get("/api/tools/whoami")) == (401, "unauthenticated")
    assert refusal(served.http.get("/api/tools/whoami")) == (403, "needs_run_token")
    assert served.http.get(f"/api/approvals/{asked['id']}").json()["status"] == "pending"


@pytest.mark.parametrize(
    "path",
    [
        "../../config.toml",
        "..%2f..%2fconfig.toml",
        "%2e%2e/%2e%2e/config.toml",
        "a/%2e%2e/%2e%2e/x",
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "..%5cx",
        "a%00b",
        ".git/config",
        ".live-artifacts/x",
    ],
)
def test_no_path_leads_out_of_a_project(served: Served, path: str) -> None:
    project = served.claw.spaces.create("Own").id
    bearer = f"Authorization: Bearer {served.token}\r\nHost: 127.0.0.1:{served.port}\r\n"
    place = f"/api/projects/{project}/files/{path}"
    for method, body in (("GET", ""), ("DELETE", ""), ("PUT", '{"content": "x"}')):
        head = f"{method} {place} HTTP/1.1\r\n{bearer}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        status, answer = sent(served, f"{head}Connection: close\r\n\r\n{body}".encode())
        assert 400 <= status < 500, answer
        assert b"Traceback" not in answer
    assert served.http.get(f"/api/projects/{project}/files").json()["files"] == []


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/static/../../etc/passwd", "/static/%2e%2e/%2e%2e/x", "/..%2fx"]
)
def test_no_path_leads_out_of_the_static_files(served: Served, path: str) -> None:
    status, answer = sent(
        served, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nConnection: close\r\n\r\n".encode()
    )
    assert (400 <= status < 500, b"root:" in answer) == (True, False)


def test_a_child_of_another_parent_is_not_there(served: Served) -> None:
    own, other = (served.claw.spaces.create(name).id for name in ("Own", "Other"))
    served.http.put(f"/api/projects/{other}/files/plan.md", json={"content": "secret plan"}).raise_for_status()
    assert refusal(served.http.get(f"/api/projects/{own}/files/plan.md")) == (404, "no_such_file")
    assert refusal(served.http.delete(f"/api/projects/{own}/files/plan.md"))[0] == 404
    assert "secret plan" in served.http.get(f"/api/projects/{other}/files/plan.md").text
    first, second = (served.http.get(f"/api/projects/{each}/conversation").json()["id"] for each in (own, other))
    message = served.http.post(f"/api/conversations/{second}/messages", json={"content": "hello"}).json()["id"]
    foreign = served.http.get(f"/api/conversations/{first}/stream", params={"messageId": message})
    assert refusal(foreign) == (404, "no_such_message")


@pytest.mark.parametrize("method", ["TRACE", "OPTIONS", "CONNECT", "PATCH", "PROPFIND"])
def test_other_methods_do_nothing_and_repeat_nothing(served: Served, method: str) -> None:
    answers = [served.http.request(method, "/api/runs"), served.http.request(method, "/health")]
    with served.client(Origin=own_origin(served)) as anybody:
        answers.append(anybody.request(method, "/health"))
    for answer in answers:
        assert refusal(answer)[0] in (400, 401, 404, 405)
        assert served.token not in answer.text
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_head_shows_as_little_as_get(served: Served) -> None:
    with served.client() as anybody:
        assert anybody.head("/status").status_code == 401
        assert (anybody.head("/health").status_code, anybody.head("/health").content) == (200, b"")
