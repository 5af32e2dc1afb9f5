"""Runs of a home: finding them, showing them again, cancelling them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Final, get_args

from coilclaw.app.arguments import check
from coilclaw.app.errors import BadArgument
from coilclaw.app.report import report_so_far, reported, run_activity, run_evidence
from coilclaw.runs import (
    NoSuchRun,
    NotCancellable,
    NotResumable,
    cancel_run,
    count_runs,
    find_run,
    list_runs,
    report_of,
    runs_of_conversation,
)
from coilclaw.sdk import RunStatus

if TYPE_CHECKING:
    from coilclaw.app.composition import Composition
    from coilclaw.app.report import Report, RunEvidence
    from coilclaw.memory import SopRuns
    from coilclaw.runs import RunPage, RunRecord
    from coilclaw.sdk import ActivityItem, Receipt

__all__ = ["Runs"]

_STATES: Final = ("orphaned", *get_args(RunStatus))


class Runs:
    """Every run of a home that left a journal, whichever process it belongs to."""

    def __init__(self, parts: Composition, cancel_here: Callable[[str], bool]) -> None:
        self._parts = parts
        self._cancel_here = cancel_here

    @cached_property
    def sops(self) -> SopRuns:
        """Runs of SOPs, and what each of their steps gave."""
        from coilclaw.memory import SopRuns
        from coilclaw.trust import is_running, this_process

        parts = self._parts
        return SopRuns(parts.stores.database, this_process(), is_running, redaction=parts.redaction)

    def list(self, *, status: str | None = None, limit: int = 50, cursor: str | None = None) -> RunPage:
        """Runs, newest first: all of them, or those in one state. The page's `cursor` is that of the next page.

        The states are those of a report, and `orphaned` for a run whose process ended before the run did.
        """
        if status is not None and status not in _STATES:
            raise BadArgument(f"`status` is one of {', '.join(_STATES)}")
        check(limit=limit, cursor=cursor)
        database = self._parts.stores.database
        return list_runs(database, status=status, limit=limit, cursor=cursor)

    def counts(self) -> Mapping[str, int]:
        """How many runs there are in each status."""
        return count_runs(self._parts.stores.database)

    def find(self, run_id: str) -> RunRecord:
        """How a run stands. Raises NoSuchRun."""
        check(run_id=run_id)
        return find_run(self._parts.stores.database, run_id)

    def show(self, run_id: str) -> Report:
        """The report of a run as it was when it ended or was suspended. Raises NoSuchRun."""
        known, stores = self.find(run_id), self._parts.stores
        kept = report_of(stores.database, stores.log, run_id)
        return report_so_far(stores, known) if kept is None else reported(stores, kept)

    def source(self, run_id: str) -> str | None:
        """The source of a run; None for a direct call, and if it is no longer kept."""
        known = self.find(run_id)
        body = self._parts.stores.log.contents(known.header.code_hash) if known.header.kind == "snippet" else None
        return None if body is None else body.decode(errors="replace")

    def is_confirmed(self, run: RunRecord) -> bool:
        """Whether the receipts of a run say the same as its row: what it is, whose it is, and how it stands."""
        from coilclaw.runs import is_confirmed  # Whoever only lists runs reads no history.

        return is_confirmed(self._parts.stores.log, run)

    def of_conversation(self, conversation: str, *, after: str = "") -> Sequence[RunRecord]:
        """The runs of a conversation, oldest first, as the table of runs has them; with `after`, those that began after
        that run. `receipts_of_conversation` has what they did, whatever became of the table."""
        check(conversation=conversation)
        return runs_of_conversation(self._parts.stores.database, conversation, after=after)

    def activity(self, run: RunRecord | str) -> tuple[ActivityItem, ...]:
        """What a run did so far, from its receipts: one item for each call, in the order of issue."""
        return run_activity(self._parts.stores, self.find(run) if isinstance(run, str) else run)

    def evidence(self, run_id: str, receipts: Sequence[Receipt]) -> RunEvidence:
        """What these receipts of a run say: each call with its arguments and its result as far as they are small, and
        the end of the run. An answer is checked with it. The row says only whether the run's process is still there."""
        try:
            is_orphaned = self.find(run_id).state != "running"
        except (NoSuchRun, NotResumable):
            is_orphaned = True
        return run_evidence(self._parts.stores, run_id, receipts, is_orphaned=is_orphaned)

    def receipts(self, run_id: str) -> Sequence[Receipt]:
        """Every receipt of a run, in order, whatever its row says. Empty for an id that is none."""
        check(run_id=run_id)
        return self._parts.stores.log.of_run(run_id)

    def receipts_of_conversation(self, conversation: str, *, after: int = 0) -> tuple[Sequence[Receipt], int]:
        """The receipts of a conversation behind a number of the log, in order, and the number of the log's last one.

        Every receipt behind that number is looked at: give it, where something is known.
        """
        check(conversation=conversation)
        return self._parts.stores.log.of_conversation(conversation, after)

    @property
    def last_receipt_number(self) -> int:
        """The number of the log's last receipt."""
        return self._parts.stores.log.last_seq()

    def cancel(self, run_id: str, *, by: str) -> None:
        """Cancel a run: one that is under way here as soon as it can be ended, a queued or suspended one at once.

        Raises NotCancellable for a run that is over, or under way in another process.
        """
        stores = self._parts.stores
        check(run_id=run_id, by=by)
        here = self._cancel_here(run_id)
        if here and not self._is_queued(run_id):
            return
        # If it begins meanwhile, and here, its deadline is over already.
        with suppress(NotCancellable) if here else nullcontext():
            cancel_run(stores.database, stores.log, stores.approvals, run_id, decided_by=by)

    def _is_queued(self, run_id: str) -> bool:
        try:
            return self.find(run_id).status == "queued"
        except NoSuchRun:  # Its first receipt is not written yet.
            return False
