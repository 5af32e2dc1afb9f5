"""The toolbox of a command, which tells on stderr why loading takes long."""

from __future__ import annotations

import os

from coilclaw.app.toolbox import Toolbox as AppToolbox
from coilclaw.app.toolbox import installed_registry
from coilclaw.cli.terminal import say
from coilclaw.config import Settings
from coilclaw.policy import Policy
from coilclaw.sdk.legible import one_line
from coilclaw.trust import TrustLedger

__all__ = ["Toolbox", "installed_registry"]


class Toolbox(AppToolbox):
    """Passes the command's environment."""

    def __init__(self, settings: Settings, ledger: TrustLedger | None, policy: Policy, *, record: bool = True) -> None:
        super().__init__(
            settings,
            ledger,
            policy,
            environment=os.environ,
            record=record,
            progress=lambda message: say(one_line(message), err=True),
        )
