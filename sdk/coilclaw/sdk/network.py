"""What a `ToolContext` reaches servers with. The app provides it; the SDK itself opens no connection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

    import httpx

__all__ = ["Destination", "Network"]


class Destination(Protocol):
    """Where a URL leads, with its host in one form."""

    @property
    def scheme(self) -> str: ...
    @property
    def host(self) -> str | IPv4Address | IPv6Address: ...
    @property
    def port(self) -> int: ...
    @property
    def netloc(self) -> str:
        """The host as a URL has it, with the port unless it is the scheme's own."""
        ...

    def is_place_of(self, other: Any, /) -> bool:
        """Whether what was meant for the other may go here: the same server, or the same one now encrypted."""
        ...

    def within(self, domains: Iterable[str]) -> bool:
        """Whether the operator lists this host: a domain stands for its subdomains too, on the default port."""
        ...


class Network(Protocol):
    """The servers that one call may reach, and how."""

    def client(self) -> httpx.Client:
        """Return a new client for a plain handler."""
        ...

    def async_client(self) -> httpx.AsyncClient:
        """Return a new client for an async handler."""
        ...

    def destination(self, url: str) -> Destination:
        """Return where a URL leads. Raises ToolFailure if the tool may not go there."""
        ...
