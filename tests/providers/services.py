"""Services on loopback that behave as a test says: well, badly, or not at all."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Service:
    """Answers one connection after another with the next script; the last one is repeated."""

    port: int
    answers: list[Script]
    seen: list[Seen] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)
    """The test has ended."""
    hung_up: threading.Event = field(default_factory=threading.Event)
    """The client closed a connection that `hang` held open."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def hang(self, client: socket.socket) -> None:
        """Say nothing until the client has had enough."""
        client.settimeout(60)
        while client.recv(4096):
            pass
        self.hung_up.set()


Script: TypeAlias = bytes | Sequence[bytes] | Callable[[Service, socket.socket], None]
"""Bytes that are sent, in one piece or in several, before the connection is closed; or a function that talks itself."""


@contextmanager
def serving(*answers: Script) -> Iterator[Service]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        service = Service(listener.getsockname()[1], list(answers))

        def accept() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=talk, args=(client,), daemon=True).start()

        def talk(client: socket.socket) -> None:
            with client:
                try:
                    service.seen.append(_request(client))
                    script = service.answers.pop(0) if len(service.answers) > 1 else service.answers[0]
                    if callable(script):
                        script(service, client)
                        return
                    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    for piece in [script] if isinstance(script, bytes) else script:
                        client.sendall(piece)
                    client.shutdown(socket.SHUT_WR)
                    service.hang(client)  # So that what was sent arrives before the connection ends.
                except OSError:
                    return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield service
        finally:
            service.is_over.set()
            listener.shutdown(socket.SHUT_RDWR)
    thread.join(timeout=60)


def _request(client: socket.socket) -> Seen:
    client.settimeout(60)
    data = b""
    while b"\r\n\r\n" not in data:
        piece = client.recv(65536)
        if not piece:
            raise OSError("no request")
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += client.recv(65536)
    method, path, _ = first.split(" ")
    return Seen(method, path, headers, body)


def reply(body: Any, status: int = 200, media_type: str = "application/json", **headers: str) -> bytes:
    """A whole answer; anything but bytes is sent as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    lines = {"content-type": media_type, "content-length": str(len(data)), "connection": "close", **given}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} As The Test Says\r\n{head}\r\n".encode() + data


STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n"


def events(*data: Any, done: bool = False) -> bytes:
    """Events as services send them; anything but text is sent as JSON, under the name of its type."""
    shown = [each if isinstance(each, str) else json.dumps(each) for each in data]
    names = [f"event: {each['type']}\n" if isinstance(each, dict) and "type" in each else "" for each in data]
    text = "".join(f"{name}data: {each}\n\n" for name, each in zip(names, shown, strict=True))
    return (text + ("data: [DONE]\n\n" if done else "")).encode()


def stream(*data: Any, done: bool = False) -> bytes:
    return STREAM_HEAD + events(*data, done=done)


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk of chat completions."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": choices, **more}


def completion(message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    return {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m-1",
        "choices": [choice],
        "usage": usage,
        **more,
    }


def message(*content: dict[str, Any], stop: str = "end_turn", **more: Any) -> dict[str, Any]:
    """A message of Anthropic's API."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 4},
        **more,
    }


def block_events(
    *blocks: tuple[dict[str, Any], Sequence[dict[str, Any]]], stop: str = "end_turn"
) -> list[dict[str, Any]]:
    """The events of a message, each block with its deltas."""
    start = message(stop="", usage={"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 5})
    found: list[dict[str, Any]] = [{"type": "message_start", "message": {**start, "stop_reason": None}}]
    for index, (block, deltas) in enumerate(blocks):
        found.append({"type": "content_block_start", "index": index, "content_block": block})
        found += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        found.append({"type": "content_block_stop", "index": index})
    found.append(
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 4}}
    )
    return [*found, {"type": "message_stop"}]
