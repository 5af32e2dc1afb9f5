"""Profiles in use: a service on this machine accepts some and refuses others."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_auth import Discreet
from tests.planted import leaks, planted, planted_setup_token

TOKEN = planted_setup_token()
ANSWER = {
    "id": "m", "type": "message", "role": "assistant", "model": "claude-x", "content": [{"type": "text", "text": "Hi"}],
    "stop_reason": "max_tokens", "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip


class Service:
    """What stands behind Anthropic's address: it answers each secret with a status, and quotes it when it refuses."""

    def __init__(self) -> None:
        self.statuses: dict[str, int] = {}
        self.seen: list[str] = []
        self.during: Callable[[], None] = lambda: None

    def answer(self, headers: Any) -> tuple[int, Any]:
        secret = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        self.seen.append("key" if headers.get("x-api-key") else "bearer")
        self.during()
        status = self.statuses.get(secret, 401)
        return status, ANSWER if status == 200 else {"type": "error", "error": {"type": "e", "message": f"no {secret}"}}


@pytest.fixture
def service(coilclaw: Discreet) -> Iterator[Service]:
    made = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            status, answer = made.answer(self.headers)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            if status == 429:
                self.send_header("retry-after", "600")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    (coilclaw.home / "config.toml").write_text(
        'default_provider = "claude"\n[providers.models.claude]\nkind = "anthropic"\nmodel = "claude-x"\nretries = 0\n'
        f'base_url = "http://127.0.0.1:{server.server_address[1]}"\n'
    )
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def coilclaw(tmp_path: Path) -> Iterator[Discreet]:
    command = Discreet(tmp_path)
    yield command
    assert leaks(tmp_path) == []


def problems(coilclaw: Discreet) -> dict[str, str | None]:
    return {row["id"]: row["problem"] for row in coilclaw("auth", "list", "--json").json}


def receipts(coilclaw: Discreet) -> list[tuple[str, Any]]:
    rows = map(json.loads, coilclaw("receipt", "export").out.splitlines())
    return [(row["type"], row["payload"]) for row in rows if row["type"].startswith("auth.")]


@pytest.mark.req("R68", "R109", "R120")
def test_profiles_are_tried_each_in_its_own_way(coilclaw: Discreet, service: Service) -> None:
    service.statuses = {TOKEN: 200, planted("good"): 200}
    coilclaw("auth", "anthropic", "setup-token", stdin=TOKEN)
    coilclaw("auth", "add", "anthropic", "--name", "good", stdin=planted("good"))
    done = coilclaw("auth", "test")
    assert (done.code, service.seen) == (0, ["bearer", "key"])
    assert done.out == "anthropic:manual  accepted\nanthropic:good  accepted\n"
    assert all(row["last_used_at"] for row in coilclaw("auth", "list", "--json").json)


@pytest.mark.req("R118", "R121")
def test_a_refused_profile_says_which_command_replaces_it(coilclaw: Discreet, service: Service) -> None:
    coilclaw("auth", "add", "anthropic", "--name", "work", stdin=planted("bad"))
    done = coilclaw("auth", "test", "anthropic:work", "--json")
    assert (done.code, done.json[0]["ok"], done.json[0]["kind"]) == (4, False, "auth")
    assert "`coilclaw auth add anthropic --name work`" in done.json[0]["hint"]
    assert problems(coilclaw) == {"anthropic:work": "was refused by the service"}
    assert coilclaw("provider", "test").code == 4
    assert len(service.seen) == 1  # It is not sent again.
    service.statuses = {planted("bad"): 200}
    assert coilclaw("auth", "test").code == 0  # It works by now.
    assert problems(coilclaw) == {"anthropic:work": None}
    assert coilclaw("provider", "test").code == 0


@pytest.mark.req("R121", "R122", "R123", "R124")
@pytest.mark.parametrize(("status", "failure"), [(429, "rate_limit"), (401, "auth"), (402, "billing")])
def test_a_request_goes_on_with_the_next_profile_and_leaves_a_receipt(
    coilclaw: Discreet, service: Service, status: int, failure: str
) -> None:
    service.statuses = {planted("one"): status, planted("two"): 200}
    for name in ("one", "two"):
        coilclaw("auth", "add", "anthropic", "--name", name, stdin=planted(name))
    done = coilclaw("provider", "test", "claude")
    assert (done.code, done.out) == (0, "claude answers as claude-x: Hi\n")
    facts = {"provider": "claude", "from": "anthropic:one", "to": "anthropic:two", "failure": failure}
    assert receipts(coilclaw) == [("auth.rotated", facts)]
    assert problems(coilclaw)["anthropic:one"] is not None
    assert coilclaw("provider", "list", "--json").json[1]["profile"] == "anthropic:two"
    assert coilclaw("receipt", "verify").code == 0


@pytest.mark.req("R118")
def test_without_a_credential_the_command_that_stores_one_is_named(coilclaw: Discreet, service: Service) -> None:
    done = coilclaw("provider", "test")
    assert done.code == 4
    assert "coilclaw auth anthropic setup-token" in done.err
    assert (coilclaw("auth", "test", "anthropic").code, service.seen) == (4, [])
    assert coilclaw("auth", "test").code == 2


@pytest.mark.req("R117")
def test_the_environment_serves_when_no_profile_does(coilclaw: Discreet, service: Service) -> None:
    service.statuses = {TOKEN: 200, planted("env"): 200}
    assert coilclaw("provider", "test", ANTHROPIC_OAUTH_TOKEN=TOKEN, ANTHROPIC_API_KEY=planted("env")).code == 0
    assert coilclaw("provider", "test", ANTHROPIC_API_KEY=planted("env")).code == 0
    assert service.seen == ["bearer", "key"]
    assert not (coilclaw.home / "auth-profiles.json").exists()


@pytest.mark.req("R115")
def test_a_pinned_profile_is_the_only_one(coilclaw: Discreet, service: Service) -> None:
    service.statuses = {planted("one"): 200, planted("two"): 429}
    for name in ("one", "two"):
        coilclaw("auth", "add", "anthropic", "--name", name, stdin=planted(name))
    assert coilclaw("provider", "test", "--profile", "anthropic:one").code == 0
    done = coilclaw("provider", "test", "--profile", "anthropic:two", "--json")
    assert (done.code, done.json["kind"]) == (1, "rate_limit")
    assert [kind for kind, _ in receipts(coilclaw)] == ["auth.failed"]
    assert "rests until" in str(problems(coilclaw)["anthropic:two"])


def test_no_process_shows_a_secret_while_it_is_used(coilclaw: Discreet, service: Service) -> None:
    secret = planted("in-flight")
    service.statuses = {secret: 200}
    shown: list[str] = []

    def look() -> None:
        for place in Path("/proc").glob("[0-9]*"):
            for name in ("cmdline", "environ"):
                try:
                    if secret.encode() in (place / name).read_bytes():
                        shown.append(f"{place}/{name}")
                except OSError:
                    pass  # It has ended, or belongs to somebody else.

    service.during = look
    coilclaw("auth", "add", "anthropic", stdin=secret)
    assert coilclaw("provider", "test").code == 0
    assert (service.seen, shown) == (["key"], [])


def test_a_profile_without_a_configured_provider_is_named_and_the_others_are_tried(
    coilclaw: Discreet, service: Service
) -> None:
    service.statuses = {planted("good"): 200}
    coilclaw("auth", "add", "absent", stdin=planted("lost"))
    coilclaw("auth", "add", "anthropic", "--name", "good", stdin=planted("good"))
    done = coilclaw("auth", "test")
    assert (done.code, service.seen) == (1, ["key"])
    lost, good = sorted(done.out.splitlines())
    assert lost.startswith("absent:default  not tried: no provider called absent is configured")
    assert good == "anthropic:good  accepted"
    rows = {row["profile"]: row for row in coilclaw("auth", "test", "--json").json}
    assert [rows[each]["ok"] for each in ("absent:default", "anthropic:good")] == [False, True]


def test_a_setup_token_is_preferred_to_every_key_that_was_kept_before(coilclaw: Discreet, service: Service) -> None:
    """Also to one under the provider's own name, which comes first otherwise."""
    service.statuses = {TOKEN: 200, planted("own"): 200}
    coilclaw("auth", "add", "claude", "--name", "own", stdin=planted("own"))
    assert coilclaw("provider", "test", "claude").code == 0
    coilclaw("auth", "anthropic", "setup-token", stdin=TOKEN)
    assert coilclaw("provider", "test", "claude").code == 0
    assert service.seen == ["key", "bearer"]
    assert coilclaw("auth", "order", "claude", "--json").json == ["anthropic:manual", "claude:own"]
    # A person's own order holds again from then on.
    assert coilclaw("auth", "order", "claude", "claude:own", "anthropic:manual").code == 0
    assert coilclaw("provider", "test", "claude").code == 0
    assert service.seen == ["key", "bearer", "key"]
    assert coilclaw("auth", "order", "claude", "--json").json == ["claude:own", "anthropic:manual"]


def test_onboard_keeps_a_key_where_a_later_setup_token_precedes_it(coilclaw: Discreet, service: Service) -> None:
    service.statuses = {TOKEN: 200, planted("key"): 200}
    done = coilclaw("onboard", "--provider", "anthropic", "--key-stdin", "--no-first-run", stdin=planted("key"))
    assert done.code == 0, done.err
    coilclaw("auth", "anthropic", "setup-token", stdin=TOKEN)
    assert coilclaw("provider", "test", "claude").code == 0
    assert service.seen == ["bearer"]
    assert coilclaw("auth", "order", "claude", "--json").json == ["anthropic:manual", "anthropic:default"]
