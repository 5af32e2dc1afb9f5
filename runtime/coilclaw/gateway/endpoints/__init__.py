"""The table of endpoints: one module for each subject."""

from typing import Final

from coilclaw.gateway.endpoint import Endpoint
from coilclaw.gateway.endpoints.health import HEALTH

__all__ = ["ENDPOINTS"]

ENDPOINTS: Final[tuple[Endpoint, ...]] = (*HEALTH,)
