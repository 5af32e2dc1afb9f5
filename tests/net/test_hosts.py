"""Which servers a tool may reach, judged by URLs and by the addresses of names."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest

from coilclaw.net import GuardedNetwork
from coilclaw.net.hosts import Reach, make_reach
from coilclaw.sdk import Bounds, ToolContext, ToolFailure


def reach(*hosts: str, private: tuple[str, ...] = (), url: str | None = None) -> Reach:
    return make_reach(hosts, Bounds(http_private=private), {"url": url} if url else {})


def refusal(reach: Reach, url: str) -> str | None:
    """The code with which a URL is refused, before anything is looked up."""
    try:
        reach.destination(httpx.URL(url))
    except httpx.InvalidURL:
        return "bad_url"
    except ToolFailure as failure:
        return failure.code
    return None


@pytest.mark.parametrize(
    ("declared", "url"),
    [
        ("api.example.com", "https://api.example.com/x"),
        ("api.example.com", "http://api.example.com:80/"),
        ("api.example.com", "https://api.example.com:443/"),
        ("api.example.com", "https://API.Example.COM./x"),
        ("API.example.com.", "https://api.example.com/x"),
        ("api.example.com:8443", "https://api.example.com:8443/"),
        ("api.example.com:443", "https://api.example.com/"),
        ("api.example.com:443", "http://api.example.com:443/"),
        ("*.example.com", "https://a.example.com/"),
        ("*.example.com", "https://a.b.example.com/"),
        ("*.example.com:8080", "http://a.example.com:8080/"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("xn--bcher-kva.example", "https://bücher.example/"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
        ("127.0.0.1:8080", "http://[::ffff:127.0.0.1]:8080/"),
        ("[::1]:8080", "http://[::1]:8080/"),
        ("::1", "http://[0:0::1]/"),
        ("localhost:8080", "http://localhost:8080/"),
        ("localhost:8080", "http://LOCALHOST.:8080/"),
        ("*", "https://anything.example/"),
        ("*", "https://anything.example:8443/"),
        ("*", "http://93.184.216.34/"),
        ("93.184.216.34", "http://1572395042/"),
        ("api.example.com", "http://api.example.com#@127.0.0.1/"),
        ("api.example.com", "http://api.example.com?@127.0.0.1/"),
    ],
)
def test_a_declared_host_is_allowed(declared: str, url: str) -> None:
    assert refusal(reach(declared), url) is None


@pytest.mark.parametrize(
    ("declared", "url"),
    [
        ("api.example.com", "https://example.com/"),
        ("api.example.com", "https://evil-api.example.com/"),
        ("api.example.com", "https://api.example.com.evil.com/"),
        ("api.example.com", "https://xapi.example.com/"),
        ("api.example.com", "https://a.api.example.com/"),
        ("api.example.com", "https://api.example.com:8443/"),
        ("api.example.com", "http://api.example.com:443/"),
        ("api.example.com", "https://api.example.com:80/"),
        ("api.example.com", "https://api-example.com/"),
        ("api.example.com:8443", "https://api.example.com/"),
        ("*.example.com", "https://example.com/"),
        ("*.example.com", "https://evilexample.com/"),
        ("*.example.com", "https://a.example.com.evil.com/"),
        ("*.example.com", "https://a.example.com:8080/"),
        ("example.com", "https://еxample.com/"),
        ("api.example.com", "http://127.0.0.1#@api.example.com/"),
        ("api.example.com", "http://127.0.0.1?@api.example.com/"),
        ("api.example.com", "http://127.0.0.1/@api.example.com/"),
        ("api.example.com", "http://evil.com#.api.example.com/"),
        ("127.0.0.1:8080", "http://127.0.0.1:8081/"),
        ("127.0.0.1:8080", "http://127.0.0.2:8080/"),
        ("127.0.0.1:8080", "http://localhost:8080/"),
        ("localhost:8080", "http://127.0.0.1:8080/"),
        ("localhost:8080", "http://a.localhost:8080/"),
    ],
)
def test_any_other_host_is_not_declared(declared: str, url: str) -> None:
    assert refusal(reach(declared), url) == "host_not_declared"


def test_without_declared_hosts_nothing_is_reached() -> None:
    assert refusal(reach(), "https://example.com/") == "host_not_declared"


@pytest.mark.parametrize(
    "url",
    [
        "http://good@127.0.0.1/",
        "http://good.com:80@127.0.0.1/",
        "http://good.com\\@127.0.0.1/",
        "http://good.com%40127.0.0.1/",
        "http://127.0.0.1%23@good.com/",
        "http://127.0.0.1\\.good.com/",
        "http://good.com\\/",
        "http:\\\\127.0.0.1/",
        "http://127.0.0.1%2f.good.com/",
        "http://%31%32%37.0.0.1/",
        "http://loc%61lhost/",
        "http://１２７.0.0.1/",
        "http://good.com\r\nHost: evil/",
        "http://good.com\t/",
        "http://good..com/",
        "http://256.256.256.256/",
        "http://0177.0.0.1.5/",
        "http://1.2.3.4.5/",
        "http://[::1%25lo]/",
        "http://[fe80::1%25eth0]/",
        "http://[::1]@good.com/",
        "http://[127.0.0.1]/",
        "http://[::1/",
        "http:///path",
        "http://",
        "http://:80/",
        "//good.com/",
        "good.com",
        "/path",
        "http://good.com:0/",
        "http://good.com:65536/",
        "http://good.com:-80/",
        "http://good.com:99999999999/",
        "http://good.com:80:80/",
        "ftp://good.com/",
        "file:///etc/passwd",
        "gopher://good.com/",
        "ws://good.com/",
        "unix:///run/docker.sock",
        "http+unix://%2Frun%2Fdocker.sock/",
        "data:text/plain,x",
        "javascript:alert(1)",
    ],
)
def test_a_url_with_a_trick_in_it_is_no_url(url: str) -> None:
    assert refusal(reach("*"), url) == "bad_url"


NOT_PUBLIC = [
    "http://127.0.0.1/",
    "http://127.0.0.1:22/",
    "http://127.1/",
    "http://2130706433/",
    "http://0177.1/",
    "http://0x7f.1/",
    "http://0x7f000001/",
    "http://127.0.0.1./",
    "http://127。0。0。1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://0x0/",
    "http://localhost/",
    "http://localhost./",
    "http://LocalHost:8080/",
    "http://a.localhost/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:169.254.169.254]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://169.254.43518/",
    "http://2852039166/",
    "http://10.0.0.1/",
    "http://192.168.1.1/",
    "http://172.16.0.1/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[ff02::1]/",
]


@pytest.mark.parametrize("url", NOT_PUBLIC)
def test_any_host_means_any_public_host(url: str) -> None:
    assert refusal(reach("*"), url) == "address_refused"


@pytest.mark.parametrize("url", NOT_PUBLIC)
def test_a_private_host_that_the_operator_lists_does_not_open_the_others(url: str) -> None:
    assert refusal(reach("*", private=("10.9.9.9", "intranet.example", "192.168.77.0/24")), url) == "address_refused"


@pytest.mark.parametrize(
    ("listed", "url"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
        ("127.0.0.1:8080", "http://127.1:8080/"),
        ("127.0.0.1", "http://127.0.0.1:9999/"),
        ("127.0.0.0/8", "http://127.5.5.5:9999/"),
        ("10.1.0.0/16", "http://10.1.2.3/"),
        ("::1", "http://[::1]:80/"),
        ("fd00::/8", "http://[fd12::1]/"),
        ("localhost", "http://localhost:1234/"),
        ("localhost:1234", "http://localhost:1234/"),
        ("127.0.0.1", "http://localhost:1234/"),
        ("169.254.0.0/16", "http://169.254.169.254/"),
    ],
)
def test_the_operator_can_list_private_addresses(listed: str, url: str) -> None:
    assert refusal(reach("*", private=(listed,)), url) is None
    assert refusal(reach("api.example.com", private=(listed,)), url) == "host_not_declared"


@pytest.mark.parametrize(
    ("listed", "url"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8081/"),
        ("127.0.0.1:8080", "http://127.0.0.2:8080/"),
        ("10.1.0.0/16", "http://10.2.0.1/"),
        ("100.64.0.0/10", "http://100.100.100.200/"),
        ("fd00::/8", "http://[fd00:ec2::254]/"),
        ("localhost:1234", "http://localhost:1235/"),
    ],
)
def test_only_what_is_listed_is_allowed(listed: str, url: str) -> None:
    assert refusal(reach("*", private=(listed,)), url) == "address_refused"


@pytest.mark.parametrize(
    ("allowed", "host", "addresses", "is_refused"),
    [
        (reach("api.example.com"), "api.example.com", ["93.184.216.34"], False),
        (reach("api.example.com"), "api.example.com", ["10.0.0.1"], True),
        (reach("api.example.com"), "api.example.com", ["93.184.216.34", "10.0.0.1"], True),
        (reach("api.example.com"), "api.example.com", ["169.254.169.254"], True),
        (reach("api.example.com"), "api.example.com", ["fe80::1"], True),
        (reach("*"), "a.example", ["::1"], True),
        (reach("*"), "localhost", ["127.0.0.1"], True),
        (reach("localhost:80"), "localhost", ["127.0.0.1", "::1"], False),
        (reach("localhost:80"), "localhost", ["10.0.0.1"], True),
        (reach("localhost:80"), "localhost", ["169.254.169.254"], True),
        (reach("*", private=("wiki.corp",)), "wiki.corp", ["10.0.0.1"], False),
        (reach("*", private=("wiki.corp:80",)), "wiki.corp", ["10.0.0.1"], False),
        (reach("*", private=("wiki.corp:81",)), "wiki.corp", ["10.0.0.1"], True),
        (reach("*", private=("*.corp",)), "wiki.corp", ["10.0.0.1"], False),
        (reach("*", private=("wiki.corp",)), "wiki.corp", ["169.254.169.254"], True),
        (reach("*", private=("wiki.corp",)), "other.corp", ["10.0.0.1"], True),
        (reach("*", private=("10.0.0.0/8",)), "wiki.corp", ["10.0.0.1"], False),
        (reach("*", private=("10.0.0.0/8",)), "wiki.corp", ["10.0.0.1", "192.168.0.1"], True),
        (reach("api.example.com", url="http://hog.corp"), "hog.corp", ["10.0.0.1"], False),
        (reach("api.example.com", url="http://hog.corp"), "hog.corp", ["169.254.169.254"], True),
        (reach("api.example.com", url="http://hog.corp:81"), "hog.corp", ["10.0.0.1"], True),
    ],
)
def test_every_address_of_a_name_has_to_be_allowed(
    allowed: Reach, host: str, addresses: list[str], is_refused: bool
) -> None:
    found = [ip_address(text) for text in addresses]
    if not is_refused:
        allowed.admit(host, 80, found)
        return
    with pytest.raises(ToolFailure) as caught:
        allowed.admit(host, 80, found)
    assert caught.value.code == "address_refused"
    # Somebody who asks for names until they know a network learns no address.
    assert not any(text in str(caught.value) for text in addresses)


def test_the_operators_url_takes_the_place_of_the_declared_hosts() -> None:
    moved = reach("api.example.com", "other.example.com", url="http://127.0.0.1:8080/base")
    assert refusal(moved, "http://127.0.0.1:8080/x") is None
    assert refusal(moved, "https://api.example.com/") == "host_not_declared"
    assert refusal(moved, "http://127.0.0.1:8081/") == "host_not_declared"
    assert refusal(moved, "http://127.0.0.2:8080/") == "host_not_declared"


@pytest.mark.parametrize("url", ["ftp://x", "127.0.0.1:80", "http://", "https://user:hunter2@example.com"])
def test_a_url_the_operator_got_wrong_is_explained_without_showing_it(url: str) -> None:
    with pytest.raises(ToolFailure, match="operator") as caught:
        reach("api.example.com", url=url)
    assert caught.value.code == "bad_setting"
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("listed", ["*", "10.0.0.0/99", "http://x/", "a b", "x:0", ""])
def test_a_wrong_private_entry_allows_nothing(listed: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        reach("*", private=(listed,))
    assert caught.value.code == "bad_setting"


@pytest.mark.parametrize("declared", ["https://x", "x:y", "x:99999", "*.127.0.0.1", "a/b", "u@h", "*.*", "a.*.com", ""])
def test_a_host_that_cannot_be_is_the_authors_mistake(declared: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        reach(declared)
    assert caught.value.code == "bad_host"


@pytest.mark.parametrize(
    ("domain", "url", "within"),
    [
        ("example.com", "https://example.com/", True),
        ("example.com", "https://www.example.com/", True),
        ("example.com", "http://example.com/", True),
        ("Example.com.", "https://EXAMPLE.com/", True),
        ("*.example.com", "https://www.example.com/", True),
        ("*.example.com", "https://example.com/", False),
        ("example.com", "https://badexample.com/", False),
        ("example.com", "https://example.com.evil.org/", False),
        ("example.com", "https://example.com:8443/", False),
        ("example.com:8443", "https://www.example.com:8443/", True),
        ("example.com:8443", "https://example.com/", False),
        ("93.184.216.34", "http://93.184.216.34/", True),
        ("184.216.34", "http://93.184.216.34/", False),
        ("*", "https://anything.example/", True),
    ],
)
def test_a_domain_stands_for_its_subdomains(tmp_path: Path, domain: str, url: str, within: bool) -> None:
    assert (
        ToolContext(workspace=tmp_path, hosts=("*",), network=GuardedNetwork).destination(url).within([domain])
        is within
    )


def test_a_context_says_where_a_url_leads(tmp_path: Path) -> None:
    context = ToolContext(workspace=tmp_path, hosts=("*.example.com",), network=GuardedNetwork)
    found = context.destination("https://A.Example.com.:443/x?y#z")
    assert (found.host, found.port, found.netloc) == ("a.example.com", 443, "a.example.com")
    for url, code in (("https://other.org", "host_not_declared"), ("http://[", "bad_url"), ("x" * 70_000, "bad_url")):
        with pytest.raises(ToolFailure) as caught:
            context.destination(url)
        assert caught.value.code == code


@pytest.mark.parametrize("listed", ["10.0.0.0/0", "0.0.0.0/0", "10.0.0.1/8", "::/0", "8.0.0.0/8", "", ":99999", "a/b"])
def test_a_listed_place_that_opens_more_than_is_meant_opens_nothing(listed: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        reach("*", private=(listed,))
    assert caught.value.code == "bad_setting"
