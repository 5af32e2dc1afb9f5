"""Questions that wait for a person, and their answers, each of which is used at most once.

An approval is for one call: this run, this number, this tool in this version, these arguments. It is
consumed in the transaction that starts the call, so that of any number of processes one gets it.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from coilclaw.policy.approval import Question
from coilclaw.policy.errors import AlreadyDecided, NoSuchApproval
from coilclaw.receipts import Conflict, Draft, ReceiptLog, Row, now
from coilclaw.store import Database, Migration

__all__ = ["APPROVALS", "Approval", "ApprovalBook", "Grant"]

APPROVALS: Final = Migration(
    name="approvals",
    sql="""
    CREATE TABLE approvals (
        id TEXT PRIMARY KEY,
        run_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        call_id TEXT NOT NULL,
        conversation_id TEXT,
        tool TEXT NOT NULL,
        tool_version TEXT NOT NULL,
        args_hash TEXT NOT NULL,
        policy_hash TEXT NOT NULL,
        risk TEXT NOT NULL,
        reason TEXT NOT NULL,
        line INTEGER,
        status TEXT NOT NULL CHECK (status IN ('pending', 'granted', 'denied', 'expired', 'consumed')),
        created_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        decided_by TEXT,
        decided_at INTEGER
    );
    CREATE INDEX approvals_of_calls ON approvals (run_id, number);
    CREATE INDEX approvals_by_status ON approvals (status, created_at);
    CREATE TABLE grants (
        id TEXT PRIMARY KEY,
        tool TEXT NOT NULL,
        arguments TEXT NOT NULL,
        uses_left INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        granted_by TEXT NOT NULL
    ) WITHOUT ROWID;
    """,
)

_COLUMNS: Final = (
    "id, run_id, number, call_id, conversation_id, tool, tool_version, args_hash, policy_hash, risk, reason, line, "
    "status, created_at, expires_at, decided_by, decided_at"
)
_LASTS_SECONDS: Final = 7 * 24 * 3600
LONGEST_WINDOW_SECONDS: Final = 15 * 60


@dataclass(frozen=True, kw_only=True)
class Approval:
    """One question and what became of it."""

    id: str
    run_id: str
    number: int
    call_id: str
    conversation_id: str | None
    tool: str
    tool_version: str
    args_hash: str
    policy_hash: str
    risk: str
    reason: str
    line: int | None
    status: Literal["pending", "granted", "denied", "expired", "consumed"]
    created_at: int
    expires_at: int
    decided_by: str | None = None
    decided_at: int | None = None

    def is_for(self, question: Question, args_hash: str) -> bool:
        """Whether it was asked about exactly this call, under the policy that is in force."""
        asked = (question.run_id, question.number, question.tool, question.tool_version, question.policy_hash)
        mine = (self.run_id, self.number, self.tool, self.tool_version, self.policy_hash)
        return mine == asked and self.args_hash == args_hash

    def draft(self, kind: str, status: str, payload: Mapping[str, Any]) -> Draft:
        return Draft(
            type=kind,
            status=status,
            timestamp=now(),
            run_id=self.run_id,
            conversation_id=self.conversation_id,
            tool_call_id=self.call_id,
            tool=self.tool,
            tool_version=self.tool_version,
            risk=self.risk,
            args_hash=self.args_hash,
            payload={"approval": self.id, **payload},
        )


@dataclass(frozen=True, kw_only=True)
class Grant:
    """Leave for calls of a kind, for a short time and a number of uses."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    uses_left: int
    expires_at: int
    granted_by: str

    def covers(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        return fnmatchcase(tool, self.tool) and all(
            name in arguments and type(arguments[name]) is type(value) and arguments[name] == value
            for name, value in self.arguments.items()
        )


class ApprovalBook:
    """All questions of one database. Any process may ask, decide, and use what was decided."""

    def __init__(self, database: Database, log: ReceiptLog) -> None:
        self._database = database
        self._log = log

    # Asking ------------------------------------------------------------------------------------------------

    def ask(self, question: Question, args_hash: str, requested: Draft) -> Approval:
        """Write the question down. Durable before this returns."""
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
        )
        values = [getattr(approval, name.strip()) for name in _COLUMNS.split(",")]
        marks = ", ".join("?" for _ in values)
        # A question that was asked before about another version of the call is void.
        void = "UPDATE approvals SET status = 'expired' WHERE run_id = ? AND number = ? AND status IN "
        rows = [
            Row(f"{void} ('pending', 'granted')", (question.run_id, question.number)),
            Row(f"INSERT INTO approvals ({_COLUMNS}) VALUES ({marks})", values),  # noqa: S608
        ]
        pending = approval.draft("tool.call.pending", "pending", {"reason": question.reason})
        self._log.append(pending, rows=rows)
        return approval

    def of_call(self, run_id: str, number: int) -> Approval | None:
        """The latest question about a call, as it stands."""
        found = self._read(
            # Asking voids what was open before, so that at most one is; the clock may have been set back meanwhile.
            "run_id = ? AND number = ? ORDER BY status IN ('pending', 'granted') DESC, rowid DESC",
            run_id,
            number,
        )
        return found[0] if found else None

    def get(self, approval_id: str) -> Approval:
        found = self._read("id = ?", approval_id)
        if not found:
            raise NoSuchApproval(
                f"there is no approval {approval_id!r}", hint="`coilclaw approval list` shows what waits for a decision"
            )
        return found[0]

    def list(self, *statuses: str, run_id: str | None = None, limit: int = 1000) -> Sequence[Approval]:
        """Questions in these states, oldest first."""
        marks = ", ".join("?" for _ in statuses)
        sql = f"status IN ({marks}) AND (? IS NULL OR run_id = ?) ORDER BY rowid LIMIT ?"
        found = self._read(sql, *statuses, run_id, run_id, limit)
        # What ran out of time since is shown as such, whatever the table says.
        return [each for each in found if each.status in statuses]

    def _read(self, where: str, *values: str | int | None) -> Sequence[Approval]:
        names = [name.strip() for name in _COLUMNS.split(",")]
        moment = _seconds()
        found = []
        for row in self._database.read(f"SELECT {_COLUMNS} FROM approvals WHERE {where}", values):  # noqa: S608
            fields = dict(zip(names, row, strict=True))
            if fields["status"] in ("pending", "granted") and fields["expires_at"] <= moment:
                fields["status"] = "expired"
            found.append(Approval(**fields))
        return found

    # Deciding ----------------------------------------------------------------------------------------------

    def decide(self, approval_id: str, *, granted: bool, decided_by: str) -> Approval:
        """Answer a question. Exactly one of all who try succeeds."""
        approval = self.get(approval_id)
        status = "granted" if granted else "denied"
        moment = _seconds()
        row = Row(
            "UPDATE approvals SET status = ?, decided_by = ?, decided_at = ? "
            "WHERE id = ? AND status = 'pending' AND expires_at > ?",
            (status, decided_by, moment, approval_id, moment),
            claims=True,
        )
        payload = {"decision": "allow-once" if granted else "deny", "decided_by": decided_by}
        kind = "tool.call.approved" if granted else "tool.call.denied"
        if not granted:
            payload |= {"code": "approval_denied", "message": f"{decided_by} said no"}
        try:
            self._log.append(approval.draft(kind, "allowed" if granted else "denied", payload), rows=[row])
        except Conflict:
            other = self.get(approval_id)
            raise AlreadyDecided(
                f"{approval_id} is {other.status}" + (f" by {other.decided_by}" if other.decided_by else ""),
                hint="a question is answered once; `coilclaw approval list` shows what is open",
            ) from None
        return self.get(approval_id)

    def consume(self, approval: Approval) -> Row:
        """Use a granted approval up, in the transaction that starts its call."""
        return Row(
            "UPDATE approvals SET status = 'consumed' WHERE id = ? AND status = 'granted' AND run_id = ? "
            "AND number = ? AND tool = ? AND tool_version = ? AND args_hash = ? AND policy_hash = ? AND expires_at > ?",
            (
                approval.id,
                approval.run_id,
                approval.number,
                approval.tool,
                approval.tool_version,
                approval.args_hash,
                approval.policy_hash,
                _seconds(),
            ),
            claims=True,
        )

    def answered_here(self, approval: Approval, decided_by: str) -> Row:
        """The person at this terminal said yes to a question that was written down before."""
        return Row(
            "UPDATE approvals SET status = 'consumed', decided_by = ?, decided_at = ? "
            "WHERE id = ? AND status = 'pending'",
            (decided_by, _seconds(), approval.id),
            claims=True,
        )

    def void(self, run_id: str) -> Row:
        """A run is over: nobody needs to answer what it still asked, and nothing uses what was answered."""
        return Row(
            "UPDATE approvals SET status = 'expired' WHERE run_id = ? AND status IN ('pending', 'granted')", (run_id,)
        )

    # Windows -----------------------------------------------------------------------------------------------

    def grant(self, tool: str, arguments: Mapping[str, Any], *, uses: int, seconds: int, granted_by: str) -> Grant:
        """Open a window: calls that fit do not ask for a while."""
        grant = Grant(
            id=f"grant-{secrets.token_hex(5)}",
            tool=tool,
            arguments=dict(arguments),
            uses_left=uses,
            expires_at=_seconds() + min(seconds, LONGEST_WINDOW_SECONDS),
            granted_by=granted_by,
        )
        values = (grant.id, tool, json.dumps(grant.arguments), uses, grant.expires_at, granted_by)
        draft = Draft(
            type="approval.window.opened",
            status="allowed",
            timestamp=now(),
            tool=tool,
            payload={
                "grant": grant.id,
                "uses": uses,
                "seconds": min(seconds, LONGEST_WINDOW_SECONDS),
                "arguments": json.dumps(grant.arguments),
                "decided_by": granted_by,
            },
        )
        self._log.append(draft, rows=[Row("INSERT INTO grants VALUES (?, ?, ?, ?, ?, ?)", values)])
        return grant

    def usable(self, tool: str, arguments: str) -> Grant | None:
        """A window that covers this call."""
        rows = self._database.read(
            "SELECT id, tool, arguments, uses_left, expires_at, granted_by FROM grants "
            "WHERE uses_left > 0 AND expires_at > ? ORDER BY expires_at",
            (_seconds(),),
        )
        if not rows:
            return None
        given = json.loads(arguments)
        for identity, pattern, constraints, uses_left, expires_at, granted_by in rows:
            grant = Grant(
                id=identity,
                tool=pattern,
                arguments=json.loads(constraints),
                uses_left=uses_left,
                expires_at=expires_at,
                granted_by=granted_by,
            )
            if grant.covers(tool, given):
                return grant
        return None

    def use(self, grant: Grant) -> Row:
        """Use a window once, in the transaction that starts the call."""
        return Row(
            "UPDATE grants SET uses_left = uses_left - 1 WHERE id = ? AND uses_left > 0 AND expires_at > ?",
            (grant.id, _seconds()),
            claims=True,
        )


def _seconds() -> int:
    return int(time.time())
