"""Where a server is reached: the names, origins and cookie that are its own, and no others."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from ipaddress import ip_address
from typing import Final

from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen

__all__ = ["Address", "is_loopback"]

_EVERYWHERE: Final = ("0.0.0.0", "::", "")  # noqa: S104
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?", re.ASCII)
_DEFAULT_PORT: Final = {"http": 80, "https": 443}


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host."""
    if host == "localhost":
        return True
    try:
        found = ip_address(host)
    except ValueError:
        return False
    return found.is_loopback or bool(getattr(found, "ipv4_mapped", None) and found.ipv4_mapped.is_loopback)  # type: ignore[union-attr]


class Address(Frozen):
    """The bound address, and the public names that lead to it."""

    host: str = "127.0.0.1"
    port: int
    has_tls: bool = False
    """Whether the server itself speaks TLS."""
    is_behind_proxy: bool = False
    """Whether a proxy that speaks TLS stands in front."""
    public_names: tuple[str, ...] = ()
    """Names, with a port unless it is the usual one, under which browsers reach the server over HTTPS."""

    def check(self) -> None:
        """Raise OperatorError for an address that would send secrets in the clear, or that nobody could use."""
        is_local = is_loopback(self.host)
        if not is_local and not self.is_secure:
            raise OperatorError(
                f"{self.host} is reached from other machines, and without TLS everybody on the way reads along",
                hint="give --tls-cert and --tls-key, or say --behind-proxy if a proxy in front speaks HTTPS",
            )
        if self.has_tls and self.is_behind_proxy:
            raise OperatorError("either the server speaks TLS or a proxy in front of it", hint="leave one of them out")
        if self.public_names and not self.is_secure:
            raise OperatorError("a public name is reached over HTTPS", hint="add --behind-proxy, or TLS files")
        if not self.public_names and (self.is_behind_proxy or self.host in _EVERYWHERE):
            raise OperatorError("requests are only taken for known names", hint="add --public-name HOST[:PORT]")
        for name in self.public_names:
            if not _NAME.fullmatch(name):
                raise OperatorError(f"{name[:100]!r} is not a name of a host", hint="write HOST or HOST:PORT")

    def at_port(self, port: int) -> Address:
        """Return the same address with the port that was bound."""
        return replace(self, port=port)

    @property
    def scheme(self) -> str:
        """The scheme that the server itself speaks."""
        return "https" if self.has_tls else "http"

    @cached_property
    def url(self) -> str:
        """Where this machine reaches the server, without a slash at the end."""
        return f"{self.scheme}://{_with_port(self._local_names[0], self.port, self.scheme)}"

    @cached_property
    def public_url(self) -> str:
        """Where a browser reaches the server."""
        return f"https://{self.public_names[0]}" if self.public_names else self.url

    @cached_property
    def hosts(self) -> frozenset[str]:
        """What a request's `Host` may be, port included."""
        own = {_with_port(name, self.port, self.scheme) for name in self._local_names}
        return frozenset({*own, *(name.lower() for name in self.public_names)})

    @cached_property
    def origins(self) -> frozenset[str]:
        """What a request's `Origin` may be: a page of this server, and no other."""
        own = {f"{self.scheme}://{_with_port(name, self.port, self.scheme)}" for name in self._local_names}
        return frozenset({*own, *(f"https://{name.lower()}" for name in self.public_names)})

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach it over HTTPS."""
        return self.has_tls or self.is_behind_proxy

    @property
    def cookie_name(self) -> str:
        """The session's cookie. Cookies know no ports, so that servers on two ports would take each other's."""
        return "__Host-coilclaw-session" if self.is_secure else f"coilclaw-session-{self.port}"

    @cached_property
    def _local_names(self) -> tuple[str, ...]:
        loopback = ("127.0.0.1", "localhost", "[::1]")
        host = f"[{self.host}]" if ":" in self.host else self.host.lower()
        if self.host in _EVERYWHERE:
            return loopback
        return (host, *(name for name in loopback if name != host)) if is_loopback(self.host) else (host,)


def _with_port(name: str, port: int, scheme: str) -> str:
    """As browsers write it: without the usual port."""
    return name if port == _DEFAULT_PORT[scheme] else f"{name}:{port}"
