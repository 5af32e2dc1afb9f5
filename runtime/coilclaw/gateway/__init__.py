"""The gateway: one HTTP server over one app, for browsers, programs and other agents."""

from coilclaw.gateway.address import Address
from coilclaw.gateway.application import make_application
from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.errors import ApiError
from coilclaw.gateway.gateway import Gateway
from coilclaw.gateway.principal import Principal, Scope
from coilclaw.gateway.server import Server, bound_socket

__all__ = [
    "Address",
    "ApiCall",
    "ApiError",
    "Endpoint",
    "Gateway",
    "NoBody",
    "NoQuery",
    "Principal",
    "Scope",
    "Server",
    "bound_socket",
    "make_application",
]
