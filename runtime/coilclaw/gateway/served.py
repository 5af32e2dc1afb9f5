"""Everything that a server answers: the API, and the pages of the web app."""

from typing import Final

from coilclaw.gateway.endpoint import Endpoint
from coilclaw.gateway.endpoints import ENDPOINTS
from coilclaw.gateway.web import PAGES

__all__ = ["SERVED"]

SERVED: Final[tuple[Endpoint, ...]] = (*ENDPOINTS, *PAGES)
