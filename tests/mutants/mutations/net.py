"""Mutations of the network."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_HOSTS: Final = "tests/net/test_hosts.py tests/net/test_addresses.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.net.hosts:Reach.destination",
        "if not any(pattern.covers(found) for pattern in self.declared):",
        "if not self.declared:",
        _HOSTS,
        "only declared hosts are reached",
    ),
    Mutation(
        "coilclaw.net.hosts:Reach.admit",
        'kind_of(address) != "public" and not self._allows(host, port, address)',
        "False",
        _HOSTS,
        "a declared name leads to public addresses only",
    ),
    Mutation(
        "coilclaw.net.hosts:HostPattern.names",
        'host.endswith(f".{self.host}")',
        "host.endswith(str(self.host))",
        _HOSTS,
        "a longer name is no subdomain",
    ),
    Mutation(
        "coilclaw.net.hosts:parsed",
        "if url.userinfo:",
        "if False:",
        _HOSTS,
        "a URL has no user name in it",
    ),
    Mutation(
        "coilclaw.net.hosts:Destination.is_place_of",
        "if self.host != other.host:",
        "if False:",
        "tests/net/test_destinations.py",
        "no credential follows to another server",
    ),
    Mutation(
        "coilclaw.net.addresses:kind_of",
        "return kind_of(address.ipv4_mapped)",
        'return "public"',
        _HOSTS,
        "an address in IPv6 clothes is the IPv4 one",
    ),
    Mutation(
        "coilclaw.net.addresses:_SPECIAL_4",
        '"169.254.0.0/16",',
        "",
        _HOSTS,
        "link-local addresses are not reached",
    ),
)
