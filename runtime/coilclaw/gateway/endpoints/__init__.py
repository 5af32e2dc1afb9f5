"""The table of endpoints: one module for each subject."""

from typing import Final

from coilclaw.gateway.endpoint import Endpoint
from coilclaw.gateway.endpoints.approvals import APPROVALS
from coilclaw.gateway.endpoints.conversations import CONVERSATIONS
from coilclaw.gateway.endpoints.description import DESCRIPTION
from coilclaw.gateway.endpoints.events import EVENTS
from coilclaw.gateway.endpoints.health import HEALTH
from coilclaw.gateway.endpoints.inbox import INBOX
from coilclaw.gateway.endpoints.projects import PROJECTS
from coilclaw.gateway.endpoints.receipts import RECEIPTS
from coilclaw.gateway.endpoints.registry import REGISTRY
from coilclaw.gateway.endpoints.run_token import RUN_TOKEN
from coilclaw.gateway.endpoints.runs import RUNS
from coilclaw.gateway.endpoints.session import SESSION
from coilclaw.gateway.endpoints.status import STATUS

__all__ = ["ENDPOINTS"]

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *HEALTH,
    *SESSION,
    *RUN_TOKEN,
    *STATUS,
    *RUNS,
    *APPROVALS,
    *INBOX,
    *REGISTRY,
    *RECEIPTS,
    *EVENTS,
    *PROJECTS,
    *CONVERSATIONS,
    *DESCRIPTION,
)
