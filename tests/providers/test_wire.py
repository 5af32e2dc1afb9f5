"""What services and networks do to a request: each ends in an answer or in a failure that says what to do, in time."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.conftest import serving as loopback
from tests.providers.conversation import answer_of, ask, configured, run, until_failure
from tests.providers.services import (
    STREAM_HEAD,
    Script,
    Service,
    block_events,
    chunk,
    completion,
    events,
    message,
    reply,
    serving,
    stream,
)

from coilclaw.config import ProviderModel
from coilclaw.providers import Provider, ProviderError, TextDelta, open_provider
from coilclaw.providers.anthropic import Anthropic
from coilclaw.providers.credentials import KeyFromEnvironment
from coilclaw.providers.openai_compatible import OpenAICompatible
from coilclaw.providers.service import ModelService
from coilclaw.sdk import OperatorError
from coilclaw.sdk.credential_shapes import CREDENTIAL_MARK

KEY = "sk-COILCLAW-PLANTED-5ecret-abcdefghij"
KINDS = ["openai-compatible", "anthropic"]
HALF = {
    "openai-compatible": events(chunk({"content": "Half of"})),
    "anthropic": events(
        *block_events(({"type": "text", "text": ""}, [{"type": "text_delta", "text": "Half of"}]))[:3],
    ),
}
WHOLE = {
    "openai-compatible": completion({"content": "All of it."}),
    "anthropic": message({"type": "text", "text": "All of it."}),
}
STREAMED = {
    "openai-compatible": stream(chunk({"content": "All of it."}), chunk({}, "stop"), done=True),
    "anthropic": stream(*block_events(({"type": "text", "text": ""}, [{"type": "text_delta", "text": "All of it."}]))),
}


class Pauses:
    """Remembers how long a provider would have waited."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def provider(kind: str, service: Service | str, *, pause: Any = None, **table: Any) -> ModelService:
    url = service if isinstance(service, str) else service.url
    dialect = Anthropic() if kind == "anthropic" else OpenAICompatible()
    given = ProviderModel(kind=kind, base_url=url, **{"api_key_env": "KEY", "seconds": 60, **table})  # type: ignore[arg-type]
    return ModelService("svc", given, "m", KeyFromEnvironment({"KEY": KEY}), dialect, pause=pause or Pauses())


def failure(asked: Provider, streaming: bool) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        run(answer_of(asked, ask("hi"), streaming=streaming))
    check_silence(caught.value)
    return caught.value


def check_silence(error: ProviderError) -> None:
    """Neither the message nor anything that a traceback shows has the credential in it."""
    assert error.provider == "svc"
    assert error.hint  # It says what to do.
    assert "svc" in error.message
    shown = f"{error} {error!r} {error.hint} {error.__notes__ if hasattr(error, '__notes__') else ''}"
    assert "5ecret" not in shown
    assert error.__cause__ is None
    assert error.__suppress_context__


both = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "stream"])
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
@both
@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (301, "refused"),
        (307, "refused"),
        (400, "refused"),
        (401, "auth"),
        (402, "billing"),
        (403, "auth"),
        (404, "refused"),
        (408, "timeout"),
        (413, "refused"),
        (429, "rate_limit"),
        (500, "server"),
        (502, "server"),
        (503, "server"),
        (529, "server"),
    ],
)
def test_a_status_says_who_has_to_react(kind: str, streaming: bool, status: int, expected: str) -> None:
    body = {"error": {"message": f"No \x1b[31mway\nwith {KEY} or …{KEY[11:24]} or sk-other-key-1234567", "type": "x"}}
    with serving(reply(body, status, location="http://127.0.0.1:1/elsewhere")) as service:
        error = failure(provider(kind, service, retries=0), streaming)
        assert error.kind == expected
        assert f"status {status}" in error.message
        assert f"No \\u001b[31mway\\nwith [redacted] or [redacted] or {CREDENTIAL_MARK}" in error.message
        assert len(service.seen) == 1  # No redirect is followed.


@each_kind
@pytest.mark.parametrize(
    ("body", "status", "expected"),
    [
        ({"error": {"code": "insufficient_quota", "type": "insufficient_quota", "message": "…"}}, 429, "billing"),
        ({"error": {"code": "rate_limit_exceeded", "type": "insufficient_quota"}}, 429, "billing"),
        ({"type": "error", "error": {"type": "billing_error", "message": "pay"}}, 400, "billing"),
        (
            {"error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the API"}},
            400,
            "billing",
        ),
        ({"error": "model not loaded"}, 404, "refused"),
        ({"message": "nope"}, 401, "auth"),
        (b"<html>bad gateway</html>", 502, "server"),
        (b"x" * 2_000_000, 500, "server"),
        (b'{"error": {"message": 5, "type": [], "code": {}}}', 400, "refused"),
        (b"[" * 50_000, 400, "refused"),
        (b"", 500, "server"),
    ],
)
def test_a_failure_says_what_its_body_says(kind: str, body: Any, status: int, expected: str) -> None:
    with serving(reply(body, status)) as service:
        error = failure(provider(kind, service, retries=0), False)
        assert error.kind == expected
        assert len(error.message) < 500


@each_kind
@both
@pytest.mark.parametrize("status", [429, 503, 529])
def test_what_the_service_did_not_begin_is_asked_again(kind: str, streaming: bool, status: int) -> None:
    answer = STREAMED[kind] if streaming else reply(WHOLE[kind])
    pauses = Pauses()
    with serving(reply({}, status, retry_after="7"), reply({}, status), answer) as service:
        found = run(answer_of(provider(kind, service, pause=pauses), ask("hi"), streaming=streaming))
        assert found.final_text == "All of it."
        assert len(service.seen) == 3
        assert service.seen[0].body == service.seen[2].body
    first, second = pauses.seconds
    assert 7 <= first <= 7.5  # What the service says.
    assert 1 <= second <= 1.5  # Twice as long as the first time, and not at the same moment as everybody else.


@both
def test_a_service_that_stays_busy_is_asked_as_often_as_configured(streaming: bool) -> None:
    pauses = Pauses()
    with serving(reply({}, 503)) as service:
        assert failure(provider("anthropic", service, pause=pauses, retries=3), streaming).kind == "server"
        assert len(service.seen) == 4
        assert len(pauses.seconds) == 3


@pytest.mark.parametrize("status", [400, 401, 402, 500, 502])
def test_what_the_service_may_have_begun_is_asked_once(status: int) -> None:
    with serving(reply({}, status, retry_after="0")) as service:
        failure(provider("anthropic", service), False)
        assert len(service.seen) == 1


@pytest.mark.parametrize("retry_after", ["21", "86400", "1e9", "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_nobody_waits_long_for_a_service(retry_after: str) -> None:
    pauses = Pauses()
    with serving(reply({}, 429, retry_after=retry_after)) as service:
        error = failure(provider("anthropic", service, pause=pauses), False)
        assert error.retry_after is not None
        assert error.retry_after > 20
        assert pauses.seconds == []


@pytest.mark.parametrize("retry_after", ["", "soon", "nan", "inf", "-inf", "\u00e9", "99999999999999999999 Oct"])
def test_a_retry_after_that_means_nothing_is_passed_over(retry_after: str) -> None:
    with serving(reply({}, 429, retry_after=retry_after)) as service:
        assert failure(provider("anthropic", service, retries=0), False).retry_after is None


@pytest.mark.parametrize(
    ("retry_after", "expected"), [("-5", 0.0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("2.5", 2.5)]
)
def test_a_retry_after_is_read_as_seconds_or_as_a_date(retry_after: str, expected: float) -> None:
    with serving(reply({}, 429, retry_after=retry_after)) as service:
        assert failure(provider("anthropic", service, retries=0), False).retry_after == expected


@each_kind
@both
def test_a_service_that_is_not_there_is_tried_again_and_named(kind: str, streaming: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    pauses = Pauses()
    error = failure(provider(kind, f"http://127.0.0.1:{port}/v1", pause=pauses), streaming)
    assert error.kind == "network"
    assert f"http://127.0.0.1:{port}" in error.message
    assert len(pauses.seconds) == 2


def _reset(service: Service, client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")


def _half_then_reset(service: Service, client: socket.socket) -> None:
    client.sendall(STREAM_HEAD)
    _reset(service, client)


CUT: dict[str, Script] = {
    "nothing": b"",
    "half a status": b"HTTP/1.1 2",
    "half the headers": b"HTTP/1.1 200 OK\r\ncontent-type: app",
    "no body": b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n",
    "half a body": b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{"id": 1',
    "half a chunk": b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n20\r\n{",
    "a reset": _reset,
    "no http": b"SSH-2.0-OpenSSH_9.6\r\n",
    "a reset after headers": _half_then_reset,
}


@each_kind
@both
@pytest.mark.parametrize("stage", CUT)
def test_a_connection_that_ends_at_any_stage_is_a_failure_of_the_network(
    kind: str, streaming: bool, stage: str
) -> None:
    with serving(CUT[stage]) as service:
        assert failure(provider(kind, service), streaming).kind == "network"
        assert len(service.seen) == 1  # The service may have begun.


@each_kind
@pytest.mark.parametrize("size", [1, 7, 40, 200])
def test_half_a_stream_gives_its_text_and_then_fails(kind: str, size: int) -> None:
    whole = STREAM_HEAD + HALF[kind]
    with serving([whole[at : at + size] for at in range(0, len(whole), size)]) as service:
        pieces, error = run(until_failure(provider(kind, service), ask("hi")))
        assert "".join(pieces) == "Half of"
        assert isinstance(error, ProviderError)
        assert error.kind == "network"
        check_silence(error)
        assert len(service.seen) == 1


@each_kind
def test_a_stream_that_breaks_off_anywhere_never_passes_for_a_whole_one(kind: str) -> None:
    whole = STREAMED[kind]
    end = whole.index(b'"finish_reason": "stop"' if kind == "openai-compatible" else b"message_stop")
    for cut in range(len(STREAM_HEAD), end, 37):
        with serving(whole[:cut]) as service:
            _, error = run(until_failure(provider(kind, service), ask("hi")))
            assert isinstance(error, ProviderError), whole[:cut]
            assert error.kind == "network"


def _silent(service: Service, client: socket.socket) -> None:
    service.hang(client)


def _silent_in_headers(service: Service, client: socket.socket) -> None:
    client.sendall(b"HTTP/1.1 200 OK\r\ncontent-ty")
    service.hang(client)


def _silent_in_body(service: Service, client: socket.socket) -> None:
    client.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{")
    service.hang(client)


def _endless(piece: bytes, head: bytes = STREAM_HEAD) -> Script:
    def talk(service: Service, client: socket.socket) -> None:
        client.sendall(head)
        while not service.is_over.wait(0.002):
            client.sendall(piece)

    return talk


@each_kind
@both
@pytest.mark.parametrize("script", [_silent, _silent_in_headers, _silent_in_body], ids=["connect", "headers", "body"])
def test_a_service_that_goes_silent_is_left_when_the_time_is_over(kind: str, streaming: bool, script: Script) -> None:
    with serving(script) as service:
        error = failure(provider(kind, service, seconds=0.05), streaming)
        assert error.kind == "timeout"
        assert "0.05 seconds" in error.message
        assert service.hung_up.wait(60)


ENDLESS = {
    "comments": b": still here\n\n",
    "pings": events({"type": "ping"}),
    "one long line": b"data: xxxxxxxx",
    "returns": b"\r",
    "chunks": events(chunk({"content": ""})),
}


@each_kind
@pytest.mark.parametrize("piece", ENDLESS)
def test_a_stream_that_never_ends_is_left_when_the_time_is_over(kind: str, piece: str) -> None:
    with serving(_endless(ENDLESS[piece])) as service:
        assert failure(provider(kind, service, seconds=0.1), True).kind == "timeout"


def test_an_answer_that_trickles_is_left_when_the_time_is_over() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9000000\r\n\r\n"
    with serving(_endless(b" ", head)) as service:
        assert failure(provider("anthropic", service, seconds=0.1), False).kind == "timeout"


@each_kind
@both
def test_an_answer_that_is_too_long_is_cut_off(kind: str, streaming: bool) -> None:
    head = STREAM_HEAD if streaming else b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"

    def flood(service: Service, client: socket.socket) -> None:
        client.sendall(head)
        for _ in range(20):
            client.sendall(b": " + b"x" * 1_000_000 + b"\n")

    with serving(flood) as service:
        error = failure(provider(kind, service), streaming)
        assert error.kind == "malformed"
        assert "longer than" in error.message


@each_kind
@both
@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b"<html>Welcome</html>", "text/html"),
        (b"", "application/json"),
        (b"{", "application/json"),
        (b"[]", "application/json"),
        (b"null", "application/json"),
        (b"{}", "application/json"),
        (b'{"choices": [], "content": 5}', "application/json"),
        (b'{"choices": [{"message": "hi"}], "content": {}}', "application/json"),
        (b'"\xff"', "application/json"),
        (b"[" * 100_000, "application/json"),
        (b"9" * 10_000, "application/json"),
        (b"event: x", "application/octet-stream"),
    ],
)
def test_an_answer_that_is_none_is_malformed(kind: str, streaming: bool, body: bytes, media_type: str) -> None:
    with serving(reply(body, media_type=media_type)) as service:
        error = failure(provider(kind, service), streaming)
        assert error.kind == "malformed"
        assert "cannot be read" in error.message


@each_kind
@pytest.mark.parametrize("body", [b"data: {\n\n", b"data: 5\n\n", b"data: \xff\n\n", b"data: hello\n\n"])
def test_an_event_that_is_none_is_malformed(kind: str, body: bytes) -> None:
    with serving(STREAM_HEAD + body) as service:
        assert failure(provider(kind, service), True).kind == "malformed"


@each_kind
def test_a_compressed_answer_is_not_unpacked(kind: str) -> None:
    with serving(reply(b"\x1f\x8b", content_encoding="gzip")) as service:
        assert failure(provider(kind, service), False).kind == "malformed"
        assert service.seen[0].headers["accept-encoding"] == "identity"


@each_kind
def test_a_service_that_does_not_stream_answers_in_one_piece(kind: str) -> None:
    async def items(asked: Provider) -> list[Any]:
        found = [item async for item in asked.stream(ask("hi"))]
        await asked.aclose()
        return found

    with serving(reply(WHOLE[kind])) as service:
        (response,) = run(items(provider(kind, service)))
        assert response.final_text == "All of it."


@each_kind
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"type": "overloaded_error", "message": f"Overloaded {KEY}"}, "server"),
        ({"type": "rate_limit_error", "message": "slow down"}, "rate_limit"),
        ({"code": "insufficient_quota", "message": "pay"}, "billing"),
        ({"type": "authentication_error"}, "auth"),
        ({"type": "invalid_request_error", "message": "no"}, "refused"),
        ({"type": "never_heard_of"}, "server"),
        ("something broke", "server"),
    ],
)
def test_an_error_inside_a_stream_or_a_success_is_the_failure_it_says(kind: str, error: Any, expected: str) -> None:
    document = {"type": "error", "error": error}
    with serving(stream(document), STREAM_HEAD + HALF[kind] + events(document), reply(document)) as service:
        assert failure(provider(kind, service), True).kind == expected
        pieces, raised = run(until_failure(provider(kind, service), ask("hi")))
        assert "".join(pieces) == "Half of"
        assert isinstance(raised, ProviderError)
        assert raised.kind == expected
        assert failure(provider(kind, service), False).kind == expected


@each_kind
@both
def test_cancelling_closes_the_connection(kind: str, streaming: bool) -> None:
    head = STREAM_HEAD + HALF[kind] if streaming else b""
    began = threading.Event()

    def talk(service: Service, client: socket.socket) -> None:
        client.sendall(head)
        began.set()
        service.hang(client)

    async def main(asked: ModelService, service: Service) -> None:
        task = asyncio.create_task(answer_of(asked, ask("hi"), streaming=streaming))
        await asyncio.to_thread(began.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(service.hung_up.wait, 60)

    with serving(talk) as service:
        run(main(provider(kind, service), service))


@each_kind
def test_leaving_a_stream_closes_the_connection(kind: str) -> None:
    def talk(service: Service, client: socket.socket) -> None:
        client.sendall(STREAM_HEAD + HALF[kind])
        service.hang(client)

    async def main(asked: ModelService, service: Service) -> None:
        items = asked.stream(ask("hi"))
        first = await anext(items)
        assert isinstance(first, TextDelta)
        await items.aclose()
        assert await asyncio.to_thread(service.hung_up.wait, 60)
        await asked.aclose()
        await asked.aclose()

    with serving(talk) as service:
        run(main(provider(kind, service), service))


def test_a_provider_works_in_one_event_loop_after_another() -> None:
    with serving(reply(WHOLE["anthropic"], connection="keep-alive")) as service:
        asked = provider("anthropic", service)
        for _ in range(2):
            assert run(asked.chat(ask("hi"))).final_text == "All of it."
        run(asked.aclose())


@pytest.mark.parametrize(
    "url",
    [
        "localhost:1234",
        "ftp://example.org",
        "file:///etc/passwd",
        "http://",
        "https://me:5ecret@example.org/v1",
        "http://example.org/v1?key=5ecret",
        "http://example.org/#5ecret",
        "http://exa mple.org",
        "http://example.org:99999",
        "http://ex\u00e4mple.org",
        "http://[::1",
        "",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(OperatorError, match="base_url") as caught:
        open_provider(configured(a={"kind": "openai-compatible", "base_url": url, "model": "m"}), "a")
    assert "5ecret" not in f"{caught.value!r} {caught.value.hint}"


def test_what_the_environment_says_of_proxies_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with serving(reply(WHOLE["anthropic"])) as service:
        assert run(answer_of(provider("anthropic", service), ask("hi"))).final_text == "All of it."


@pytest.mark.parametrize("scheme", ["https", "HTTPS"])
def test_a_certificate_that_nobody_vouches_for_ends_the_connection(certificate: Path, scheme: str) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with loopback(tls) as server:
        assert failure(provider("anthropic", f"{scheme}://{server.authority}", retries=0), False).kind == "network"
        assert server.seen == []


@each_kind
@both
def test_no_log_has_a_credential_in_it(kind: str, streaming: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(reply({"error": {"message": KEY}}, 429), reply({"error": {"message": KEY}}, 401)) as service:
        failure(provider(kind, service), streaming)
    shown = " ".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert "provider.repeated" in shown
    assert "5ecret" not in shown
