"""Requests that no well-behaved client sends: ambiguous, enormous, slow."""

from __future__ import annotations

import logging
import socket

import pytest
from tests.gateway.conftest import Served
from tests.gateway.raw_http import sent

from coilclaw.gateway import connection, request_body


def head(served: Served, first: str, *lines: str) -> bytes:
    """The head of a request with the operator's token."""
    own = (f"Host: 127.0.0.1:{served.port}", f"Authorization: Bearer {served.token}")
    return "\r\n".join((first, *own, *lines, "", "")).encode("latin-1")


def refused(served: Served, request: bytes, *, may_hang_up: bool = False) -> bytes:
    """Send a request that must be refused, once and without anything of the server's insides."""
    status, answer = sent(served, request)
    assert 400 <= status < 500 or (may_hang_up and not answer), answer
    assert answer.count(b"HTTP/1.1 ") <= 1
    assert b"Traceback" not in answer
    assert served.token.encode() not in answer
    return answer


RUN = "POST /api/runs HTTP/1.1"
JSON = "Content-Type: application/json"


def test_a_body_of_two_lengths_smuggles_nothing(served: Served) -> None:
    inner = head(served, "GET /status HTTP/1.1")
    for lines in (
        ("Content-Length: 4", "Transfer-Encoding: chunked"),
        ("Content-Length: 4", "Content-Length: 5"),
        ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
        ("Transfer-Encoding: xchunked",),
        ("Content-Length: +4",),
        ("Content-Length: -1",),
        ("Content-Length: 0x4",),
    ):
        answer = refused(served, head(served, RUN, JSON, *lines) + b"0\r\n\r\n" + inner)
        assert b'"running"' not in answer
    assert list(served.claw.runs.list()) == []


@pytest.mark.parametrize(
    "line",
    [
        "Host: evil.example",
        "Host: 127.0.0.1",
        "Authorization: Bearer x",
        "Origin: http://a\r\nOrigin: http://b",
        "Sec-Fetch-Site: none\r\nSec-Fetch-Site: same-origin",
    ],
)
def test_a_header_that_decides_is_given_once(served: Served, line: str) -> None:
    refused(served, head(served, "GET /status HTTP/1.1", line))


def test_a_cookie_that_is_given_twice_is_refused(served: Served) -> None:
    name = served.gateway.address.cookie_name
    host = f"GET /status HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
    for cookies in (f"Cookie: {name}=a; {name}=b", f"Cookie: {name}=a\r\nCookie: {name}=b"):
        assert b"given twice" in refused(served, f"{host}{cookies}\r\n\r\n".encode())


@pytest.mark.parametrize(
    "line", [b"X: a\nHost: evil.example", b"X : a", b"X: a\x00b", b" X: folded", b"X: a\rY: b", b"X\x00: a", b"\xff: a"]
)
def test_a_line_that_two_readers_may_understand_differently_is_refused_or_harmless(served: Served, line: bytes) -> None:
    begin = f"GET /status HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n".encode()
    refused(served, begin + line + b"\r\n\r\n")  # Without a token: whatever it became, it is let nowhere.


def test_what_a_request_says_breaks_no_line_of_an_answer(served: Served) -> None:
    for place in ("/api/runs/a%0d%0aSet-Cookie:%20x=1", "/a%0d%0aX-Injected:%201"):
        _, answer = sent(served, head(served, f"GET {place} HTTP/1.1", "Connection: close"))
        top = answer.partition(b"\r\n\r\n")[0].lower()
        assert b"set-cookie" not in top
        assert b"x-injected" not in top


def test_very_many_and_very_long_headers_are_refused(served: Served) -> None:
    refused(
        served,
        head(served, "GET /status HTTP/1.1", *(f"X-{number}: {'a' * 50}" for number in range(2000))),
        may_hang_up=True,
    )
    refused(served, head(served, "GET /status HTTP/1.1", f"X: {'a' * 100_000}"), may_hang_up=True)
    refused(served, head(served, f"GET /{'a' * 100_000} HTTP/1.1"), may_hang_up=True)
    assert served.http.get("/status").status_code == 200


def test_a_websocket_is_not_opened(served: Served) -> None:
    upgrade = (
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: " + "A" * 24,
    )
    status, _ = sent(served, head(served, "GET /status HTTP/1.1", *upgrade))
    assert status != 101
    status, _ = sent(served, head(served, "GET /nothing HTTP/1.1", *upgrade))
    assert status in (400, 404, 426)


def test_a_body_that_is_too_large_is_refused_before_it_is_read(served: Served) -> None:
    answer = refused(served, head(served, RUN, JSON, "Content-Length: 999999999999"))
    assert b'"too_large"' in answer
    assert b"connection: close" in answer.lower()
    piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    refused(served, head(served, RUN, JSON, "Transfer-Encoding: chunked") + piece * 200, may_hang_up=True)
    assert list(served.claw.runs.list()) == []


def test_nothing_of_a_body_is_read_for_nobody(served: Served) -> None:
    begin = f"POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Length: 900000\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as client:
        client.sendall(begin)  # The body never comes, and the answer does not wait for it.
        assert client.recv(65536).startswith(b"HTTP/1.1 401")


def test_a_body_that_does_not_come_is_given_up(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_body.RequestBody.__init__, "__kwdefaults__", {"seconds": 0.2})
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as client:
        client.sendall(head(served, RUN, JSON, "Content-Length: 100") + b"{")
        answer = client.recv(65536)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"connection: close" in answer.lower()


def test_a_head_that_does_not_come_is_given_up(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_HEAD_SECONDS", 0.3)
    for begin in (b"", b"GET /health HTTP/1.1\r\nHost: "):
        with socket.create_connection(("127.0.0.1", served.port), timeout=60) as client:
            client.sendall(begin)
            assert client.recv(65536) == b""  # Closed, long before the minute that this waits for it.


def test_a_refusal_leaves_a_line_without_a_secret(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="coilclaw.gateway.guard"):
        served.http.post("/api/runs?key=hunter2", json={"code": "1"}, headers={"Origin": "https://evil.example"})
        with served.client("ccapi_0123456789abcdef_" + "s" * 43) as wrong:
            wrong.get("/status")
    facts = [vars(record)["event"] for record in caplog.records if record.message == "request.refused"]
    assert [each["code"] for each in facts] == ["foreign_origin", "unauthenticated"]
    assert facts[0] == {"code": "foreign_origin", "method": "POST", "path": "/api/runs", "from": "127.0.0.1"}
    assert served.token not in str(facts)
    assert "s" * 43 not in str(facts)
