"""The table of endpoints: one module for each subject."""

from typing import Final

from coilclaw.gateway.endpoint import Endpoint
from coilclaw.gateway.endpoints.health import HEALTH
from coilclaw.gateway.endpoints.run_token import RUN_TOKEN
from coilclaw.gateway.endpoints.session import SESSION

__all__ = ["ENDPOINTS"]

ENDPOINTS: Final[tuple[Endpoint, ...]] = (*HEALTH, *SESSION, *RUN_TOKEN)
