"""Addresses, host rules, HTTP clients that keep to them, and server-sent events. httpx is imported for a request."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.net.fake_server import FakeServer, ReceivedRequest
    from coilclaw.net.hosts import BadReach, Destination, Reach, make_reach, read_domain, read_private
    from coilclaw.net.network import GuardedNetwork, RoutedNetwork
    from coilclaw.net.server_events import ServerEvent, ServerEventReader
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "fake_server": "FakeServer ReceivedRequest",
            "hosts": "BadReach Destination Reach make_reach read_domain read_private",
            "network": "GuardedNetwork RoutedNetwork",
            "server_events": "ServerEvent ServerEventReader",
        },
    )

__all__ = [
    "BadReach",
    "Destination",
    "FakeServer",
    "GuardedNetwork",
    "Reach",
    "ReceivedRequest",
    "RoutedNetwork",
    "ServerEvent",
    "ServerEventReader",
    "make_reach",
    "read_domain",
    "read_private",
]
