"""Approvals of one app: pending calls, decisions about them, and windows."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from coilclaw.app.arguments import check, given_json
from coilclaw.evidence import activity_of
from coilclaw.policy import AlreadyDecided, DamagedApproval, OtherCall
from coilclaw.receipts import contents_json
from coilclaw.runs import NoSuchRun, find_run
from coilclaw.sdk import OperatorError
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.app.composition import Composition
    from coilclaw.app.stores import Stores
    from coilclaw.policy import Approval, Window
    from coilclaw.receipts import ReceiptLog

__all__ = ["ApprovalRequest", "Approvals", "Windows", "pending_approvals"]

_STATUSES: Final = ("pending", "granted", "denied", "expired", "consumed")
_DEFAULT_USES: Final = 10
_LOOKED_AT: Final = 1000
"""Calls that the coverage of a window is counted among."""


class ApprovalRequest(Frozen):
    """A call that needed a person's approval, and what became of it."""

    id: str
    run_id: str
    tool: str
    arguments: Any
    """None when they are no longer kept; the call itself stays bound to their hash."""
    status: str
    tool_version: str
    risk: str
    reason: str
    runs: str | None
    """What will run, if the tool says more about that than the arguments do."""
    number: int
    line: int | None
    created: str
    expires: str
    decided_by: str | None
    decided: str | None
    digest: str
    """What a decision is bound to: run, number of the call, tool, version, arguments, policy, and what will run."""
    matched_rule: str | None
    """What demanded approval, as the receipt of the question says."""

    def facts(self) -> dict[str, Any]:
        """All of it as JSON data."""
        return asdict(self)

    def short_facts(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in ("id", "run_id", "tool", "arguments", "status")}


class Approvals:
    """Lists and decides calls that wait for a person. Any process of the home sees the decisions."""

    def __init__(self, parts: Composition) -> None:
        self._parts = parts
        self.windows = Windows(parts)

    @property
    def _stores(self) -> Stores:
        return self._parts.stores

    def pending(self, run_id: str | None = None) -> tuple[ApprovalRequest, ...]:
        """Calls that a decision could still move, oldest first."""
        if run_id is not None:
            check(run_id=run_id)
        return pending_approvals(self._stores, run_id)

    def list(self, *, run_id: str | None = None) -> tuple[ApprovalRequest, ...]:
        """Every call that ever needed approval, oldest first."""
        if run_id is not None:
            check(run_id=run_id)
        found = self._stores.approvals.list(*_STATUSES, run_id=run_id)
        return tuple(_request(each, self._stores) for each in _in_order(found))

    def get(self, approval_id: str) -> ApprovalRequest:
        """How a call that needed approval stands. Raises NoSuchApproval."""
        check(approval_id=approval_id)
        return _request(self._stores.approvals.asked(approval_id), self._stores)

    def check_digest(self, approval_id: str, digest: str) -> None:
        """Raise OtherCall unless a call is the one that somebody was shown under this digest."""
        if self.get(approval_id).digest != digest:
            raise OtherCall(approval_id)

    def approve(self, approval_id: str, *, by: str) -> ApprovalRequest:
        """Approve one call: once, with exactly these arguments. Returns how it stands now, whoever decided it."""
        return self._settled([approval_id], True, by, None)[0]

    def deny(self, approval_id: str, *, by: str, reason: str | None = None) -> ApprovalRequest:
        """Deny one call for good; the snippet receives an Err with the reason. Returns how it stands now."""
        return self._settled([approval_id], False, by, reason)[0]

    def decide_run(
        self, run_id: str, *, approved: bool, by: str, reason: str | None = None
    ) -> tuple[ApprovalRequest, ...]:
        """Approve or deny all pending calls of a run, in one transaction. Returns how they stand now."""
        check(run_id=run_id)  # None would be every run.
        return self._settled([each.id for each in self.pending(run_id)], approved, by, reason)

    def _settled(self, ids: Sequence[str], approved: bool, by: str, reason: str | None) -> tuple[ApprovalRequest, ...]:
        check(approved=approved, by=by, reason=reason)
        while pending := [each for each in ids if self.get(each).status == "pending"]:
            with suppress(AlreadyDecided):  # By somebody else just now: what they left is decided again.
                self.decide(*pending, approved=approved, by=by, reason=reason)
        return tuple(map(self.get, ids))

    def decide(
        self, *approval_ids: str, approved: bool, by: str, reason: str | None = None
    ) -> tuple[ApprovalRequest, ...]:
        """Decide calls in one transaction. Raises AlreadyDecided, and decides none, if one of them is not pending."""
        check(approved=approved, by=by, reason=reason)
        for each in approval_ids:
            check(approval_id=each)
        stores = self._stores
        decided = stores.approvals.decide_all(approval_ids, approved=approved, decided_by=by, note=reason)
        return tuple(_request(each, stores) for each in decided)

    def open_request(self, approval_id: str) -> ApprovalRequest:
        """A request, if a decision could still matter. Raises OperatorError if its run is over."""
        check(approval_id=approval_id)
        asked = self._stores.approvals.asked(approval_id)
        status = find_run(self._stores.database, asked.run_id).status
        if asked.status == "pending" and status not in ("running", "suspended"):
            raise OperatorError(
                f"{asked.run_id}, which asked for {asked.id}, is over ({status})",
                hint="`coilclaw approval list` and `approvals.pending()` show what waits for a decision",
            )
        return _request(asked, self._stores)  # Of all who decide it, one succeeds, whatever its status here.

    def undecided(self, run_id: str, window: Window | None = None) -> tuple[ApprovalRequest, ...]:
        """Pending calls of a run that a window, which was just opened, does not let through."""
        check(run_id=run_id)
        left, found = window.uses_left if window is not None else 0, []
        for each in _pending(self._stores, run_id):
            arguments = _arguments(each, self._stores.log)
            covered = (
                window is not None
                and isinstance(arguments, dict)
                and window.covers(each.of_tool, window.workspace, arguments)
            )
            if covered and left > 0:
                left -= 1
            else:
                found.append(_request(each, self._stores))
        return tuple(found)

    def explain(self, approval_id: str) -> dict[str, Any]:
        """A pending call with the run around it, as JSON data: the snippet, and what the run has done so far."""
        from coilclaw.runs import has_proven_header  # Listing needs none of what reads a history.

        check(approval_id=approval_id)
        stores = self._stores
        approval = stores.approvals.asked(approval_id)
        known = find_run(stores.database, approval.run_id)
        if not has_proven_header(stores.log, known):
            raise DamagedApproval(approval_id)  # Another snippet than the one that asks would be shown.
        source = stores.log.contents(known.header.code_hash) if known.header.kind == "snippet" else None
        receipts = stores.log.of_run(approval.run_id, after=known.first_seq)
        activity = activity_of(approval.run_id, receipts, is_orphaned=known.state == "orphaned")
        return {
            **_request(approval, stores).facts(),
            "conversation_id": known.header.conversation_id,
            "run_status": known.status,
            "name": known.header.name,
            "kind": known.header.kind,
            "source": None if source is None else source.decode(errors="replace"),
            "activity": [item._asdict() for item in activity.items],
        }


class Windows:
    """Permissions for further calls of one tool, limited in uses and time."""

    def __init__(self, parts: Composition) -> None:
        self._parts = parts

    def list(self) -> tuple[Window, ...]:
        """The windows that are open; those that close first come first."""
        return tuple(self._parts.stores.approvals.windows())

    def open(
        self,
        approval_id: str,
        *,
        by: str,
        seconds: int,
        uses: int = _DEFAULT_USES,
        where: Mapping[str, Any] | None = None,
    ) -> Window:
        """Let calls like this one through for a while: of the same tool, with the same values of `where`."""
        check(approval_id=approval_id, by=by, seconds=seconds, uses=uses)
        narrowed, stores = self.narrowed(approval_id, where), self._parts.stores
        asked = stores.approvals.asked(approval_id)
        place = find_run(stores.database, asked.run_id).header.workspace
        return stores.approvals.open_window(asked.of_tool, place, narrowed, uses=uses, seconds=seconds, granted_by=by)

    def narrowed(self, approval_id: str, where: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return `where` as a window would have it. Raises OperatorError if the call itself does not fit it."""
        check(approval_id=approval_id)
        narrowed, stores = dict(given_json("where", where)), self._parts.stores
        arguments = _arguments(stores.approvals.asked(approval_id), stores.log)
        if narrowed and not isinstance(arguments, dict):
            raise OperatorError("the arguments of this call are no longer kept, so `where` cannot be checked")
        for name, value in narrowed.items():
            # A window that does not fit the call it is opened from would be useless, and surely a mistake.
            if name not in arguments or contents_json(value) != contents_json(arguments[name]):
                raise OperatorError(f"the call itself does not fit `where`: {name}")
        return narrowed

    def coverage(self, approval_id: str, where: Mapping[str, Any] | None = None) -> tuple[int, int]:
        """How many of the latest calls of the same tool a window like this would have let through, and of how many."""
        check(approval_id=approval_id)
        narrowed, stores = given_json("where", where), self._parts.stores
        tool = stores.approvals.asked(approval_id).tool
        wanted = {name: contents_json(value) for name, value in narrowed.items()}
        covered = made = 0
        for receipt in stores.log.before(None, _LOOKED_AT, type="tool.call.started").receipts:
            if receipt.tool != tool:
                continue
            body = stores.log.contents(receipt.args_hash) if receipt.args_hash else None
            given = None if body is None else json.loads(body)
            made += 1
            covered += isinstance(given, dict) and all(
                name in given and contents_json(given[name]) == value for name, value in wanted.items()
            )
        return covered, made

    def close(self, window_id: str, *, by: str) -> Window:
        """Close a window before its time. Raises NoSuchWindow if it is not open."""
        check(window_id=window_id, by=by)
        return self._parts.stores.approvals.close_window(window_id, decided_by=by)


def pending_approvals(stores: Stores, run_id: str | None = None) -> tuple[ApprovalRequest, ...]:
    """Pending calls of runs that are not over, oldest first."""
    return tuple(_request(each, stores) for each in _pending(stores, run_id))


def _pending(stores: Stores, run_id: str | None) -> list[Approval]:
    over: dict[str, bool] = {}
    found = []
    for each in _in_order(stores.approvals.list("pending", run_id=run_id)):
        if each.run_id not in over:
            over[each.run_id] = _is_over(stores, each.run_id)
        if not over[each.run_id]:
            found.append(each)
    return found


def _request(approval: Approval, stores: Stores) -> ApprovalRequest:
    log = stores.log
    return ApprovalRequest(
        id=approval.id,
        run_id=approval.run_id,
        tool=approval.tool,
        arguments=_arguments(approval, log),
        status=approval.status,
        tool_version=approval.tool_version,
        risk=approval.risk,
        reason=approval.reason,
        runs=_runs(approval, log),
        number=approval.number,
        line=approval.line,
        created=_moment(approval.created_at),
        expires=_moment(approval.expires_at),
        decided_by=approval.decided_by,
        decided=_moment(approval.decided_at) if approval.decided_at is not None else None,
        digest=approval.digest,
        matched_rule=stores.approvals.rule_of(approval),
    )


def _in_order(approvals: Iterable[Approval]) -> list[Approval]:
    """Oldest first; those of one second by run, and then as the calls were issued."""
    return sorted(approvals, key=lambda each: (each.created_at, each.run_id, each.number))


def _arguments(approval: Approval, log: ReceiptLog) -> Any:
    body = log.contents(approval.args_hash)
    return None if body is None else json.loads(body)


def _runs(approval: Approval, log: ReceiptLog) -> str | None:
    if approval.runs_hash is None:
        return None
    body = log.contents(approval.runs_hash)
    return "no longer kept; the call itself is still bound to its hash" if body is None else body.decode()


def _is_over(stores: Stores, run_id: str) -> bool:
    try:
        return find_run(stores.database, run_id).status not in ("running", "suspended")
    except NoSuchRun:
        return True


def _moment(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
