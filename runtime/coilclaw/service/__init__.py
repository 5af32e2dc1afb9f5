"""The gateway as a service of this user: kept running by systemd or launchd, from login on."""

from coilclaw.service.choice import choose_supervisor
from coilclaw.service.definition import ServiceDefinition, service_name
from coilclaw.service.errors import NoSupervisor, ServiceFailed
from coilclaw.service.supervisor import ServiceState, Supervisor

__all__ = [
    "NoSupervisor",
    "ServiceDefinition",
    "ServiceFailed",
    "ServiceState",
    "Supervisor",
    "choose_supervisor",
    "service_name",
]
