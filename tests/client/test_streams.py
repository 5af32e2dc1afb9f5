"""Connections that break, redirect or answer nonsense, from a scripted server on loopback."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from coilclaw.client import Client, NotAuthenticated, NotUnderstood

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def event(kind: str, cursor: str, **data: object) -> bytes:
    text = f"event: {kind}\nid: {cursor}\ndata: {json.dumps({'run_id': 'run-1', **data})}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(text), text)


@contextmanager
def scripted(*answers: bytes) -> Iterator[tuple[str, list[str]]]:
    """A server that gives these answers, one to each connection, and hangs up behind each."""
    received: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)

        def serve() -> None:
            for answer in answers:
                taken, _ = listening.accept()
                with taken:
                    head = b""
                    while b"\r\n\r\n" not in head:
                        head += taken.recv(65536)
                    received.append(head.decode().lower())
                    taken.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", received
        thread.join(60)


def test_a_stream_that_breaks_is_continued_with_nothing_lost_and_nothing_twice() -> None:
    first = STREAM + event("run.started", "c1") + event("run.output", "c1", stream=1, text="one ")
    again = event("run.output", "c1", stream=1, text="one two ")
    second = STREAM + again + event("call.started", "c2") + event("run.output", "c2", stream=1, text="three")
    third = STREAM + event("run.output", "c2", stream=1, text="three") + event("run.finished", "c3") + b"0\r\n\r\n"
    with scripted(first, second, third) as (url, received), Client(url, token="t") as claw:
        seen = [(each.kind, each.data.get("text")) for each in claw.run_events("run-1")]
    assert seen == [
        ("run.started", None),
        ("run.output", "one "),
        ("run.output", "two "),
        ("call.started", None),
        ("run.output", "three"),
        ("run.finished", None),
    ]
    assert "last-event-id" not in received[0]
    assert ["last-event-id: c1" in received[1], "last-event-id: c2" in received[2]] == [True, True]


def test_a_stream_that_ends_before_its_last_event_is_continued() -> None:
    first = STREAM + event("run.started", "c1") + b"0\r\n\r\n"
    with scripted(first, STREAM + event("run.finished", "c2") + b"0\r\n\r\n") as (url, _), Client(url) as claw:
        assert [each.kind for each in claw.run_events("run-1")] == ["run.started", "run.finished"]


def test_a_redirect_is_not_followed_and_the_token_stays() -> None:
    with scripted() as (elsewhere, received_elsewhere):
        moved = f"HTTP/1.1 307 Moved\r\nLocation: {elsewhere}/status\r\nContent-Length: 0\r\n\r\n".encode()
        with (
            scripted(moved) as (url, received),
            Client(url, token="planted") as claw,
            pytest.raises(NotUnderstood, match="redirects elsewhere") as refused,
        ):
            claw.status()
    assert "authorization: bearer planted" in received[0]
    assert received_elsewhere == []
    assert "planted" not in str(refused.value)


def test_a_wrong_token_is_a_typed_error_with_the_servers_code() -> None:
    body = b'{"error": {"code": "unauthenticated", "message": "no", "hint": "a token", "details": null}}'
    answer = b"HTTP/1.1 401 No\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    with scripted(answer) as (url, _), Client(url, token="t") as claw, pytest.raises(NotAuthenticated) as refused:
        claw.status()
    assert (refused.value.status, refused.value.code, refused.value.hint) == (401, "unauthenticated", "a token")


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nhi",
    ],
)
def test_something_else_that_listens_is_not_taken_for_a_server(answer: bytes) -> None:
    with scripted(answer) as (url, _), Client(url) as claw, pytest.raises(NotUnderstood):
        claw.status()
