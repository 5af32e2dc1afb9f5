"""Runs of a home: finding them, showing them again, cancelling them."""

from __future__ import annotations

from collections.abc import Callable

from coilclaw.app.stores import Stores
from coilclaw.runs import RunRecord, cancel_run, find_run

__all__ = ["Runs"]


class Runs:
    """Every run of a home that left a journal, whichever process it belongs to."""

    def __init__(self, stores: Stores, cancel_here: Callable[[str], bool]) -> None:
        self._stores = stores
        self._cancel_here = cancel_here

    def find(self, run_id: str) -> RunRecord:
        """How a run stands. Raises NoSuchRun."""
        return find_run(self._stores.database, run_id)

    def cancel(self, run_id: str, *, by: str) -> None:
        """Cancel a run: one that is under way here as soon as it can be ended, a suspended one at once.

        Raises NotCancellable for a run that is over, or under way in another process.
        """
        if not self._cancel_here(run_id):
            stores = self._stores
            cancel_run(stores.database, stores.log, stores.approvals, run_id, decided_by=by)
