"""Carrying out what a model asks for: one run of the app for each request.

A run carries the key of its request in its header. So a request whose process ended finds its run again: what it did
is read from the record, a run that waits is resumed, and nothing is executed twice.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from coilclaw.agent.errors import ConversationBusy
from coilclaw.agent.handles import HandleLost, handles_in
from coilclaw.agent.tools import DirectCall, SnippetCode
from coilclaw.app import BadArgument
from coilclaw.runs import NoSuchRun, NotResumable
from coilclaw.sdk.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coilclaw.agent.handles import Handle
    from coilclaw.app import Caller, CoilClaw, Deadline, Report, RunHandle
    from coilclaw.runs import RunRecord
    from coilclaw.sdk import ActivityItem, Receipt

__all__ = ["Executed", "Execution", "NotRun"]


class NotRun(Frozen):
    """A request that led to no run, and why."""

    problem: str


Executed: TypeAlias = "Report | NotRun"


class Execution:
    """Carries out the requests of one conversation."""

    def __init__(self, claw: CoilClaw, conversation: str, caller: Caller) -> None:
        self._claw = claw
        self._conversation = conversation
        self._caller = replace(caller, conversation=conversation)

    def run(
        self,
        wanted: SnippetCode | DirectCall,
        key: str,
        deadline: Deadline,
        known: Mapping[str, Handle],
        follow: Callable[[RunHandle], None] | None = None,
    ) -> Executed:
        """Start a run for a request that has none yet, and wait for its end.

        `follow` is given a snippet's run as soon as it has begun, and returns when it has ended.
        """
        caller = replace(self._caller, request=key)
        try:
            if isinstance(wanted, DirectCall):
                return self._claw.call(wanted.tool, wanted.arguments, caller=caller, deadline=deadline).report
            inputs = {each.name: each.read(self._claw, self._conversation) for each in handles_in(wanted.code, known)}
            if follow is None:
                return self._claw.run(wanted.code, inputs=inputs, caller=caller, deadline=deadline)
            handle = self._claw.start(wanted.code, inputs=inputs, caller=caller, timeout=deadline.seconds)
            follow(handle)
            return handle.result()
        except (BadArgument, HandleLost) as error:
            return NotRun(problem=str(error))

    def activity(self, run_id: str) -> tuple[ActivityItem, ...]:
        """What a run has done so far."""
        return self._claw.runs.activity(run_id)

    def find(self, key: str) -> RunRecord | None:
        """The run that answers a request, if receipts say that one was begun.

        Raises NotResumable where nobody can tell: what was made already must not be made again.
        """
        receipts, _ = self._claw.runs.receipts_of_conversation(self._conversation)
        began = {each.run_id or "": each for each in receipts if each.type == "run.started"}
        requests = {run_id: self._request_of(run_id, each) for run_id, each in began.items()}
        for run_id, request in requests.items():
            if request == key:
                return self._record(run_id)
        turns = {request.rpartition(".")[0] for request in requests.values() if request}
        if None in requests.values() or turns != self._claw.memory.turn_numbers(self._conversation, turns).keys():
            raise NotResumable(
                f"{self._conversation} has runs that answer requests which memory no longer has as they were made",
                hint="say what is to be done in a new message; `coilclaw receipt list` shows what was done",
            )
        return None

    def _request_of(self, run_id: str, began: Receipt) -> str | None:
        """The request that a run answers, or "" for none; None if neither its receipt nor a confirmed row says that."""
        named = began.payload.get("request")
        if named is not None:
            return str(named)
        with suppress(NoSuchRun, NotResumable):  # Begun by an older version, whose receipts have the header's hash.
            record = self._claw.runs.find(run_id)
            if self._claw.runs.is_confirmed(record):
                return record.header.request or ""
        return None

    def _record(self, run_id: str) -> RunRecord:
        try:
            return self._claw.runs.find(run_id)
        except NoSuchRun as error:
            raise NotResumable(
                f"{run_id} has receipts and is not in the table of runs", hint="say what is to be done in a new message"
            ) from error

    def finish(self, record: RunRecord, deadline: Deadline) -> Report:
        """The report of a run that was begun in another process: resumed if it waits, else as it ended.

        Raises NotResumable, and ConversationBusy while that process is at work.
        """
        report = self._ended(record)
        return report or self._claw.resume(record.run_id, caller=self._caller, deadline=deadline)

    def give_up(self, record: RunRecord) -> Report:
        """End a run that waits, without making the calls it waits for; one that has ended is shown as it did."""
        report = self._ended(record)
        if report is None:
            self._claw.runs.cancel(record.run_id, by="the agent, for a new message")
        return report or self._claw.runs.show(record.run_id)

    def _ended(self, record: RunRecord) -> Report | None:
        """The report of a run that is over, by its receipts; None if it waits. Raises ConversationBusy."""
        report = self._claw.runs.show(record.run_id)
        if report.status not in ("running", "suspended"):
            return report
        if record.state == "running":
            raise ConversationBusy(self._conversation)
        return None
