"""The runs that a client started. It sees these, and what belongs to them, and nothing else of the home."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coilclaw.app import NoSuchRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coilclaw.app import ApprovalRequest, CoilClaw, RunRecord
    from coilclaw.mcp_server.client import Client

__all__ = ["OwnRuns"]


class OwnRuns:
    """Finds runs by the conversation that they were started in."""

    def __init__(self, claw: CoilClaw) -> None:
        self._claw = claw

    def find(self, client: Client, run_id: str) -> RunRecord | None:
        """A run of this client, or None: a run of somebody else is not told from one that does not exist."""
        try:
            known = self._claw.runs.find(run_id)
        except NoSuchRun:
            return None
        return known if known.header.conversation_id == client.conversation else None

    def latest(self, client: Client, most: int) -> Sequence[RunRecord]:
        """The last runs of this client, newest first."""
        return list(self._claw.runs.of_conversation(client.conversation))[: -most - 1 : -1]

    def pending(self, client: Client) -> list[ApprovalRequest]:
        """What the runs of this client wait for, oldest first."""
        owned: dict[str, bool] = {}
        for each in (asked := self._claw.approvals.pending()):
            if each.run_id not in owned:
                owned[each.run_id] = self.find(client, each.run_id) is not None
        return [each for each in asked if owned[each.run_id]]
