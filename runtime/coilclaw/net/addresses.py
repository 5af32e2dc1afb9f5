"""What a host in a URL is, whatever it is written like, and what kind of address it leads to.

An address has many spellings (`127.1`, `0x7f000001`, `[::ffff:127.0.0.1]`), and a check that knows one of
them is no check. Hosts are brought into one form here before anything is compared.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final, Literal, TypeAlias

__all__ = ["Address", "Kind", "canonical_host", "is_local_network", "is_private_network", "kind_of", "read_address"]

Address: TypeAlias = IPv4Address | IPv6Address
Kind: TypeAlias = Literal["public", "private", "special"]
"""`private` is somebody's own network or machine; `special` is what no server is reached at: link-local
(where clouds keep their credentials), multicast, unspecified, documentation, tunnels, reserved."""

_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LONGEST_NAME: Final = 253

_PRIVATE_4: Final = tuple(
    map(IPv4Network, ("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
)
# Listed here and not asked of `ipaddress`, whose idea of a global address differs between Python releases.
_SPECIAL_4: Final = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "100.100.100.200/32",  # The metadata service of a cloud, inside a range that is otherwise private.
            "168.63.129.16/32",  # Another one's platform service, inside a range that is otherwise public.
            "169.254.0.0/16",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.31.196.0/24",
            "192.52.193.0/24",
            "192.88.99.0/24",
            "192.175.48.0/24",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
        ),
    )
)
_PRIVATE_6: Final = tuple(map(IPv6Network, ("::1/128", "fc00::/7")))
_METADATA_6: Final = IPv6Address("fd00:ec2::254")
_GLOBAL_6: Final = IPv6Network("2000::/3")
_SPECIAL_6: Final = tuple(
    map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"))
)
_LINK_LOCAL: Final = (IPv4Network("169.254.0.0/16"), IPv6Network("fe80::/10"))
_NAT64: Final = IPv6Network("64:ff9b::/96")


def canonical_host(text: str) -> str | Address:
    """The address a host spells in any way, or its name in lower-case ASCII. Raises ValueError for anything else."""
    plain = text if text.isascii() else _ascii(text)
    plain = plain.lower()
    if plain.startswith("[") and plain.endswith("]"):
        plain = plain[1:-1]
        if ":" not in plain:
            raise ValueError(f"{text!r} is not an IPv6 address")
    if ":" in plain:
        return read_address(plain)
    name = plain.removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        # No top-level domain is a number, so this is an address or nothing.
        return _ipv4(labels, text)
    if len(name) > _LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError(f"{text[:80]!r} is not a host name")
    return name


def _ascii(text: str) -> str:
    import unicodedata

    import idna

    try:
        # Full-width digits and ideographic full stops are what they look like.
        folded = unicodedata.normalize("NFKC", text).lower()
        return folded if folded.isascii() else idna.encode(folded).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise ValueError(f"{text[:80]!r} is not a host name") from None


def _ipv4(parts: list[str], text: str) -> IPv4Address:
    """One to four numbers, decimal, octal or hexadecimal; the last one fills all bytes that are left."""
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) and len(part) <= 40 for part in parts):
        raise ValueError(f"{text[:80]!r} is not a host")
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:
        raise ValueError(f"{text[:80]!r} is not a host") from None
    *front, last = numbers
    if any(number > 255 for number in front) or last >= 256 ** (5 - len(numbers)):
        raise ValueError(f"{text[:80]!r} is not an address")
    value = last
    for place, number in enumerate(front):
        value += number << (8 * (3 - place))
    return IPv4Address(value)


def _number(part: str) -> int:
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8) if len(part) > 1 and part.startswith("0") else int(part)


def read_address(text: str) -> Address:
    """A plain address; one of IPv4 that is wrapped for IPv6 counts as the IPv4 one. Raises ValueError."""
    try:
        if ":" not in text:
            return IPv4Address(text)
        address = IPv6Address(text)
    except ValueError:
        raise ValueError(f"{text[:80]!r} is not an address") from None
    if address.scope_id is not None:
        raise ValueError(f"{text[:80]!r} is an address of one network interface only")
    return address.ipv4_mapped or address


def kind_of(address: Address) -> Kind:
    """Whether an address is on the public internet, private, or special."""
    if isinstance(address, IPv4Address):
        if any(address in network for network in _SPECIAL_4):
            return "special"
        return "private" if any(address in network for network in _PRIVATE_4) else "public"
    if address.ipv4_mapped is not None:
        return kind_of(address.ipv4_mapped)
    if address in _NAT64:
        # Networks without IPv4 reach public IPv4 servers this way.
        return "public" if kind_of(IPv4Address(int(address) & 0xFFFFFFFF)) == "public" else "special"
    if address == _METADATA_6:
        return "special"
    if any(address in network for network in _PRIVATE_6):
        return "private"
    if address not in _GLOBAL_6 or any(address in network for network in _SPECIAL_6):
        return "special"
    return "public"


def is_private_network(network: IPv4Network | IPv6Network) -> bool:
    """Whether a network lies inside one that is somebody's own."""
    return _lies_in(network, (*_PRIVATE_4, *_PRIVATE_6))


def is_local_network(network: IPv4Network | IPv6Network) -> bool:
    """Whether a network lies inside one of the link-local ones."""
    return _lies_in(network, _LINK_LOCAL)


def _lies_in(network: IPv4Network | IPv6Network, ranges: tuple[IPv4Network | IPv6Network, ...]) -> bool:
    first, last = network.network_address, network.broadcast_address
    return any(first in each and last in each for each in ranges)
