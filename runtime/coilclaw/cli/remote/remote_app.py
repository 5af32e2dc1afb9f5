"""A server in the place of the app, for commands that take `--server`: the same calls and the same answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from coilclaw.app import AlreadyDecided, CallReport, Row
from coilclaw.cli.remote.answers import RemoteRun, read_receipt, read_report, read_request, read_run
from coilclaw.cli.remote.following import Following
from coilclaw.sdk import Err, Ok
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from coilclaw.app import ApprovalRequest, Caller, Report
    from coilclaw.client import Client
    from coilclaw.sandbox import Deadline
    from coilclaw.sdk import Receipt

__all__ = ["RemoteApp"]

_MOST: Final = 500


class RemoteApp:
    """Does at a server what the app does in this process. Approvals are decided in the name of the token."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.runs = RemoteRuns(client)
        self.approvals = RemoteApprovals(client)
        self.receipts = RemoteReceipts(client)
        self.engine: str | None = None
        self.timeout: float | None = None
        self.memory_mib: int | None = None
        """What the command line said; the server's own configuration has the rest."""

    def run(
        self,
        source: str,
        *,
        caller: Caller,
        deadline: Deadline,
        inputs: Mapping[str, Any] | None = None,
        name: str = "snippet.py",
        plan: object = None,
        retry_of: str | None = None,
    ) -> Report:
        """Run a snippet at the server and return its report; what it prints is shown as it comes."""
        return Following(self.client, caller, deadline).of(
            lambda: self.client.start(
                source,
                inputs=inputs,
                name=name,
                engine=self.engine,
                timeout=self.timeout,
                memory_mib=self.memory_mib,
                retry_of=retry_of,
            )
        )

    def resume(
        self, run_id: str, *, caller: Caller, deadline: Deadline, unknown: Literal["retry", "failed"] | None = None
    ) -> Report:
        """Resume a run at the server and return its report; of one that is over, return how it ended."""
        return Following(self.client, caller, deadline).resumed(run_id, self.timeout, unknown)

    def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, caller: Caller, deadline: Deadline
    ) -> CallReport:
        """Call one tool at the server."""
        done = self.client.call(tool, arguments)
        if done.status != "suspended":
            report = self.runs.show(done.run_id)
            if done.success:
                return CallReport(result=Ok(json.loads(done.output)), report=report)
            code = done.code or "failed"
            message = (done.error or "").removeprefix(f"{code}: ")
            return CallReport(result=Err(code, message, done.hint), report=report)
        report = Following(self.client, caller, deadline).decided(done.run_id)
        if report.status == "completed":
            return CallReport(result=Ok(report.value), report=report)
        last = report.activity[-1] if report.activity else None
        why = (last.code, last.message) if last is not None else (None, None)
        return CallReport(result=Err(why[0] or report.status, why[1] or report.status), report=report)


class RunPage(Frozen):
    """Some runs, newest first; a cursor if there are more."""

    runs: Sequence[RemoteRun]
    cursor: str | None


class RemoteRuns:
    """The runs of a server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def list(self, *, status: str | None = None, limit: int = 50) -> RunPage:
        """Runs, newest first: all of them, or those in one state."""
        found: list[RemoteRun] = []
        cursor = None
        while True:
            page = self._client.runs(status=status, limit=min(_MOST, limit - len(found)), cursor=cursor)
            found += map(read_run, page.runs)
            cursor = page.cursor
            if cursor is None or len(found) >= limit:
                return RunPage(runs=found[:limit], cursor=cursor)

    def find(self, run_id: str) -> RemoteRun:
        """How a run stands."""
        return read_run(self._client.show(run_id))

    def show(self, run_id: str) -> Report:
        """The report of a run as it stands."""
        run = self._client.show(run_id)
        return read_report(run, self._client.approvals(run_id=run_id) if run.approvals else ())

    def cancel(self, run_id: str, *, by: str) -> None:
        """Cancel a run. The token says by whom."""
        self._client.cancel(run_id)


class RemoteApprovals:
    """The approvals of a server. A decision is bound to what was last looked at here."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._seen: dict[str, ApprovalRequest] = {}

    def pending(self, run_id: str | None = None) -> tuple[ApprovalRequest, ...]:
        """Calls that wait for a decision, oldest first."""
        return self._listed(run_id, "pending")

    def list(self, *, run_id: str | None = None) -> tuple[ApprovalRequest, ...]:
        """The same, with what was decided, used or ran out of time."""
        return self._listed(run_id, "all")

    def _listed(self, run_id: str | None, status: str) -> tuple[ApprovalRequest, ...]:
        found = tuple(map(read_request, self._client.approvals(run_id=run_id, status=status)))
        self._seen |= {each.id: each for each in found}
        return found

    def open_request(self, approval_id: str) -> ApprovalRequest:
        """One call that needed approval."""
        found = read_request(self._client.approval(approval_id))
        self._seen[found.id] = found
        return found

    def undecided(self, run_id: str, window: None = None) -> tuple[ApprovalRequest, ...]:
        """Calls of a run that still wait for a decision."""
        return self.pending(run_id)

    def explain(self, approval_id: str) -> dict[str, Any]:
        """A pending call with the run around it, as JSON data."""
        found = self._client.approval(approval_id)
        request = read_request(found)
        self._seen[found.id] = request
        around = {name: getattr(found, name) for name in ("conversation_id", "run_status", "name", "kind", "source")}
        return {**request.facts(), **around, "activity": list(found.activity)}

    def rows(self, approval_id: str) -> Sequence[Row]:
        """Everything that a call sends, as the server shows it: it has the files that a write would change."""
        return [
            Row(str(each.get("lead", "")), str(each.get("text", "")), each.get("colour"))
            for each in self._client.approval(approval_id).rows
        ]

    def decide(
        self, *approval_ids: str, approved: bool, by: str, reason: str | None = None
    ) -> tuple[ApprovalRequest, ...]:
        """Decide calls as they were looked at here. The token says by whom; the server resumes the run."""
        decided = []
        for each in approval_ids:
            seen = self._seen.get(each) or self.open_request(each)
            if seen.status != "pending":
                word = "denied" if seen.status == "denied" else "approved"
                state = f"was already {word} by {seen.decided_by}" if seen.decided_by else f"is {seen.status}"
                raise AlreadyDecided(f"{seen.id} {state}", hint="`coilclaw approval list` shows what is open")
            asked = self._client.approval(each).model_copy(update={"digest": seen.digest})
            done = self._client.approve(asked) if approved else self._client.deny(asked, reason=reason)
            decided.append(read_request(done))
        return tuple(decided)


class RemoteReceipts:
    """The receipts of a server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def latest(self, limit: int = 20, *, run_id: str | None = None) -> list[Receipt]:
        """The last receipts, oldest first; with `run_id`, only those of a run."""
        return [read_receipt(each) for each in self._client.receipts(limit, run_id=run_id)]
