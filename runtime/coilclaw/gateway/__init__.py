"""The gateway: one HTTP server over one app, for browsers, programs and other agents."""

from coilclaw.gateway.application import make_application
from coilclaw.gateway.endpoint import ApiCall, Endpoint, NoBody, NoQuery
from coilclaw.gateway.errors import ApiError
from coilclaw.gateway.gateway import Gateway
from coilclaw.gateway.principal import Principal, Scope

__all__ = [
    "ApiCall",
    "ApiError",
    "Endpoint",
    "Gateway",
    "NoBody",
    "NoQuery",
    "Principal",
    "Scope",
    "make_application",
]
