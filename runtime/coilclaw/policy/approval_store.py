"""The table of approvals and windows. Each approval is used at most once.

An approval is for one call: this run, this number, this tool in this version, these arguments, and what they stand
for where the tool says so. It is consumed in the transaction that starts the call, so that of any number of processes
one gets it.

A no is for its call and for good: this run, this number, this tool, these arguments, whatever else changes. Neither
a yes nor a window counts by what the tables say alone: the receipt of the decision must be in the log. Nor is a
question shown or decided that differs from the receipt of its asking.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from coilclaw.policy.approval import Approval
from coilclaw.policy.approval_table import COLUMNS, DamagedRow, read_approvals
from coilclaw.policy.decisions import CallOfTool, Decisions, Window, boot_seconds
from coilclaw.policy.errors import AlreadyDecided, DamagedApproval, NoSuchApproval, NoSuchWindow
from coilclaw.receipts import LOG_END, Conflict, DamagedReceipt, Draft, ReceiptLog, Row, contents_json, now
from coilclaw.sdk.legible import as_name
from coilclaw.store import Database
from coilclaw.trust import this_boot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coilclaw.policy.approval import Question

__all__ = ["LONGEST_WINDOW_SECONDS", "ApprovalStore", "shown_hashes"]

_logger = logging.getLogger(__name__)

_NEXT_PLACE: Final = "(SELECT coalesce(max(place), 0) + 1 FROM approvals)"
_DECIDE: Final = (
    f"UPDATE approvals SET status = ?, decided_by = ?, decided_at = ?, note = ?, decided_after = {LOG_END} "  # noqa: S608
    "WHERE id = ? AND status = 'pending' AND expires_at > ?"
)
_MOST_REMEMBERED: Final = 64
"""Runs whose decisions a process need not read again from their beginning."""
_LASTS_SECONDS: Final = 7 * 24 * 3600
LONGEST_WINDOW_SECONDS: Final = 15 * 60


class ApprovalStore:
    """All questions of one database. Any process may ask, decide, and use what was decided."""

    def __init__(self, database: Database, log: ReceiptLog) -> None:
        self._database = database
        self._log = log
        self._lock = threading.Lock()
        self._decisions: dict[str | None, Decisions] = {}
        """What was read of the log, by the run that it is about; None: of all runs, for windows."""

    # Asking ------------------------------------------------------------------------------------------------

    def ask(self, question: Question, args_hash: str, requested: Draft, claims: Sequence[Row] = ()) -> Approval:
        """Write the question down. Durable before this returns; raises Conflict if one of `claims` does not hold."""
        moment = _seconds()
        approval = Approval(
            id=f"approval-{secrets.token_hex(5)}",
            run_id=question.run_id,
            number=question.number,
            call_id=question.call_id,
            conversation_id=requested.conversation_id,
            tool=question.tool,
            tool_version=question.tool_version,
            args_hash=args_hash,
            policy_hash=question.policy_hash,
            risk=question.risk.value,
            reason=question.reason,
            line=question.line,
            status="pending",
            created_at=moment,
            expires_at=moment + _LASTS_SECONDS,
            runs_hash=question.runs_hash,
        )
        values = [getattr(approval, name.strip()) for name in COLUMNS.split(",")]
        marks = ", ".join("?" for _ in values)
        # A question that was asked before about another version of the call is void.
        void = "UPDATE approvals SET status = 'expired' WHERE run_id = ? AND number = ? AND status IN "
        rows = [
            *claims,
            Row(f"{void} ('pending', 'granted')", (question.run_id, question.number)),
            Row(f"INSERT INTO approvals ({COLUMNS}, place) VALUES ({marks}, {_NEXT_PLACE})", values),  # noqa: S608
        ]
        facts = {**approval.shown_facts, "matched_rule": question.matched_rule}
        pending = approval.draft("tool.call.pending", "pending", facts)
        self._log.append(pending, rows=rows)
        return approval

    def of_call(self, run_id: str, number: int) -> Approval | None:
        """The latest question about a call, as it stands; none if what is on disk is not what was asked."""
        found = self._whole(
            # Asking voids what was open before, so that at most one is; the clock may have been set back meanwhile.
            # A no comes first: it holds for good.
            "run_id = ? AND number = ? "
            "ORDER BY status = 'denied' DESC, status IN ('pending', 'granted') DESC, place DESC",
            run_id,
            number,
        )
        # What was decided is looked for in the log where it is used.
        return next((each for each in found if each.status != "pending" or self._is_asked(each)), None)

    def get(self, approval_id: str) -> Approval:
        """How a question stands. Raises NoSuchApproval, DamagedApproval."""
        for each in read_approvals(self._database, "id = ?", (approval_id,), _seconds()):
            if isinstance(each, DamagedRow):
                raise DamagedApproval(each.approval_id)
            return each
        raise NoSuchApproval(
            f"there is no approval {approval_id!r}",
            hint="`coilclaw approval list` and `approvals.pending()` show what waits for a decision",
        )

    def asked(self, approval_id: str) -> Approval:
        """The same, to be shown or decided: raises DamagedApproval unless the log has the receipt of this question."""
        approval = self.get(approval_id)
        if not self._said_of(approval.run_id).has_asked(approval):
            raise DamagedApproval(approval.id)
        return approval

    def rule_of(self, approval: Approval) -> str | None:
        """What demanded approval: see `Verdict.matched_rule`."""
        return self._said_of(approval.run_id).rule_of(approval.id)

    def list(self, *statuses: str, run_id: str | None = None) -> Sequence[Approval]:
        """Every question in these states, oldest first; a warning names those that are not what was asked."""
        marks = ", ".join("?" for _ in statuses)
        of_run, values = ("", ()) if run_id is None else (" AND run_id = ?", (run_id,))
        found = self._whole(f"status IN ({marks}){of_run} ORDER BY place", *statuses, *values)
        # What ran out of time since is shown as such, whatever the table says.
        return [each for each in found if each.status in statuses and self._is_asked(each)]

    def _whole(self, where: str, *values: str | int | None) -> Iterator[Approval]:
        for each in read_approvals(self._database, where, values, _seconds()):
            if isinstance(each, DamagedRow):
                _logger.warning("%s", DamagedApproval(each.approval_id).message)
            else:
                yield each

    def _is_asked(self, approval: Approval) -> bool:
        try:
            if self._said_of(approval.run_id).has_asked(approval):
                return True
        except DamagedReceipt as error:
            _logger.warning("%s: %s", as_name(approval.id), error.message)
            return False
        _logger.warning("%s", DamagedApproval(approval.id).message)
        return False

    def _said_of(self, run_id: str) -> Decisions:
        return self._said_since(self._log.place_before(run_id), run_id)

    # Deciding ----------------------------------------------------------------------------------------------

    def decide(self, approval_id: str, *, approved: bool, decided_by: str, note: str | None = None) -> Approval:
        """Answer a question. Exactly one of all who try succeeds. `note` is what the snippet hears with a no."""
        return self.decide_all([approval_id], approved=approved, decided_by=decided_by, note=note)[0]

    def decide_all(
        self, approval_ids: Sequence[str], *, approved: bool, decided_by: str, note: str | None = None
    ) -> Sequence[Approval]:
        """Answer questions in one transaction. Raises AlreadyDecided, and answers none, if one of them is not open."""
        status, moment = "granted" if approved else "denied", _seconds()
        rows = [Row(_DECIDE, (status, decided_by, moment, note, each, moment), claims=True) for each in approval_ids]
        drafts = [self.asked(each).decision(approved, decided_by, note) for each in approval_ids]
        try:
            if drafts:
                self._log.append(*drafts, rows=rows)
        except Conflict:
            found = [self.get(each) for each in approval_ids]
            other = next((each for each in found if each.status != "pending"), found[0])
            word = "denied" if other.status == "denied" else "approved"
            state = f"was already {word} by {other.decided_by}" if other.decided_by else f"is {other.status}"
            over = "resume the run to be asked again" if other.status == "expired" else "a question is answered once"
            raise AlreadyDecided(
                f"{other.id} {state}",
                hint=f"{over}; `coilclaw approval list`, `approvals.pending()` show what is open",
            ) from None
        return [self.get(each) for each in approval_ids]

    def is_proven(self, approval: Approval) -> bool:
        """Whether the log has the receipt of this decision, and it was made about exactly this call."""
        if approval.decided_after is None:
            return False
        # From the first decision about its run on, so that the others need no second look.
        sql = "SELECT min(decided_after) FROM approvals WHERE run_id = ? AND status IN ('granted', 'denied')"
        ((first,),) = self._database.read(sql, (approval.run_id,))
        after = approval.decided_after if first is None else min(approval.decided_after, first)
        said = self._said_since(after, approval.run_id)
        has = said.has_approved if approval.status == "granted" else said.has_denied
        return has(approval.id, approval.standpoint)

    def _said_since(self, after: int, run_id: str | None = None) -> Decisions:
        """What receipts say about decisions made behind this place, of one run or of all. Each is read once."""
        with self._lock:
            said = self._decisions.pop(run_id, None)
            if said is None or after < said.after:
                said = Decisions(self._log, after, run_id)
            said.read_on()
            while len(self._decisions) >= _MOST_REMEMBERED:
                del self._decisions[next(iter(self._decisions))]
            self._decisions[run_id] = said
            return said

    def consume(self, approval: Approval) -> Row:
        """Use a granted approval up, in the transaction that starts its call."""
        return Row(
            "UPDATE approvals SET status = 'consumed' WHERE id = ? AND status = 'granted' AND run_id = ? "
            "AND number = ? AND tool = ? AND tool_version = ? AND args_hash = ? AND policy_hash = ? AND expires_at > ? "
            "AND runs_hash IS NOT DISTINCT FROM ?",
            (
                approval.id,
                approval.run_id,
                approval.number,
                approval.tool,
                approval.tool_version,
                approval.args_hash,
                approval.policy_hash,
                _seconds(),
                approval.runs_hash,
            ),
            claims=True,
        )

    def answered_here(self, approval: Approval, decided_by: str) -> Row:
        """Mark a stored question as approved by the person at this terminal."""
        return Row(
            "UPDATE approvals SET status = 'consumed', decided_by = ?, decided_at = ? "
            "WHERE id = ? AND status = 'pending'",
            (decided_by, _seconds(), approval.id),
            claims=True,
        )

    def void(self, run_id: str, number: int | None = None) -> Row:
        """A run, or one call of it, is over: nobody needs to answer what it still asked, nor uses what was answered."""
        return Row(
            "UPDATE approvals SET status = 'expired' WHERE run_id = ? AND number = coalesce(?, number) "
            "AND status IN ('pending', 'granted')",
            (run_id, number),
        )

    # Windows -----------------------------------------------------------------------------------------------

    def open_window(
        self,
        call: CallOfTool,
        workspace: str,
        arguments: Mapping[str, Any],
        *,
        uses: int,
        seconds: int,
        granted_by: str,
    ) -> Window:
        """Let calls like this one through for a while: of its tool, as it is now, with these arguments at least."""
        lasts = min(seconds, LONGEST_WINDOW_SECONDS)
        window = Window(
            id=f"grant-{secrets.token_hex(5)}",
            tool=call.tool,
            tool_version=call.tool_version,
            workspace=workspace,
            policy_hash=call.policy_hash,
            arguments=dict(arguments),
            uses=uses,
            uses_left=uses,
            expires_at=_seconds() + lasts,
            boot=this_boot(),
            boot_ends=boot_seconds() + lasts,
            granted_by=granted_by,
        )
        payload = {
            "grant": window.id,
            "workspace": workspace,
            "policy_hash": window.policy_hash,
            "arguments": contents_json(window.arguments).decode(),
            "uses": uses,
            "seconds": lasts,
            "expires_at": window.expires_at,
            "boot": window.boot,
            "boot_ends": window.boot_ends,
            "decided_by": granted_by,
            "scope": "window",
        }
        sql = f"INSERT INTO grants VALUES (?, {LOG_END}, ?, ?)"  # noqa: S608
        self._log.append(
            _window_draft("approval.window.opened", window, payload),
            rows=[Row(sql, (window.id, uses, window.expires_at))],
        )
        return window

    def windows(self) -> Sequence[Window]:
        """The windows that are open, with the uses they have left; those that close first come first."""
        moment = _seconds()
        rows = self._database.read(
            "SELECT id, opened_after FROM grants WHERE uses_left > 0 AND expires_at > ?", (moment,)
        )
        if not rows:
            return []
        said = self._said_since(min(after for _, after in rows))
        newest, found = said.newest, []
        # Read after the receipts, and so never more than they leave: else somebody has written into the table.
        left = dict(self._database.read("SELECT id, uses_left FROM grants"))
        for identity, _ in rows:
            window = said.windows.get(identity)
            if window is None or left.get(identity, 0) > window.uses - said.uses[identity]:
                _logger.warning("%s lets nothing through: the table of windows and the log disagree", identity)
            elif left.get(identity, 0) > 0 and not window.is_over(newest):
                found.append(replace(window, uses_left=left[identity]))
        return sorted(found, key=lambda each: each.expires_at)

    def usable(self, call: CallOfTool, workspace: str, arguments: str) -> Window | None:
        """A window that covers this call."""
        found = self.windows()
        given = json.loads(arguments) if found else {}
        return next((each for each in found if each.covers(call, workspace, given)), None)

    def use(self, window: Window) -> Row:
        """Use a window once, in the transaction that starts the call."""
        return Row(
            "UPDATE grants SET uses_left = uses_left - 1 "
            "WHERE id = ? AND uses_left > 0 AND uses_left <= ? AND expires_at > ?",
            (window.id, window.uses_left, _seconds()),
            claims=True,
        )

    def close_window(self, window_id: str, *, decided_by: str) -> Window:
        """Close a window before its time. A call that was let through before is not taken back."""
        window = next((each for each in self.windows() if each.id == window_id), None)
        shut = Row("UPDATE grants SET uses_left = 0 WHERE id = ? AND uses_left > 0", (window_id,), claims=True)
        try:
            if window is None:
                raise NoSuchWindow(window_id)
            payload = {"grant": window.id, "decided_by": decided_by}
            self._log.append(_window_draft("approval.window.closed", window, payload), rows=[shut])
        except Conflict:
            raise NoSuchWindow(window_id) from None
        return window


def shown_hashes(database: Database, run_id: str) -> list[str]:
    """The hashes of what people were shown that calls of a run would execute."""
    sql = "SELECT runs_hash FROM approvals WHERE run_id = ? AND runs_hash IS NOT NULL"
    return [each for (each,) in database.read(sql, (run_id,))]


def _window_draft(kind: str, window: Window, payload: Mapping[str, Any]) -> Draft:
    return Draft(
        type=kind,
        status="allowed" if kind.endswith("opened") else "closed",
        timestamp=now(),
        tool=window.tool,
        tool_version=window.tool_version,
        payload=payload,
    )


def _seconds() -> int:
    return int(time.time())
