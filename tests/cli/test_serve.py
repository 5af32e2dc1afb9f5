"""`coilclaw serve` and `coilclaw token`, as processes."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from tests.cli.conftest import Command


@contextmanager
def server(coilclaw: Command, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a server on any free port; its process, and the link that it prints."""
    line = [*coilclaw.line, "serve", "--port", "0", *options]
    with subprocess.Popen(
        line, env=coilclaw.environment, cwd=coilclaw.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_a_server_serves_its_home_and_ends_when_asked(coilclaw: Command) -> None:
    with server(coilclaw) as (process, link):
        base, _, code = link.partition("/#code=")
        begun = httpx.post(f"{base}/api/session", json={"code": code}, trust_env=False, timeout=60)
        assert begun.status_code == 201
        token = coilclaw("token", "create", "--scope", "operator", "--name", "ci", "--json").json["token"]
        headers = {"Authorization": f"Bearer {token}"}
        shown = httpx.get(f"{base}/api/session", headers=headers, trust_env=False, timeout=60)
        assert shown.json()["name"] == "token ci"
        port = int(base.rpartition(":")[2])
        again = coilclaw("serve", "--port", port)
        assert (again.code, f"port {port} of 127.0.0.1 is in use" in again.err) == (2, True)
        fresh = coilclaw("serve", "link", "--json").json
        assert fresh["url"] == base
        assert fresh["link"].startswith(f"{base}/#code=")
        with (
            socket.create_connection(("127.0.0.1", port), timeout=60),  # Neither is waited for.
            httpx.stream("GET", f"{base}/api/events", headers=headers, trust_env=False, timeout=60) as events,
        ):
            assert events.headers["content-type"].startswith("text/event-stream")
            next(events.iter_lines())
            process.send_signal(signal.SIGTERM)
            _, told = process.communicate(timeout=120)
        assert process.returncode == 0
        assert "The server has ended." in told
        assert "Traceback" not in told
    assert not list((coilclaw.home / "servers").iterdir())
    assert coilclaw("serve", "link").code == 2


def test_a_killed_server_leaves_sessions_and_tokens_but_no_server(coilclaw: Command) -> None:
    with server(coilclaw) as (process, link):
        base, _, code = link.partition("/#code=")
        begun = httpx.post(f"{base}/api/session", json={"code": code}, trust_env=False, timeout=60)
        process.kill()
        process.wait(60)
    done = coilclaw("serve", "link")
    assert (done.code, "no server of this home is running" in done.err) == (2, True)
    with bound_to(base, coilclaw):
        cookie = begun.headers["set-cookie"].partition(";")[0]
        sent = {"Cookie": cookie, "X-CoilClaw-Secret": begun.json()["secret"]}
        assert httpx.get(f"{base}/api/session", headers=sent, trust_env=False, timeout=60).status_code == 200


@contextmanager
def bound_to(base: str, coilclaw: Command) -> Iterator[None]:
    with server(coilclaw, "--port", base.rpartition(":")[2]):
        yield


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--host", "0.0.0.0"], "without TLS"),
        (["--host", "0.0.0.0", "--behind-proxy"], "--public-name"),
        (["--public-name", "claw.example"], "over HTTPS"),
        (["--host", "0.0.0.0", "--behind-proxy", "--public-name", "a b"], "not a name"),
    ],
)
def test_an_address_that_others_reach_needs_tls(coilclaw: Command, options: list[str], told: str) -> None:
    done = coilclaw("serve", "--port", "0", *options)
    assert (done.code, told in done.err) == (2, True), done.err


def test_tokens_are_listed_without_their_secrets_and_revoked(coilclaw: Command) -> None:
    made = coilclaw("token", "create", "--scope", "run", "--expires", "12h", "--json").json
    (listed,) = coilclaw("token", "list", "--json").json
    assert (listed["id"], listed["scope"], listed["status"]) == (made["id"], "run", "valid")
    assert made["token"] not in json.dumps(listed)
    assert coilclaw("token", "revoke", made["id"], "--json").json["status"] == "revoked"
    assert coilclaw("token", "revoke", "nonsense").code == 2
    assert coilclaw("token", "create", "--scope", "run", "--expires", "soon").code == 2
    assert coilclaw("token", "create", "--scope", "run", "--name", "a\x1b[2J").code == 2
