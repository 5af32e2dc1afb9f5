"""Which servers a tool may reach: what its contract declares, within what the operator allows.

Two questions are asked of every request. Is the host declared? That is answered from the URL. Is each
address it leads to allowed? That is answered when the connection is made, for the very address that is
connected to, so that a name cannot answer differently in between. A name leads to public
addresses only, unless the operator says otherwise; one address that is not allowed refuses them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import TYPE_CHECKING

from coilclaw.net.addresses import Address, canonical_host, is_local_network, is_private_network, kind_of
from coilclaw.sdk import Bounds, ToolFailure

if TYPE_CHECKING:
    import httpx

__all__ = [
    "BadReach",
    "Destination",
    "HostPattern",
    "Reach",
    "make_reach",
    "parsed",
    "read_domain",
    "read_pattern",
    "read_private",
]

_DEFAULT_PORTS = {"http": 80, "https": 443}
_LOOPBACK = IPv4Address("127.0.0.1")


@dataclass(frozen=True, kw_only=True)
class Destination:
    """Where a URL leads, with its host in one form."""

    scheme: str
    host: str | Address
    port: int

    @property
    def has_default_port(self) -> bool:
        return self.port == _DEFAULT_PORTS[self.scheme]

    @property
    def netloc(self) -> str:
        """The host as a URL and the Host header have it, with the port unless it is the scheme's own."""
        host = f"[{self.host}]" if isinstance(self.host, IPv6Address) else str(self.host)
        return host if self.has_default_port else f"{host}:{self.port}"

    def is_place_of(self, other: Destination) -> bool:
        """Whether what was meant for the other may go here: the same server, or the same one now encrypted."""
        if self.host != other.host:
            return False
        upgraded = self.scheme == "https" and self.has_default_port and other.has_default_port
        return upgraded or (self.scheme, self.port) == (other.scheme, other.port)

    def within(self, domains: Iterable[str]) -> bool:
        """Whether the operator lists this host: a domain stands for its subdomains too, on the default port."""
        return any(_domain(text).covers(self) for text in domains)


@dataclass(frozen=True, kw_only=True)
class HostPattern:
    """One entry of a list of hosts: `host`, `host:port`, `*.host`, or `*` for any."""

    host: str | Address | None
    port: int | None = None
    subdomains: bool = False
    itself: bool = True

    def names(self, host: str | Address) -> bool:
        if self.host is None or (self.itself and host == self.host):
            return True
        return self.subdomains and isinstance(host, str) and host.endswith(f".{self.host}")

    def covers(self, destination: Destination) -> bool:
        """Whether this is one of the servers meant. Without a port, the scheme's own is meant; `*` means any."""
        if self.port is not None:
            return self.port == destination.port and self.names(destination.host)
        return self.names(destination.host) and (self.host is None or destination.has_default_port)


def read_pattern(text: str) -> HostPattern:
    """Raises ValueError when the text is not a host."""
    if text == "*":
        return HostPattern(host=None)
    if "/" in text or "@" in text:
        raise ValueError(f"{text!r} is not a host, host:port or *.host")
    below = text.startswith("*.")
    host, port = _divided(text.removeprefix("*."))
    found = canonical_host(host)
    if below and not isinstance(found, str):
        raise ValueError(f"{text!r}: an address has no subdomains")
    return HostPattern(host=found, port=port, subdomains=below, itself=not below)


def _divided(text: str) -> tuple[str, int | None]:
    host, colon, port = text.rpartition(":")
    if not colon or (":" in host and not host.endswith("]")):
        return text, None  # No port; or an IPv6 address without brackets.
    if text.endswith("]"):
        return text, None
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"{text!r}: {port!r} is not a port")
    return host, int(port)


def _domain(text: str) -> HostPattern:
    try:
        return read_domain(text)
    except ValueError as error:
        raise _bad_setting("http_domains", error) from None


def read_domain(text: str) -> HostPattern:
    """Read an entry of `http_domains`, which stands for its subdomains too. Raises ValueError.

    A name without a dot stands for itself alone: below `org` is half the internet.
    """
    pattern = read_pattern(text)
    is_whole = isinstance(pattern.host, str) and (pattern.host == "localhost" or "." in pattern.host)
    if not pattern.itself and not is_whole:
        raise BadReach("a whole top-level domain is more than anybody means")
    return replace(pattern, subdomains=is_whole)


class BadReach(ValueError):
    """An entry that can be read but would open more than anybody means. The message does not repeat it."""


def read_private(text: str) -> HostPattern | IPv4Network | IPv6Network:
    """Read an entry of `http_private`: a host or a network. Raises ValueError."""
    if "/" not in text:
        pattern = read_pattern(text)
        if pattern.host is None:
            raise BadReach("'*' would allow every private address")
        if not isinstance(pattern.host, str):
            _check_not_public(pattern.host)
        return pattern
    network = ip_network(text, strict=False)
    if network.network_address != ip_network(text.partition("/")[0]).network_address:
        raise BadReach(f"the address is not the first one of its network, which is {network}")
    if network.num_addresses > 1 and not (is_private_network(network) or is_local_network(network)):
        raise BadReach("the network reaches beyond the private addresses")
    _check_not_public(network.network_address)
    return network


def _check_not_public(address: Address) -> None:
    if kind_of(address) == "public":
        raise BadReach("this address is public; http_domains is the list of public servers")


def _bad_setting(key: str, error: ValueError) -> ToolFailure:
    return ToolFailure(
        f"the operator's setting {key} cannot be used: {error}",
        code="bad_setting",
        hint="the operator corrects it in config.toml",
    )


@dataclass(frozen=True, kw_only=True)
class Reach:
    """What one tool may reach in one call."""

    declared: tuple[HostPattern, ...]
    shown: str
    """The declared hosts as they were written, for messages."""
    moved: bool = False
    """The operator put another server in the place of the declared ones, and may have meant a private one."""
    private_hosts: tuple[HostPattern, ...] = ()
    private_networks: tuple[IPv4Network | IPv6Network, ...] = ()

    def destination(self, url: httpx.URL) -> Destination:
        """Where the URL leads, if the contract declares it. What only a look-up can tell is not asked here."""
        found = parsed(url)
        if not any(pattern.covers(found) for pattern in self.declared):
            change = "the operator changes `url`" if self.moved else f"the tool's author adds hosts=[{found.netloc!r}]"
            raise ToolFailure(
                f"host {found.netloc!r} is not declared by this tool (declared: {self.shown})",
                code="host_not_declared",
                hint=f"use a declared host, or {change}",
            )
        if not isinstance(found.host, str):
            self.admit(found.host, found.port, [found.host])
        elif found.host == "localhost" or found.host.endswith(".localhost"):
            self.admit(found.host, found.port, [_LOOPBACK])
        return found

    def admit(self, host: str | Address, port: int, addresses: Iterable[Address]) -> None:
        """Refuse the host if one of its addresses is not allowed."""
        for address in addresses:
            if kind_of(address) != "public" and not self._allows(host, port, address):
                # The address itself stays out of the message: a model could ask for names until it knows a network.
                text = f"[{host}]" if isinstance(host, IPv6Address) else str(host)
                raise ToolFailure(
                    f"{text!r} is not on the public internet, and this tool reaches nothing else",
                    code="address_refused",
                    hint=f'use a public server; the operator may allow this one: http_private = ["{text}:{port}"]',
                )

    def _allows(self, host: str | Address, port: int, address: Address) -> bool:
        is_private = kind_of(address) == "private"
        for network in self.private_networks:
            # Inside a private range there are addresses of another kind, such as the metadata service of a cloud.
            meant = is_private or network.num_addresses == 1 or is_local_network(network)
            if meant and address in network:
                return True
        for pattern in self.private_hosts:
            if pattern.port in (None, port) and (pattern.names(address) or (is_private and pattern.names(host))):
                return True
        for pattern in self.declared:
            if pattern.host is None or pattern.port not in (None, port) or not pattern.names(host):
                continue
            if pattern.host == address or (pattern.host == "localhost" and address.is_loopback):
                return True
            if self.moved and is_private:
                return True
        return False


def parsed(url: httpx.URL) -> Destination:
    """Where a URL leads, whether or not anybody may go there."""
    if url.scheme not in _DEFAULT_PORTS:
        if not url.scheme:
            text = str(url)[:200]
            full = f"https://{text.lstrip('/')}" if text.strip("/") else "https://, a host and a path"
            raise ToolFailure(f"{text!r} is not a full address; write {full}", code="bad_url")
        raise ToolFailure(f"{url.scheme!r}: only http and https are possible", code="bad_url")
    if url.userinfo:
        raise ToolFailure("a URL with a user name in it is refused", code="bad_url", hint="send a header instead")
    try:
        host = canonical_host(url.raw_host.decode("ascii"))
    except ValueError as error:
        raise ToolFailure(str(error), code="bad_url") from None
    port = _DEFAULT_PORTS[url.scheme] if url.port is None else url.port
    if not 0 < port < 65536:
        raise ToolFailure(f"{port} is not a port", code="bad_url")
    return Destination(scheme=url.scheme, host=host, port=port)


def make_reach(hosts: tuple[str, ...], bounds: Bounds, settings: Mapping[str, str]) -> Reach:
    """Put together what the contract declares and what the operator says."""
    private_hosts: list[HostPattern] = []
    networks: list[IPv4Network | IPv6Network] = []
    for text in bounds.http_private:
        try:
            found = read_private(text)
        except ValueError as error:
            raise _bad_setting("http_private", error) from None
        if isinstance(found, HostPattern):
            private_hosts.append(found)
        else:
            networks.append(found)
    url = settings.get("url")
    if url:
        declared: tuple[HostPattern, ...] = (_moved_to(url),)
        shown = "the server that the operator set"
    else:
        try:
            declared = tuple(read_pattern(text) for text in hosts)
        except ValueError as error:
            raise ToolFailure(
                f"the tool declares a host that cannot be: {error}",
                code="bad_host",
                hint="the tool's author corrects hosts=[…]",
            ) from None
        shown = ", ".join(hosts) or "none"
    return Reach(
        declared=declared,
        shown=shown,
        moved=bool(url),
        private_hosts=tuple(private_hosts),
        private_networks=tuple(networks),
    )


def _moved_to(url: str) -> HostPattern:
    import httpx

    try:
        place = parsed(httpx.URL(url))
    except (ToolFailure, httpx.InvalidURL) as error:
        raise _bad_setting("url", ValueError(str(error))) from None
    return HostPattern(host=place.host, port=place.port)
