"""What really goes over the wire: real servers on loopback, names answered by the test's own resolver."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import pytest
from tests.integrations.conftest import Answer, Loopback, Seen, raw_serving, serving
from tests.net.conftest import Fetch, Names, fetch_plain, reaching

from coilclaw.net.hosts import make_reach
from coilclaw.net.transport import sync_client
from coilclaw.sdk import Bounds, ToolContext, ToolFailure


def test_a_declared_server_is_reached(server: Loopback, fetch: Fetch, tmp_path: Path) -> None:
    context = reaching(tmp_path, hosts=(server.authority,))
    assert fetch(context, "GET", server.url + "/").text == "hello"
    assert server.seen[0].headers["host"] == server.authority


@pytest.mark.parametrize("disguise", ["127.1", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "127。0。0。1"])
def test_a_disguised_address_is_not_reached(server: Loopback, fetch: Fetch, tmp_path: Path, disguise: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        fetch(reaching(tmp_path, hosts=("*",)), "GET", f"http://{disguise}:{server.port}/")
    assert caught.value.code == "address_refused"
    assert server.seen == []


def test_the_address_that_was_checked_is_the_one_connected_to(server: Loopback, fetch: Fetch, tmp_path: Path) -> None:
    """No resolver on earth knows this name, so reaching the server proves that it was asked once, by us."""
    names = Names(a_test=["127.0.0.1"])
    bounds = Bounds(http_private=(server.authority,))
    context = reaching(tmp_path, hosts=(f"a.test:{server.port}",), bounds=bounds, resolve=names)
    assert fetch(context, "GET", f"http://a.test:{server.port}/").text == "hello"
    assert names.asked == ["a.test"]
    assert server.seen[0].headers["host"] == f"a.test:{server.port}"


def test_a_name_that_changes_its_address_gains_nothing(server: Loopback, fetch: Fetch, tmp_path: Path) -> None:
    """Public when it is checked, private when it is used: the second answer is never asked for."""
    with serving(host="127.0.0.2") as listed:
        listed.answers["/"] = Answer(body=b"listed")
        names = Names(a_test=[["127.0.0.2"], ["127.0.0.1"]])
        bounds = Bounds(http_private=(f"127.0.0.2:{listed.port}",))

        def context() -> ToolContext:
            return reaching(tmp_path, hosts=(f"a.test:{listed.port}",), bounds=bounds, resolve=names)

        assert fetch(context(), "GET", f"http://a.test:{listed.port}/").text == "listed"
        with pytest.raises(ToolFailure) as caught:
            fetch(context(), "GET", f"http://a.test:{listed.port}/")
    assert caught.value.code == "address_refused"
    assert server.seen == []


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["93.184.216.34", "127.0.0.1"],
        ["127.0.0.1", "93.184.216.34"],
        ["::ffff:127.0.0.1"],
        ["::1"],
        ["169.254.169.254"],
        ["fe80::1%lo"],
        ["0.0.0.0"],
        ["64:ff9b::7f00:1"],
    ],
    ids=lambda addresses: "+".join(addresses),
)
def test_a_name_with_one_private_address_is_refused_whole(
    server: Loopback, fetch: Fetch, tmp_path: Path, addresses: list[str]
) -> None:
    context = reaching(tmp_path, hosts=("*",), resolve=Names(evil_test=addresses))
    with pytest.raises(ToolFailure) as caught:
        fetch(context, "GET", f"http://evil.test:{server.port}/")
    assert caught.value.code == "address_refused"
    assert server.seen == []


def test_another_address_is_tried_when_one_is_dead(server: Loopback, fetch: Fetch, tmp_path: Path) -> None:
    bounds = Bounds(http_private=("127.0.0.0/8",))
    names = Names(a_test=["127.0.0.9", "127.0.0.1"])
    context = reaching(tmp_path, hosts=(f"a.test:{server.port}",), bounds=bounds, resolve=names)
    assert fetch(context, "GET", f"http://a.test:{server.port}/").text == "hello"


def test_localhost_is_reached_when_it_is_declared(server: Loopback, fetch: Fetch, tmp_path: Path) -> None:
    names = Names(localhost=["127.0.0.1"])
    context = reaching(tmp_path, hosts=(f"localhost:{server.port}",), resolve=names)
    assert fetch(context, "GET", f"http://LOCALHOST.:{server.port}/").text == "hello"
    assert server.seen[0].headers["host"] == f"localhost:{server.port}"


def test_the_systems_own_resolver_is_the_default(server: Loopback, fetch: Fetch, tmp_path: Path) -> None:
    context = reaching(tmp_path, hosts=(f"localhost:{server.port}",))
    assert fetch(context, "GET", f"http://localhost:{server.port}/").text == "hello"


def test_ipv6_is_spoken(fetch: Fetch, tmp_path: Path) -> None:
    try:
        running = serving(host="::1")
        with running as server:
            server.answers["/"] = Answer(body=b"six")
            context = reaching(tmp_path, hosts=(f"[::1]:{server.port}",))
            assert fetch(context, "GET", f"http://[0:0::1]:{server.port}/").text == "six"
            assert server.seen[0].headers["host"] == f"[::1]:{server.port}"
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")


@pytest.mark.parametrize("names", [Names(), Names(nowhere_test=[]), Names(nowhere_test=["garbage"])])
def test_an_unknown_name_is_said_to_be_unknown(fetch: Fetch, tmp_path: Path, names: Names) -> None:
    context = reaching(tmp_path, hosts=("*",), resolve=names)
    with pytest.raises(ToolFailure) as caught:
        fetch(context, "GET", "http://nowhere.test/")
    assert caught.value.code == "host_not_found"


# Redirects -----------------------------------------------------------------------------------------------


def test_redirects_are_not_followed_unless_asked(server: Loopback, fetch: Fetch, tmp_path: Path) -> None:
    server.answers["/away"] = Answer(302, headers={"Location": "/"})
    assert fetch(reaching(tmp_path, hosts=(server.authority,)), "GET", f"{server.url}/away").status_code == 302


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("http://other.example/", "host_not_declared"),
        ("http://localhost:{port}/", "host_not_declared"),
        ("http://127.0.0.1:1/", "host_not_declared"),
        ("//169.254.169.254/", "host_not_declared"),
        ("http://x@127.0.0.1:{port}/", "bad_url"),
        ("file:///etc/passwd", "bad_url"),
    ],
)
def test_every_hop_is_checked(server: Loopback, fetch: Fetch, tmp_path: Path, target: str, code: str) -> None:
    server.answers["/away"] = Answer(302, headers={"Location": target.format(port=server.port)})
    context = reaching(tmp_path, hosts=(server.authority,))
    with pytest.raises((ToolFailure, httpx.UnsupportedProtocol)) as caught:
        fetch(context, "GET", f"{server.url}/away", follow_redirects=True)
    assert getattr(caught.value, "code", "bad_url") == code
    assert [seen.path for seen in server.seen] == ["/away"]


@pytest.mark.parametrize("target", ["javascript:alert(1)", "http://x:y/", "http://a\x00b/"])
def test_a_redirect_to_no_url_is_explained(server: Loopback, fetch: Fetch, tmp_path: Path, target: str) -> None:
    server.answers["/away"] = Answer(302, headers={"Location": target})
    for follow in (False, True):
        with pytest.raises(ToolFailure) as caught:
            context = reaching(tmp_path, hosts=(server.authority,))
            fetch(context, "GET", f"{server.url}/away", follow_redirects=follow)
        assert caught.value.code in ("bad_url", "http_protocol")


def test_no_credential_follows_to_another_server(
    server: Loopback, other: Loopback, fetch: Fetch, tmp_path: Path
) -> None:
    server.answers["/away"] = Answer(302, headers={"Location": f"{other.url}/"})
    context = reaching(tmp_path, hosts=(server.authority, other.authority))
    headers = {
        "Authorization": "Bearer s3cret",
        "Cookie": "session=s3cret",
        "X-Api-Key": "s3cret",
        "PRIVATE-TOKEN": "s3cret",
        "Proxy-Authorization": "s3cret",
        "Referer": "http://x/?k=s3cret",
        "Accept": "text/plain",
    }
    assert fetch(context, "GET", f"{server.url}/away", headers=headers, follow_redirects=True).text == "the other"
    assert "s3cret" in str(server.seen[0].headers)
    assert "s3cret" not in str(other.seen[0].headers)
    assert other.seen[0].headers["accept"] == "text/plain"
    assert other.seen[0].headers["host"] == other.authority


def test_a_redirect_within_a_server_keeps_its_headers(server: Loopback, fetch: Fetch, tmp_path: Path) -> None:
    server.answers["/away"] = Answer(302, headers={"Location": "/"})
    context = reaching(tmp_path, hosts=(server.authority,))
    fetch(context, "GET", f"{server.url}/away", headers={"X-Api-Key": "k"}, follow_redirects=True)
    assert [seen.headers["x-api-key"] for seen in server.seen] == ["k", "k"]


@pytest.mark.parametrize("status", [307, 308])
def test_what_is_posted_does_not_follow_to_another_server(
    server: Loopback, other: Loopback, fetch: Fetch, tmp_path: Path, status: int
) -> None:
    server.answers["/away"] = Answer(status, headers={"Location": f"{other.url}/"})
    context = reaching(tmp_path, hosts=(server.authority, other.authority))
    with pytest.raises(ToolFailure) as caught:
        fetch(context, "POST", f"{server.url}/away", json={"k": "s3cret"}, follow_redirects=True)
    assert caught.value.code == "redirect_refused"
    assert other.seen == []


# What a caller cannot change -----------------------------------------------------------------------------


def test_the_host_header_is_the_servers(server: Loopback, fetch: Fetch, tmp_path: Path) -> None:
    context = reaching(tmp_path, hosts=(server.authority,))
    fetch(context, "GET", f"{server.url}/", headers={"Host": "internal.admin"})
    assert server.seen[0].headers["host"] == server.authority


def test_proxies_of_the_environment_are_not_used(
    server: Loopback, other: Loopback, fetch: Fetch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, other.url)
    context = reaching(tmp_path, hosts=(server.authority,))
    assert fetch(context, "GET", f"{server.url}/").text == "hello"
    assert other.seen == []


def test_the_operators_url_is_reached_in_place_of_the_declared_hosts(
    server: Loopback, fetch: Fetch, tmp_path: Path
) -> None:
    def context() -> ToolContext:
        return reaching(tmp_path, hosts=("api.example.com",), settings={"url": server.url})

    assert fetch(context(), "GET", f"{server.url}/").text == "hello"
    with pytest.raises(ToolFailure) as caught:
        fetch(context(), "GET", "https://api.example.com/")
    assert caught.value.code == "host_not_declared"


# Time ----------------------------------------------------------------------------------------------------


def _drips_headers(client: socket.socket, over: threading.Event) -> None:
    client.recv(65536)
    client.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not over.wait(0.02):
        client.sendall(b"x")


def _drips_body(client: socket.socket, over: threading.Event) -> None:
    client.recv(65536)
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while not over.wait(0.02):
        client.sendall(b"x")


def _is_silent(client: socket.socket, over: threading.Event) -> None:
    over.wait(60)


@pytest.mark.req("R415")
@pytest.mark.parametrize("talk", [_drips_headers, _drips_body, _is_silent])
def test_a_slow_server_is_given_up(
    fetch: Fetch, tmp_path: Path, talk: Callable[[socket.socket, threading.Event], None]
) -> None:
    with raw_serving(talk) as port:
        bounds = Bounds(http_seconds=0.3)
        context = reaching(tmp_path, hosts=(f"127.0.0.1:{port}",), bounds=bounds)
        with pytest.raises(ToolFailure) as caught:
            # What a tool asks for cannot be longer than what the operator allows.
            fetch(context, "GET", f"http://127.0.0.1:{port}/", timeout=60)
    assert caught.value.code == "http_timeout"


def test_a_slow_reader_is_given_up(fetch: Fetch, tmp_path: Path) -> None:
    with raw_serving(_is_silent) as port:
        context = reaching(tmp_path, hosts=(f"127.0.0.1:{port}",), bounds=Bounds(http_seconds=0.3))
        with pytest.raises(ToolFailure) as caught:
            fetch(context, "POST", f"http://127.0.0.1:{port}/", content=b"x" * 50_000_000)
    assert caught.value.code == "http_timeout"


def test_a_slow_resolver_is_given_up(fetch: Fetch, tmp_path: Path) -> None:
    over = threading.Event()

    def resolve(host: str, port: int) -> Sequence[str]:
        over.wait(60)
        return []

    context = reaching(tmp_path, hosts=("*",), bounds=Bounds(http_seconds=0.2), resolve=resolve)
    try:
        with pytest.raises(ToolFailure) as caught:
            fetch(context, "GET", "http://slow.test/")
    finally:
        over.set()
    assert caught.value.code == "http_timeout"


def test_a_call_without_time_left_sends_nothing(server: Loopback, fetch: Fetch, tmp_path: Path) -> None:
    context = reaching(tmp_path, hosts=(server.authority,), time_left=lambda: 0.0)
    with pytest.raises(ToolFailure) as caught:
        fetch(context, "GET", f"{server.url}/")
    assert caught.value.code == "http_timeout"
    assert server.seen == []


@pytest.mark.req("R415")
def test_a_request_has_twenty_seconds_unless_the_operator_says_otherwise() -> None:
    assert Bounds().http_seconds == 20


# Failures ------------------------------------------------------------------------------------------------


def test_a_closed_port_is_unreachable(fetch: Fetch, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(ToolFailure) as caught:
        fetch(reaching(tmp_path, hosts=(f"127.0.0.1:{port}",)), "GET", f"http://127.0.0.1:{port}/")
    assert caught.value.code == "http_unreachable"


def test_a_server_of_another_protocol_is_said_to_be_one(fetch: Fetch, tmp_path: Path) -> None:
    def talk(client: socket.socket, over: threading.Event) -> None:
        client.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")
        client.recv(65536)

    with raw_serving(talk) as port:
        context = reaching(tmp_path, hosts=(f"127.0.0.1:{port}",))
        with pytest.raises(ToolFailure) as caught:
            fetch(context, "GET", f"http://127.0.0.1:{port}/")
    assert caught.value.code == "http_protocol"


def test_a_secret_with_a_line_break_is_not_shown(server: Loopback, fetch: Fetch, tmp_path: Path) -> None:
    context = reaching(tmp_path, hosts=(server.authority,))
    with pytest.raises(ToolFailure) as caught:
        fetch(context, "GET", f"{server.url}/", headers={"Authorization": "Bearer s3cret\r\nX: y"})
    assert caught.value.code == "bad_request"
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert server.seen == []


def test_streams_open_at_the_same_time_keep_their_own_time(server: Loopback, tmp_path: Path) -> None:
    server.answers["/long"] = lambda seen: Answer(body=b"x" * 1_000_000)
    left = iter([5.0, 0.3, 5.0])
    with raw_serving(_is_silent) as port:
        reach = make_reach((server.authority, f"127.0.0.1:{port}"), Bounds(), {})
        with sync_client(reach, lambda: next(left)) as client, client.stream("GET", f"{server.url}/long") as answer:
            with pytest.raises(ToolFailure):
                client.get(f"http://127.0.0.1:{port}/")  # Its time is over now, not that of the first.
            assert len(answer.read()) == 1_000_000


def test_answers_are_seen_by_nobody_else(server: Loopback, tmp_path: Path) -> None:
    """Cookies of one call are not sent by the next."""
    server.answers["/"] = lambda seen: Answer(headers={"Set-Cookie": "a=1"})
    for _ in range(2):
        fetch_plain(reaching(tmp_path, hosts=(server.authority,)), "GET", f"{server.url}/")
    assert all("cookie" not in seen.headers for seen in server.seen)
    assert isinstance(server.seen[0], Seen)
