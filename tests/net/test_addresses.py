"""Hosts in disguise, and which addresses are public."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coilclaw.net.addresses import canonical_host, kind_of, read_address

LOOPBACK = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "2130706433",
    "2130706433.",
    "017700000001",
    "0177.0.0.1",
    "0177.0.0.01",
    "00177.1",
    "0x7f000001",
    "0X7F000001",
    "0x7f.1",
    "0x7f.0.0.1",
    "0x7f.0x0.0x0.0x1",
    "127.0x1",
    "127.0.0x0.1",
    "0x7f.000.0.0x1",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::FFFF:127.0.0.1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[0000:0000:0000:0000:0000:ffff:7f00:0001]",
    "::ffff:127.0.0.1",
    "１２７.０.０.１",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "①②⑦.0.0.1",
    "𝟭𝟮𝟳.𝟬.𝟬.𝟭",
    "２１３０７０６４３３",
    "0ｘ7f.1",
]


@pytest.mark.parametrize("text", LOOPBACK)
def test_a_disguised_address_is_recognised(text: str) -> None:
    assert canonical_host(text) == IPv4Address("127.0.0.1")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0", "0.0.0.0"),
        ("0.0", "0.0.0.0"),
        ("0x0", "0.0.0.0"),
        ("0x", "0.0.0.0"),
        ("0.", "0.0.0.0"),
        ("4294967295", "255.255.255.255"),
        ("0xa9fea9fe", "169.254.169.254"),
        ("169.254.43518", "169.254.169.254"),
        ("169.16689662", "169.254.169.254"),
        ("0251.0376.0251.0376", "169.254.169.254"),
        ("0xA9.0xFE.0xA9.0xFE", "169.254.169.254"),
        ("10.1", "10.0.0.1"),
        ("0300.0250.1", "192.168.0.1"),
        ("[::1]", "::1"),
        ("[0:0:0:0:0:0:0:1]", "::1"),
        ("[::]", "::"),
        ("[::127.0.0.1]", "::7f00:1"),
        ("[FE80::1]", "fe80::1"),
        ("93.184.216.34", "93.184.216.34"),
    ],
)
def test_every_spelling_of_an_address_is_one_address(text: str, address: str) -> None:
    assert canonical_host(text) == ip_address(address)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("LOCALHOST.", "localhost"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("ｅｘａｍｐｌｅ.com", "example.com"),
        ("example。com", "example.com"),
        ("_dmarc.example.com", "_dmarc.example.com"),
        ("127.0.0.1.nip.io", "127.0.0.1.nip.io"),
        ("7f000001", "7f000001"),
        ("1.2.3.4a", "1.2.3.4a"),
    ],
)
def test_a_name_has_one_form(text: str, name: str) -> None:
    assert canonical_host(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        "example..com",
        ".example.com",
        "example.com..",
        "127.0.0.1..",
        "exa mple.com",
        "example.com\\",
        "127.0.0.1\\.example.com",
        "%31%32%37.0.0.1",
        "127.0.0.1%2f",
        "example.com%00",
        "exam\x00ple.com",
        "a" * 64 + ".com",
        "a." * 127 + "com",
        "-a.com",
        "a-.com",
        "256.0.0.1",
        "1.2.3.4.5",
        "1.2.3.256",
        "127.0.0.08",
        "4294967296",
        "0x100000000",
        "0xg.1",
        "foo.1",
        "1e3.5",
        "٣",
        "9" * 100,
        "[::1",
        "::1]",
        "[127.0.0.1]",
        "[::1%eth0]",
        "[fe80::1%25eth0]",
        "fe80::1%1",
        "[::ffff:0x7f.1]",
        "[v1.fe80]",
        "1:2:3",
        "good@127.0.0.1",
        "127.0.0.1#@good",
        "a/b",
        "a?b",
        "☃" * 70,
    ],
)
def test_what_is_neither_a_name_nor_an_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        canonical_host(text)


SPECIAL = [
    "0.0.0.0",
    "0.1.2.3",
    "169.254.169.254",
    "169.254.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::8.8.8.8",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80:dead::1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "4000::1",
]
PRIVATE = [
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "::1",
    "::ffff:10.0.0.1",
    "::ffff:192.168.1.1",
    "fc00::1",
    "fd12:3456::1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "192.167.255.255",
    "192.169.0.1",
    "223.255.255.255",
    "2606:2800:220:1:248:1893:25c8:1946",
    "2a00:1450::1",
    "64:ff9b::8.8.8.8",
    "::ffff:8.8.8.8",
]


@pytest.mark.parametrize("text", SPECIAL)
def test_an_address_no_server_is_reached_at_is_special(text: str) -> None:
    assert kind_of(ip_address(text)) == "special"


@pytest.mark.parametrize("text", PRIVATE)
def test_an_address_of_somebodys_own_network_is_private(text: str) -> None:
    assert kind_of(ip_address(text)) == "private"


@pytest.mark.parametrize("text", PUBLIC)
def test_any_other_address_is_public(text: str) -> None:
    assert kind_of(ip_address(text)) == "public"


@given(st.ip_addresses(v=4))
def test_nothing_python_calls_private_counts_as_public(address: IPv4Address) -> None:
    if not address.is_global or address.is_multicast:
        assert kind_of(address) != "public"


@given(st.ip_addresses(v=6))
def test_nothing_python_calls_private_counts_as_public_in_ipv6(address: IPv6Address) -> None:
    if address.ipv4_mapped is None and (not address.is_global or address.is_multicast):
        assert kind_of(address) != "public"


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_a_number_is_the_address_it_stands_for(value: int) -> None:
    expected = IPv4Address(value)
    a, b, c, d = expected.packed
    for text in (
        str(value),
        hex(value),
        f"0{value:o}",
        str(expected),
        f"{a}.{value & 0xFFFFFF}",
        f"{a:#x}.{b}.{c * 256 + d}",
    ):
        assert canonical_host(text) == expected


@given(st.text(max_size=40))
def test_any_text_becomes_a_clean_host_or_an_error(text: str) -> None:
    try:
        found = canonical_host(text)
    except ValueError:
        return
    if isinstance(found, str):
        assert found == canonical_host(found)
        assert not found.replace(".", "").isdigit()


def test_a_resolvers_answer_is_read_as_it_is() -> None:
    assert read_address("127.0.0.1") == IPv4Address("127.0.0.1")
    assert read_address("::ffff:10.0.0.1") == IPv4Address("10.0.0.1")
    for text in ("0177.0.0.1", "127.1", "fe80::1%eth0", "localhost", ""):
        with pytest.raises(ValueError):
            read_address(text)
